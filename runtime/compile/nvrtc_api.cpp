// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/nvrtc_api.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "kiln/error.hpp"
#include "runtime/compile/cuda_paths.hpp"
#include "runtime/compile/nvrtc_surroundings.hpp"
#include "runtime/process/shared_object.hpp"

namespace kiln {
namespace {

constexpr int kOldestMajor = 12;
constexpr int kOldestMinor = 8;

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
         library.resolve("nvrtcGetPTXSize", api.get_ptx_size) &&
         library.resolve("nvrtcGetPTX", api.get_ptx) &&
         library.resolve("nvrtcGetProgramLogSize", api.get_program_log_size) &&
         library.resolve("nvrtcGetProgramLog", api.get_program_log) &&
         library.resolve("nvrtcGetLoweredName", api.get_lowered_name);
}

bool fit(const SharedObject& library, NvrtcApi& api, std::string& why) {
  if (!resolve_all(library, api) || api.version(&api.major, &api.minor) != 0) {
    why = "lacks a function that Kiln calls";
    return false;
  }
  if (std::pair(api.major, api.minor) < std::pair(kOldestMajor, kOldestMinor)) {
    why = fmt::format("is NVRTC {}.{}", api.major, api.minor);
    return false;
  }
  api.unshielded = shield_process_from_nvrtc(library.handle(), api.is_shielded);
  return true;
}

}  // namespace

NvrtcApi NvrtcApi::load() {
  return load(cuda_library_files("cuda_nvrtc", {"libnvrtc.so.13", "libnvrtc.so.12"}));
}

NvrtcApi NvrtcApi::load(const std::vector<std::string>& files) {
  NvrtcApi api;
  std::vector<std::string> tried;
  const auto library = SharedObject::open_first(
      files, tried,
      [&](const SharedObject& found, std::string& why) { return fit(found, api, why); });
  if (!library) {
    throw Error(
        ErrorKind::compiler,
        fmt::format("cannot load CUDA's run-time compiler, NVRTC {0}.{1} or newer ({2}). Next: "
                    "install CUDA toolkit {0}.{1} or newer; or install the wheel nvidia-cuda-nvrtc "
                    "and add the lib folder of the wheel to LD_LIBRARY_PATH",
                    kOldestMajor, kOldestMinor, fmt::join(tried, "; ")));
  }
  api.folder = library->directory();
  // NVRTC opens this companion by name at its first use; opening it here from beside NVRTC makes it
  // available wherever the two are.
  std::string ignored;
  static_cast<void>(SharedObject::open(
      fmt::format("{}/libnvrtc-builtins.so.{}.{}", api.folder, api.major, api.minor), ignored));
  return api;
}

}  // namespace kiln
