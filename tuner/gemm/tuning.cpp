// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What tuning does otherwise for a gemm.

#include "tuner/gemm/error_bound.hpp"
#include "tuner/gemm/setup.hpp"
#include "tuner/session/typed_tuning.hpp"

namespace kiln {
namespace {

bool is_gemm_judged_exactly(const ProblemCase& tuned) {
  const Gemm gemm = gemm_of(tuned);
  return plan_exact(gemm).possible && gemm.epilogue.is_default();
}

constexpr TypedTuning kGemmTuning{"gemm",
                                  &gemm_cases,
                                  &add_gemm_reference,
                                  &make_gemm_oracles,
                                  &is_gemm_judged_exactly,
                                  &plan_gemm_argument};

}  // namespace

const TypedTuning* find_typed_tuning(std::string_view operation) {
  return operation == kGemmTuning.operation ? &kGemmTuning : nullptr;
}

}  // namespace kiln
