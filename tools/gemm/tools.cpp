// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/gemm/tools.hpp"

#include "tools/gemm/flags.hpp"
#include "tools/typed_tools.hpp"

namespace kiln::tools {
namespace {

std::unique_ptr<OperationFlags> make_gemm_flags() {
  return std::make_unique<GemmFlags>();
}

std::string gemm_problem_flags(const ProblemCase& one) {
  return gemm_flags_text(gemm_case_of(one));
}

std::string gemm_problem_heading(const Problem& problem) {
  return gemm_heading_text(gemm_of(gemm_case_of_problem(problem)));
}

constexpr TypedTools kGemmTools{"gemm",
                                &make_gemm_flags,
                                &gemm_problem_flags,
                                &gemm_problem_heading,
                                &gemm_case_of_problem,
                                &gemm_snippet,
                                &make_gemm_run};

}  // namespace

const TypedTools* find_typed_tools(std::string_view operation) {
  return operation == kGemmTools.operation ? &kGemmTools : nullptr;
}

}  // namespace kiln::tools
