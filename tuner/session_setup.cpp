// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a session passes to the evaluator before the first candidate: the problem instances, the
// verification kernels and the reference.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "kiln/error.hpp"
#include "templates/digest.hpp"
#include "tuner/error_bound.hpp"
#include "tuner/setup_parts.hpp"

namespace kiln {
namespace {

constexpr std::string_view kSupportPath = "support/verify.cu";
constexpr std::array<std::string_view, 7> kSupportKernels{
    "kiln_fill_random",    "kiln_absolute",       "kiln_convert",         "kiln_compare",
    "kiln_compare_detail", "kiln_count_mismatch", "kiln_count_difference"};

CompiledUnit compile_support(Compiler& compiler, const DeviceInfo& device) {
  const auto source = embedded_files().find(kSupportPath);
  if (source == embedded_files().end()) {
    throw Error(ErrorKind::internal, fmt::format("{} is not part of this build", kSupportPath));
  }
  CompileRequest request;
  request.source = inline_headers(embedded_files(), kSupportPath, source->second);
  request.source_name = "verify.cu";
  request.source_digest = digest_hex(request.source);
  request.plain_names.assign(kSupportKernels.begin(), kSupportKernels.end());
  request.arch = device.limits.arch;
  request.code = device.code;
  return compile_or_throw(compiler, request);
}

}  // namespace

CompiledUnit compile_or_throw(Compiler& compiler, const CompileRequest& request) {
  CompileResult result = compiler.compile(request);
  if (!result.ok) {
    throw Error(ErrorKind::compiler,
                fmt::format("{} does not compile for {} with {}, so no candidate can be verified; "
                            "'kiln doctor' checks the compiler and its headers:\n{}",
                            request.source_name, request.arch, compiler.identity(), result.log));
  }
  return {std::move(result.cubin), std::move(result.lowered_names)};
}

std::vector<ProblemCase> verification_cases(const ProblemCase& tuned, Thoroughness thoroughness,
                                            std::int64_t most_products) {
  const Operation& operation = *find_operation(tuned.problem.operation);
  return operation.is_declared() ? declared_cases(operation, tuned)
                                 : gemm_cases(tuned, thoroughness, most_products);
}

std::size_t count_ragged(const KernelTemplate& kernel_template, const Config& config,
                         const DeviceLimits& limits, const std::vector<ProblemCase>& cases) {
  return static_cast<std::size_t>(
      std::count_if(cases.begin() + 1, cases.end(), [&](const ProblemCase& one) {
        return kernel_template.space(one.problem, limits).contains(config);
      }));
}

std::size_t count_deep(const ProblemCase& tuned, std::int64_t most_products) {
  if (find_operation(tuned.problem.operation)->is_declared()) return 0;
  const GemmCase one = gemm_case_of(tuned);
  return deep_cases(one.gemm, one.alpha, one.beta, most_products).size();
}

bool is_judged_exactly(const EvaluationSetup& setup) {
  if (!setup.reference_plans.empty()) return setup.reference_plans.front().integer_range > 0;
  const Gemm gemm = gemm_of(setup.cases.front());
  return plan_exact(gemm).possible && gemm.epilogue.is_default();
}

EvaluationSetup make_setup(const TuneRequest& request, Compiler& compiler,
                           const DeviceInfo& device) {
  if (work_of(request.tuned.problem) == Work::none) {
    throw Error(ErrorKind::usage,
                "the results have no elements: there is nothing to run, so nothing to verify");
  }
  EvaluationSetup setup;
  setup.cases = verification_cases(request.tuned, request.thoroughness, device.most_products);
  setup.policy = request.policy;
  setup.seed = request.seed;
  setup.support = compile_support(compiler, device);
  const Operation& operation = *find_operation(request.tuned.problem.operation);
  if (operation.is_declared()) {
    add_declared_reference(operation, compiler, device, setup);
  } else {
    add_gemm_reference(compiler, device, setup);
  }
  return setup;
}

}  // namespace kiln
