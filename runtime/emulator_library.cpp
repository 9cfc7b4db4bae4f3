// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator_library.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <filesystem>
#include <string_view>

#include "kiln/error.hpp"
#include "kiln/version.hpp"
#include "runtime/compile/cuda_paths.hpp"
#include "runtime/process/shared_object.hpp"

namespace kiln {
namespace {

std::atomic<EmulatedDeviceFactory> registered{nullptr};

using VersionFunction = const char*();
using OpenFunction = Device*(const std::string* model);

bool is_of_this_build(const SharedObject& library, std::string& why) {
  VersionFunction* version = nullptr;
  OpenFunction* open = nullptr;
  if (!library.resolve("kiln_emulator_version", version) ||
      !library.resolve("kiln_emulator_open", open)) {
    why = "is not the library of Kiln's emulator";
    return false;
  }
  if (std::string_view(version()) == KILN_VERSION_STRING) return true;
  why = fmt::format(
      "is version {}, but the library that opens the emulator is version " KILN_VERSION_STRING,
      version());
  return false;
}

}  // namespace

void register_emulated_devices(EmulatedDeviceFactory factory) {
  registered = factory;
}

std::vector<std::string> emulator_library_files() {
  std::vector<std::string> files;
  if (const std::string folder = own_folder(); !folder.empty()) {
    files.push_back((std::filesystem::path(folder) / KILN_EMULATOR_LIBRARY).string());
  }
  files.emplace_back(KILN_EMULATOR_LIBRARY);
  return files;
}

std::unique_ptr<Device> open_with_library(const std::vector<std::string>& files,
                                          const std::string& model) {
  std::vector<std::string> tried;
  const auto library = SharedObject::open_first(files, tried, &is_of_this_build);
  OpenFunction* open = nullptr;
  if (!library || !library->resolve("kiln_emulator_open", open)) {
    throw Error(ErrorKind::device,
                fmt::format("device 'emulated:{}' needs the emulated GPU, a separate library:\n"
                            "  {}\n"
                            "Next: put " KILN_EMULATOR_LIBRARY
                            " of the same build beside libkiln.so (`cmake --install` does) or "
                            "beside the program, or use a GPU: cuda:0",
                            model, fmt::join(tried, "\n  ")));
  }
  return std::unique_ptr<Device>(open(&model));
}

std::unique_ptr<Device> open_emulated_device(const std::string& model) {
  if (const EmulatedDeviceFactory factory = registered) return factory(model);
  return open_with_library(emulator_library_files(), model);
}

}  // namespace kiln
