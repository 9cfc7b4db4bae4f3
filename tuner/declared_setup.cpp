// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a declared operation is verified on, and with what: its ragged sizes, its reference kernel
// and its rules.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <string_view>

#include "kiln/error.hpp"
#include "templates/check/argument_check.hpp"
#include "templates/check/compile_diagnosis.hpp"
#include "templates/digest.hpp"
#include "templates/front_matter/constant_line.hpp"
#include "templates/launch/launch_evaluator.hpp"
#include "templates/operation/fill_kernels.hpp"
#include "templates/operation/scalar_text.hpp"
#include "templates/render/kernel_name.hpp"
#include "templates/render/renderer.hpp"
#include "templates/text_pieces.hpp"
#include "tuner/kept_sizes.hpp"
#include "tuner/setup_parts.hpp"
#include "tuner/verify/roundoff.hpp"

namespace kiln {
namespace {

constexpr std::array<std::int64_t, 3> kMostReferenceBlocks{std::numeric_limits<std::int32_t>::max(),
                                                           65535, 65535};
constexpr std::array<std::int64_t, 3> kMostReferenceThreads{1024, 1024, 64};

/// Unit roundoff of a slot's type, or of a type by its name.
double roundoff_of(const std::string& name, const Problem& problem) {
  const auto slot = problem.type(name);
  return unit_roundoff(slot ? *slot : parse_dtype(name).value_or(DType::f32));
}

bool gives_float64(const std::vector<ArgumentSpec>& args, std::size_t operand) {
  return std::ranges::any_of(args, [&](const ArgumentSpec& arg) {
    return (arg.kind == ArgumentSpec::Kind::float64 && arg.index == operand) ||
           gives_float64(arg.members, operand);
  });
}

/// What float64 rounds would be held against right kernels.
void check_wide_reference(const Operation& operation, const RightSpec& right) {
  const auto& reference = operation.judge.reference;
  if (!reference || !gives_float64(reference->args, right.operand)) return;
  throw Error(
      ErrorKind::template_,
      fmt::format(
          "{0}:{1}: {2} is declared \"exact\", but the reference writes {2}.f64, an array of "
          "doubles. A double cannot hold every 64-bit integer. Next: write {2} instead of "
          "{2}.f64 in the arguments of the reference",
          operation.origin.file, reference->line, operation.operands[right.operand].name));
}

std::vector<OutputRule> rules_of(const Operation& operation, const Problem& problem) {
  const auto whole = operation.whole_values(problem);
  const std::vector<double> values(whole.begin(), whole.end());
  std::vector<OutputRule> rules;
  for (const RightSpec& right : operation.judge.rights) {
    OutputRule rule{right.kind, right.operand, right.relative, 0.0, right.absolute};
    const DType type = *problem.type(operation.operands[right.operand].name);
    if (right.kind == RightSpec::Kind::exact && (type == DType::s64 || type == DType::u64)) {
      check_wide_reference(operation, right);
    }
    if (right.kind == RightSpec::Kind::bound) {
      const auto factor = right.factor->evaluate_real(values);
      if (!factor || !(*factor >= 0.0)) {
        throw Error(ErrorKind::template_, fmt::format("{}:{}: the bound \"{}\" is negative or "
                                                      "undefined for {}. Next: correct the formula",
                                                      operation.origin.file, right.line,
                                                      right.factor->text(), problem.sizes_text()));
      }
      rule.relative = unit_roundoff(type);
      rule.magnitude = *factor * roundoff_of(right.roundoff_of, problem);
    }
    rules.push_back(rule);
  }
  return rules;
}

/// A kernel that ignores a scalar is right as long as that is 1, and one that was compiled for a
/// number is right for it. So ragged sizes have other factors; 0 may be a switch, and stays.
std::vector<Scalar> other_scalars(const Operation& operation, const ProblemCase& one) {
  constexpr double kOtherFactor = 0.75;
  std::vector<Scalar> scalars = one.scalars;
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    if (range_of(operation.scalars[i].type).whole) continue;
    scalars[i] = scalars[i].as_double() * kOtherFactor;
  }
  return scalars;
}

const JudgeKernel& first_judge(const Operation& operation) {
  return operation.judge.reference ? *operation.judge.reference : *operation.judge.checker;
}

std::string judges_text(const Operation& operation) {
  std::vector<std::string_view> kinds;
  if (operation.judge.reference) kinds.emplace_back("reference");
  if (operation.judge.checker) kinds.emplace_back("checker");
  if (!operation.judge.fills.empty()) kinds.emplace_back("fill");
  return fmt::format("{}", fmt::join(kinds, " and "));
}

/// Words that errors about a kernel and a problem begin with.
std::string place_of(const Operation& operation, std::string_view what, int line,
                     const Problem& problem) {
  return fmt::format("{}:{}: the {} for {}", operation.origin.file, line, what,
                     problem.sizes_text());
}

struct JudgeLaunch {
  LaunchGeometry geometry;
  ArgumentPlan argument;
  std::vector<ConstantFill> constants;
};

JudgeLaunch plan_judge(const Operation& operation, std::string_view what, const JudgeKernel& judge,
                       const Problem& problem) {
  const auto values = operation.whole_values(problem);
  const LaunchEvaluator evaluator([&] { return place_of(operation, what, judge.line, problem); },
                                  values);
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  JudgeLaunch launch;
  launch.geometry.grid = evaluator.extent("grid", judge.grid, kMostReferenceBlocks);
  launch.geometry.block = evaluator.extent("block", judge.block, kMostReferenceThreads);
  launch.argument = plan_arguments(
      judge.args,
      [&](const Expression& expression) {
        return evaluator.value("args", expression, kLeast, kMost);
      },
      [&](const std::string& message) { evaluator.fail(message); });
  launch.constants = constant_fills(judge.constants, operation.origin.file, operation, problem);
  return launch;
}

/// The problem of one part, as the kernels that judge see it.
Problem problem_of_part(const CaseParts& parts, Problem problem) {
  if (parts.length == 0) return problem;
  std::ranges::find(problem.sizes, parts.size, &NamedValue::name)->value = parts.length;
  return problem;
}

std::string place_of_kernel(const Operation& operation, std::string_view what,
                            const JudgeKernel& judge) {
  return fmt::format("{}:{}: the {} {}", operation.origin.file, judge.line, what,
                     kernel_without_arguments(judge.kernel));
}

void plan_fills(const Operation& operation, const ProblemCase& one, ReferencePlan& plan) {
  for (const FillKernel& fill : operation.judge.fills) {
    auto launch = plan_judge(operation, "fill kernel", fill.kernel, one.problem);
    plan.fills.push_back({std::move(launch.argument), launch.geometry, std::move(launch.constants),
                          place_of_kernel(operation, "fill kernel", fill.kernel), fill.operands});
  }
}

void plan_reference(const Operation& operation, const ProblemCase& one, std::int64_t most_products,
                    EvaluationSetup& setup) {
  const Operation::Judge& judge = operation.judge;
  ReferencePlan plan;
  const bool is_tuned = setup.reference_plans.empty();
  if (is_tuned) plan.parts = plan_parts(operation, one, most_products);
  const Problem part = problem_of_part(plan.parts, one.problem);
  LaunchGeometry& geometry = setup.reference_geometry.emplace_back();
  if (judge.reference) {
    auto launch = plan_judge(operation, "reference", *judge.reference, part);
    geometry = launch.geometry;
    plan.argument = std::move(launch.argument);
    plan.constants = std::move(launch.constants);
    plan.place = place_of_kernel(operation, "reference", *judge.reference);
  }
  if (judge.checker) {
    auto launch = plan_judge(operation, "checker", *judge.checker, part);
    plan.checker_geometry = launch.geometry;
    plan.checker_argument = std::move(launch.argument);
    plan.checker_constants = std::move(launch.constants);
    plan.checker = kernel_without_arguments(judge.checker->kernel);
    plan.checker_place = place_of_kernel(operation, "checker", *judge.checker);
  }
  plan_fills(operation, one, plan);
  plan.rules = rules_of(operation, one.problem);
  plan.scalars = is_tuned ? one.scalars : other_scalars(operation, one);
  for (std::size_t i = 0; i < plan.scalars.size() && !is_tuned; ++i) {
    plan.scalars_text += fmt::format("{}{}={}", i == 0 ? "" : " ", operation.scalars[i].name,
                                     scalar_text(plan.scalars[i]));
  }
  if (judge.integers) {
    constexpr std::int64_t kMostRange = 1 << 24;
    const auto values = operation.whole_values(one.problem);
    const LaunchEvaluator evaluator(
        [&] {
          return place_of(operation, judges_text(operation), first_judge(operation).line,
                          one.problem);
        },
        values);
    plan.integer_range =
        static_cast<int>(evaluator.value("integers", *judge.integers, 0, kMostRange));
  }
  plan.deterministic = judge.deterministic;
  setup.reference_plans.push_back(std::move(plan));
}

}  // namespace

std::vector<ProblemCase> declared_cases(const Operation& operation, const ProblemCase& tuned) {
  std::vector<ProblemCase> cases{tuned};
  for (const auto& sizes : operation.judge.ragged) {
    Problem problem = tuned.problem;
    problem.sizes = sizes;
    if (operation.has_no_results(problem)) continue;
    ProblemCase one = declared_case(operation, problem, {});
    one.scalars = tuned.scalars;
    cases.push_back(std::move(one));
  }
  for (const std::vector<std::string>& kept : tuned.kept_sizes) {
    for (const Problem& problem : ragged_problems(operation, tuned.problem, kept)) {
      const bool is_known = std::ranges::any_of(
          cases, [&](const ProblemCase& one) { return one.problem.sizes == problem.sizes; });
      if (is_known) continue;
      ProblemCase one = declared_case(operation, problem, {});
      one.scalars = tuned.scalars;
      cases.push_back(std::move(one));
    }
  }
  return cases;
}

void add_declared_reference(const Operation& operation, Compiler& compiler,
                            const DeviceInfo& device, EvaluationSetup& setup) {
  const Problem& problem = setup.cases.front().problem;
  for (const ProblemCase& one : setup.cases) {
    plan_reference(operation, one, device.most_products, setup);
  }
  CompileRequest request;
  const Operation::Origin& origin = operation.origin;
  request.source = render_support(origin.headers, origin.path, origin.source, problem, origin.file);
  request.source_name = fmt::format("{}.cu", operation.name);
  for (const JudgeKernel* const judge : judge_kernels(operation)) {
    request.name_expressions.push_back(
        expand_kernel_name(judge->kernel, [&](std::string_view name) -> std::optional<std::string> {
          const auto type = problem.type(name);
          if (!type) return std::nullopt;
          return std::string(device_type_name(*type));
        }));
  }
  const std::string names = fmt::format("{}", fmt::join(request.name_expressions, ", "));
  request.source_digest = digest_hex(fmt::format("{}\n{}", names, request.source));
  request.arch = device.limits.arch;
  request.code = device.code;
  const CompileResult compiled = compiler.compile(request);
  if (!compiled.ok) {
    throw Error(
        ErrorKind::template_,
        fmt::format("{}:{}: the {} kernel {} does not compile for {}, so Kiln cannot verify any "
                    "kernel of {}:\n{}",
                    origin.file, first_judge(operation).line, judges_text(operation), names,
                    request.arch, operation.name, explain_compile_log(operation, compiled.log)));
  }
  if (const auto why = why_wrong_judges(operation, compiled.lowered_names, problem); !why.empty()) {
    throw Error(ErrorKind::template_,
                fmt::format("{} Without this correction, Kiln cannot verify any kernel of {}.", why,
                            operation.name));
  }
  setup.reference = {compiled.cubin, compiled.lowered_names};
}

}  // namespace kiln
