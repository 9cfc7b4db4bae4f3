// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/problem_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/error.hpp"
#include "templates/nearest_name.hpp"

namespace kiln {
namespace {

/// Evaluates what a declaration says of a problem.
class Declared {
 public:
  Declared(const Operation& operation, const Problem& problem)
      : operation_(operation), problem_(problem), values_(operation.whole_values(problem)) {}

  [[nodiscard]] std::int64_t value(const Expression& expression, const std::string& what) const {
    const auto result = expression.evaluate(values_);
    if (result) return *result;
    throw Error(ErrorKind::usage, fmt::format("{}: {} \"{}\" has no value for {}", operation_.name,
                                              what, expression.text(), problem_.sizes_text()));
  }

  [[nodiscard]] OperandPlan operand(const OperandSpec& spec) const {
    OperandPlan plan;
    plan.name = spec.name;
    plan.role = spec.role;
    plan.present = !spec.when || value(*spec.when, "the condition of " + spec.name) != 0;
    plan.shape = shape(spec);
    plan.fill.kind = spec.fill.kind;
    const auto bound = [&](const std::optional<Expression>& end) {
      return end ? value(*end, "what " + spec.name + " is filled with") : 0;
    };
    plan.fill.low = bound(spec.fill.low);
    plan.fill.high = std::max(plan.fill.low, bound(spec.fill.high));
    return plan;
  }

 private:
  [[nodiscard]] MatrixShape shape(const OperandSpec& spec) const {
    MatrixShape shape;
    shape.rows = 1;
    shape.cols = 1;
    shape.type = *problem_.type(spec.name);
    shape.alignment = real_alignment(16, shape.type);
    for (std::size_t i = 0; i < spec.extents.size(); ++i) {
      const std::int64_t extent =
          value(spec.extents[i], fmt::format("extent {} of {}", i, spec.name));
      if (extent < 0) {
        throw Error(ErrorKind::usage,
                    fmt::format("{}: extent {} of {} is {} for {}", operation_.name, i, spec.name,
                                extent, problem_.sizes_text()));
      }
      std::int64_t& so_far = i + 1 == spec.extents.size() ? shape.cols : shape.rows;
      if (extent != 0 && so_far > kMostElements / extent) fail_size(spec);
      so_far *= extent;
    }
    if (shape.rows != 0 && shape.cols > kMostElements / shape.rows) fail_size(spec);
    shape.ld = shape.cols;
    return shape;
  }

  [[noreturn]] void fail_size(const OperandSpec& spec) const {
    throw Error(ErrorKind::usage, fmt::format("{}: {} would have more than 2^60 elements for {}",
                                              operation_.name, spec.name, problem_.sizes_text()));
  }

  static constexpr std::int64_t kMostElements = std::int64_t{1} << 60;
  const Operation& operation_;
  const Problem& problem_;
  std::vector<std::int64_t> values_;
};

}  // namespace

int real_alignment(int promised, DType type) {
  const int least = std::max(promised, size_bytes(type));
  return least >= 16 ? std::max(least, 256) : least;
}

ProblemCase declared_case(const Operation& operation, const Problem& problem,
                          const std::vector<NamedScalar>& scalars) {
  operation.check(problem);
  const Declared declared(operation, problem);
  ProblemCase one;
  one.problem = problem;
  for (const OperandSpec& spec : operation.operands) {
    one.operands.push_back(declared.operand(spec));
  }
  one.products = operation.flops(problem) / 2.0;
  double elements = 0.0;
  for (const OperandPlan& operand : one.operands) {
    if (operand.present) elements += static_cast<double>(operand.shape.elements());
  }
  one.products = std::max(one.products, elements);
  for (const ScalarSpec& spec : operation.scalars) one.scalars.push_back(spec.value);
  for (const auto& [name, value] : scalars) {
    const auto at = std::ranges::find(operation.scalars, name, &ScalarSpec::name);
    if (at == operation.scalars.end()) {
      std::vector<std::string> known;
      for (const ScalarSpec& spec : operation.scalars) known.push_back(spec.name);
      throw Error(ErrorKind::usage, fmt::format("{} has no scalar \"{}\"{}", operation.name, name,
                                                did_you_mean(name, known)));
    }
    one.scalars[static_cast<std::size_t>(at - operation.scalars.begin())] = value;
  }
  return one;
}

std::string describe(const ProblemCase& one) {
  return one.problem.sizes_text();
}

}  // namespace kiln
