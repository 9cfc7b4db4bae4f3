// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cublaslt_api.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "runtime/cuda_paths.hpp"
#include "runtime/shared_object.hpp"

namespace kiln {
namespace {

std::vector<std::string> candidates() {
  std::vector<std::string> files;
  std::error_code error;
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12"}) {
    // Here the loader's path comes first: whoever set it wants to be compared with that library.
    files.emplace_back(name);
    for (const std::string& folder : cuda_library_folders("cublas")) {
      const std::string file = folder + "/" + name;
      if (std::filesystem::exists(file, error)) files.push_back(file);
    }
  }
  return files;
}

bool resolve_all(const SharedObject& library, CublasLtApi& api) {
  return library.resolve("cublasLtGetVersion", api.get_version) &&
         library.resolve("cublasLtCreate", api.create) &&
         library.resolve("cublasLtDestroy", api.destroy) &&
         library.resolve("cublasLtMatmulDescCreate", api.desc_create) &&
         library.resolve("cublasLtMatmulDescDestroy", api.desc_destroy) &&
         library.resolve("cublasLtMatmulDescSetAttribute", api.desc_set) &&
         library.resolve("cublasLtMatrixLayoutCreate", api.layout_create) &&
         library.resolve("cublasLtMatrixLayoutDestroy", api.layout_destroy) &&
         library.resolve("cublasLtMatmulPreferenceCreate", api.preference_create) &&
         library.resolve("cublasLtMatmulPreferenceDestroy", api.preference_destroy) &&
         library.resolve("cublasLtMatmulPreferenceSetAttribute", api.preference_set) &&
         library.resolve("cublasLtMatmulAlgoGetHeuristic", api.get_heuristic) &&
         library.resolve("cublasLtMatmul", api.matmul);
}

}  // namespace

bool CublasLtApi::load(std::string& why) {
  std::vector<std::string> tried;
  const auto library = SharedObject::open_first(candidates(), tried);
  if (!library) {
    why =
        "libcublasLt.so.13 or .12 is not installed: it comes with the CUDA toolkit and with the "
        "wheel nvidia-cublas; put its folder on LD_LIBRARY_PATH";
    return false;
  }
  if (resolve_all(*library, *this)) return true;
  why = fmt::format("{} lacks a function that Kiln calls", library->name());
  return false;
}

std::string CublasLtApi::status_text(Status status) {
  switch (status) {
    case kNotSupported:
      return "not supported";
    case 1:
      return "not initialised";
    case 3:
      return "out of memory";
    case 7:
      return "invalid value";
    case 8:
      return "not for this architecture";
    case 13:
      return "execution failed";
    default:
      return fmt::format("status {}", status);
  }
}

}  // namespace kiln
