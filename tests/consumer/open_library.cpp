// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// An application as others write it: it knows the installed headers and libkiln, nothing else.
/// Without a GPU, opening must end in an error that says so; with one it must hand out a kernel.
/// usage: open_library DATABASE CUBIN_STORE

#include <kiln/kiln.hpp>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  kiln::LibraryOptions options;
  options.database = argv[1];
  options.cubin_store = argv[2];
  options.on_warning = [](std::string_view text) {
    std::printf("warning: %.*s\n", static_cast<int>(text.size()), text.data());
  };
  std::printf("kiln %s\n", KILN_VERSION_STRING);
  try {
    const kiln::Library library = kiln::Library::open(options);
    std::printf("device: %s\n", library.device_description().c_str());
    const kiln::Kernel kernel = library.get(kiln::Gemm::of(kiln::DType::f32, 64, 64, 64));
    const std::string name(kernel.template_name());
    const std::string reason(kernel.match_reason());
    std::printf("kernel: %s (%s)\n", name.c_str(), reason.c_str());
    return name.empty() || reason.empty() ? 1 : 0;
  } catch (const kiln::Error& error) {
    // Caught by its type across the library's border, so its type information is exported.
    std::printf("kiln::Error: %s\n", error.what());
    return error.kind() == kiln::ErrorKind::device ? 0 : 1;
  }
}
