// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tools/problem_run.hpp"
#include "tuner/gemm/case.hpp"

namespace kiln::tools {

// What TypedTools has of a gemm, beside what gemm_flags.hpp declares.

/// Leading dimensions are tight where they then have the stored alignment, else the shortest padded
/// ones.
[[nodiscard]] ProblemCase gemm_case_of_problem(const Problem& problem);
[[nodiscard]] std::string gemm_snippet(const ProblemCase& one);
[[nodiscard]] std::unique_ptr<ProblemRun> make_gemm_run(const ProblemCase& one, std::uint64_t seed);

}  // namespace kiln::tools
