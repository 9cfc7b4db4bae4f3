// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "templates/kernels/common/gemm_args.cuh"
#include "templates/operation/gemm_problem.hpp"
#include "tuner/problem_case.hpp"

namespace kiln {

/// A Gemm with its scalars.
struct GemmCase {
  Gemm gemm;
  double alpha = 1.0;
  double beta = 0.0;
};

/// Operands of a gemm in the order of its cases; those of an expression follow.
inline constexpr std::size_t kOperandA = 0;
inline constexpr std::size_t kOperandB = 1;
inline constexpr std::size_t kOperandC = 2;
inline constexpr std::size_t kOperandD = 3;
inline constexpr std::size_t kFirstEpilogueOperand = 4;

/// What evaluators run. Throws Error(usage) like normalised(), and for a beta that has nothing to
/// scale.
[[nodiscard]] ProblemCase problem_case(const GemmCase& one);
[[nodiscard]] std::vector<ProblemCase> problem_cases(const std::vector<GemmCase>& cases);
/// The way back: what problem_case() made, with leading dimensions and alignments that mean the
/// same. Precondition: the problem is a gemm.
[[nodiscard]] Gemm gemm_of(const ProblemCase& one);
/// The same with the scalars.
[[nodiscard]] GemmCase gemm_case_of(const ProblemCase& one);

/// The one argument of gemm kernels, as a plan.
[[nodiscard]] ArgumentPlan plan_gemm_argument(const ProblemCase& one);
/// That argument for one run.
[[nodiscard]] GemmArgs gemm_argument(const ProblemCase& one, const RunArguments& run);

/// Whether an application may let D be C.
[[nodiscard]] bool may_be_in_place(const Gemm& gemm);

}  // namespace kiln
