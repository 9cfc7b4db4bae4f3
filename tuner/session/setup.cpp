// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a session passes to the evaluator before the first candidate: the problem instances, the
// verification kernels and the reference.

#include "tuner/session/setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "kiln/error.hpp"
#include "templates/catalog.hpp"
#include "templates/digest.hpp"
#include "templates/render/renderer.hpp"
#include "tuner/session/typed_tuning.hpp"
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
    throw Error(ErrorKind::internal,
                fmt::format("this build of Kiln lacks the file {}; please report this bug in Kiln",
                            kSupportPath));
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
    throw Error(
        ErrorKind::compiler,
        fmt::format("{} does not compile for {} with {}, so Kiln cannot verify any candidate. "
                    "Next: check compiler and headers with `kiln doctor`. The compiler "
                    "said:\n{}",
                    request.source_name, request.arch, compiler.identity(), result.log));
  }
  return {std::move(result.cubin), std::move(result.lowered_names)};
}

std::vector<ProblemCase> verification_cases(const ProblemCase& tuned, Thoroughness thoroughness,
                                            std::int64_t most_products) {
  const std::string& name = tuned.problem.operation;
  const TypedTuning* const typed = find_typed_tuning(name);
  return typed == nullptr ? declared_cases(*find_operation(name), tuned)
                          : typed->cases(tuned, thoroughness, most_products);
}

std::size_t count_ragged(const KernelTemplate& kernel_template, const Config& config,
                         const DeviceLimits& limits, const std::vector<ProblemCase>& cases) {
  return static_cast<std::size_t>(
      std::count_if(cases.begin() + 1, cases.end(), [&](const ProblemCase& one) {
        return kernel_template.space(one.problem, limits).contains(config);
      }));
}

std::size_t count_deep(const ProblemCase& tuned, std::int64_t most_products) {
  const auto count = [&](Thoroughness thoroughness) {
    return verification_cases(tuned, thoroughness, most_products).size();
  };
  return count(Thoroughness::deep) - count(Thoroughness::full);
}

bool is_judged_exactly(const EvaluationSetup& setup) {
  const ProblemCase& tuned = setup.cases.front();
  const TypedTuning* const typed = find_typed_tuning(tuned.problem.operation);
  return typed == nullptr ? setup.reference_plans.front().integer_range > 0
                          : typed->is_judged_exactly(tuned);
}

EvaluationSetup make_setup(const TuneRequest& request, Compiler& compiler,
                           const DeviceInfo& device) {
  if (work_of(request.tuned.problem) == Work::none) {
    throw Error(ErrorKind::usage,
                "the outputs of this problem have no elements, so there is nothing to run and "
                "nothing to verify. Next: use larger sizes");
  }
  EvaluationSetup setup;
  setup.cases = verification_cases(request.tuned, request.thoroughness, device.most_products);
  setup.policy = request.policy;
  setup.seed = request.seed;
  setup.support = compile_support(compiler, device);
  const std::string& name = request.tuned.problem.operation;
  if (const TypedTuning* const typed = find_typed_tuning(name)) {
    typed->add_reference(compiler, device, setup);
  } else {
    add_declared_reference(*find_operation(name), compiler, device, setup);
  }
  return setup;
}

}  // namespace kiln
