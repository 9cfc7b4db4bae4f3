// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/nvrtc_api.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/cuda_paths.hpp"
#include "runtime/shared_object.hpp"

namespace kiln {
namespace {

constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
constexpr int kOldestMajor = 12;
constexpr int kOldestMinor = 8;

std::vector<std::string> candidates() {
  std::vector<std::string> files;
  std::error_code error;
  for (const char* name : kNames) {
    for (const std::string& folder : cuda_library_folders("cuda_nvrtc")) {
      const std::string file = folder + "/" + name;
      if (std::filesystem::exists(file, error)) files.push_back(file);
    }
    // The loader's own path (LD_LIBRARY_PATH, ld.so.conf).
    files.emplace_back(name);
  }
  return files;
}

bool resolve_all(const SharedObject& library, NvrtcApi& api) {
  return library.resolve("nvrtcVersion", api.version) &&
         library.resolve("nvrtcGetNumSupportedArchs", api.get_num_supported_archs) &&
         library.resolve("nvrtcGetSupportedArchs", api.get_supported_archs) &&
         library.resolve("nvrtcGetErrorString", api.get_error_string) &&
         library.resolve("nvrtcCreateProgram", api.create_program) &&
         library.resolve("nvrtcDestroyProgram", api.destroy_program) &&
         library.resolve("nvrtcAddNameExpression", api.add_name_expression) &&
         library.resolve("nvrtcCompileProgram", api.compile_program) &&
         library.resolve("nvrtcGetCUBINSize", api.get_cubin_size) &&
         library.resolve("nvrtcGetCUBIN", api.get_cubin) &&
         library.resolve("nvrtcGetProgramLogSize", api.get_program_log_size) &&
         library.resolve("nvrtcGetProgramLog", api.get_program_log) &&
         library.resolve("nvrtcGetLoweredName", api.get_lowered_name) &&
         api.version(&api.major, &api.minor) == 0;
}

}  // namespace

NvrtcApi NvrtcApi::load() {
  std::vector<std::string> tried;
  const auto library = SharedObject::open_first(candidates(), tried);
  if (!library) {
    throw Error(
        ErrorKind::compiler,
        fmt::format("NVRTC, CUDA's run-time compiler, cannot be loaded ({}): install a CUDA "
                    "toolkit of 12.8 or newer, or the wheel nvidia-cuda-nvrtc and put its "
                    "lib folder on LD_LIBRARY_PATH",
                    fmt::join(tried, "; ")));
  }
  NvrtcApi api;
  api.folder = library->directory();
  if (!resolve_all(*library, api) || api.major < kOldestMajor ||
      (api.major == kOldestMajor && api.minor < kOldestMinor)) {
    throw Error(ErrorKind::compiler, fmt::format("{} is NVRTC {}.{}; Kiln needs 12.8 or newer",
                                                 library->name(), api.major, api.minor));
  }
  // NVRTC opens this companion by name at its first use; opened here from beside it, it is found
  // wherever the two lie.
  std::string ignored;
  static_cast<void>(SharedObject::open(
      fmt::format("{}/libnvrtc-builtins.so.{}.{}", api.folder, api.major, api.minor), ignored));
  return api;
}

}  // namespace kiln
