// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cublaslt_api.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "runtime/compile/cuda_paths.hpp"
#include "runtime/process/shared_object.hpp"

namespace kiln {
namespace {

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
  // The loader's path comes first: anyone who sets it wants a comparison with that library.
  const auto library = SharedObject::open_first(
      cuda_library_files("cublas", {"libcublasLt.so.13", "libcublasLt.so.12"}, true), tried,
      [this](const SharedObject& found, std::string& gap) {
        gap = "lacks a function that Kiln calls";
        return resolve_all(found, *this);
      });
  if (library) return true;
  why = fmt::format(
      "cannot load libcublasLt.so.13 or libcublasLt.so.12 ({}). Next: install the CUDA toolkit or "
      "the wheel nvidia-cublas, and add the folder of the library to LD_LIBRARY_PATH",
      fmt::join(tried, "; "));
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
      return "this GPU's architecture is not supported";
    case 13:
      return "execution failed";
    default:
      return fmt::format("status {}", status);
  }
}

}  // namespace kiln
