// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// D = A B in single precision with the best kernel known for this device, real or
/// emulated (KILN_DEVICE=emulated:h200). Tune the problem with `kiln tune gemm --m 512 --n 512
/// --k 512 --dtype f32` and run this again.
/// usage: gemm [SIZE]

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <kiln/kiln.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) try {
  const std::int64_t size = argc > 1 ? std::atoll(argv[1]) : 512;
  const kiln::Library library = kiln::Library::open();
  const kiln::Kernel gemm = library.get(kiln::Gemm::of(kiln::DType::f32, size, size, size));

  // A program only for CUDA may just as well pass memory from cudaMalloc, and its own stream.
  std::vector<float> host(static_cast<std::size_t>(size * size), 0.5F);
  const std::size_t bytes = host.size() * sizeof(float);
  kiln::DeviceMemory a = library.allocate(bytes);
  kiln::DeviceMemory b = library.allocate(bytes);
  const kiln::DeviceMemory d = library.allocate(bytes);
  a.copy_from_host(host.data(), bytes);
  b.copy_from_host(host.data(), bytes);
  gemm.launch(nullptr, {.a = a.get(), .b = b.get(), .d = d.get()});
  d.copy_to_host(host.data(), bytes);  // waits for the kernel

  std::printf("%s [%s] on %s: %s\n", std::string(gemm.template_name()).c_str(),
              std::string(gemm.config()).c_str(), library.device_description().c_str(),
              std::string(gemm.match_reason()).c_str());
  const float expected = 0.25F * static_cast<float>(size);
  for (const float value : host) {
    if (std::fabs(value - expected) > 1e-5F * expected) {
      std::fprintf(stderr, "%g instead of %g\n", static_cast<double>(value),
                   static_cast<double>(expected));
      return 1;
    }
  }
  return 0;
} catch (const kiln::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
