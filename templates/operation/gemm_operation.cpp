// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a gemm has beyond its declaration, templates/kernels/gemm/gemm.cu.

#include <algorithm>
#include <cstddef>

#include "templates/kernels/common/gemm_args.cuh"
#include "templates/operation/gemm_problem.hpp"
#include "templates/operation/typed_operation.hpp"

namespace kiln {
namespace {

struct Place {
  std::string_view operand;
  std::size_t pointer_at;
  std::size_t ld_at;
};

void place_in_gemm_args(Operation& operation) {
  constexpr Place kPlaces[]{{"a", offsetof(GemmArgs, a), offsetof(GemmArgs, lda)},
                            {"b", offsetof(GemmArgs, b), offsetof(GemmArgs, ldb)},
                            {"c", offsetof(GemmArgs, c), offsetof(GemmArgs, ldc)},
                            {"d", offsetof(GemmArgs, d), offsetof(GemmArgs, ldd)}};
  for (const Place& place : kPlaces) {
    const auto at = std::ranges::find(operation.operands, place.operand, &OperandSpec::name);
    if (at == operation.operands.end()) continue;
    at->pointer_at = static_cast<std::uint16_t>(place.pointer_at);
    at->ld_at = static_cast<std::uint16_t>(place.ld_at);
  }
  operation.workspace_at = offsetof(GemmArgs, workspace);
}

/// Sums of no products are 0.
std::string_view why_gemm_is_trivial(const Problem& problem) {
  if (problem.size("k") != 0) return "";
  return problem.epilogue.empty()
             ? "k is 0, so Kiln computes D = beta * C with the simplest kernel"
             : "k is 0, so Kiln computes the epilogue for acc = 0 with the simplest kernel";
}

constexpr TypedOperation kGemmOperation{"gemm",
                                        "GemmArgs",
                                        &place_in_gemm_args,
                                        "D has no elements",
                                        &why_gemm_is_trivial,
                                        &check_gemm_problem};

}  // namespace

const TypedOperation* find_typed_operation(std::string_view name) {
  return name == kGemmOperation.name ? &kGemmOperation : nullptr;
}

std::string_view typed_operation_names() {
  return kGemmOperation.name;
}

}  // namespace kiln
