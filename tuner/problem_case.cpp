// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/problem_case.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kiln/error.hpp"
#include "templates/nearest_name.hpp"
#include "templates/operation/scalar_text.hpp"

namespace kiln {
namespace {

/// Elements from one array behind pointers to the next, aligned alike, with a gap that no vector
/// access from within one crosses.
std::int64_t distance_of_arrays(std::int64_t elements, DType type) {
  const std::int64_t unit = kAllocatorsAlignment / size_bytes(type);
  return (elements + unit - 1) / unit * unit + unit;
}

/// What a declaration says of a problem that was checked, so that everything has a value that is
/// needed: what is left out, or has no elements, need not have any.
class Declared {
 public:
  Declared(const Operation& operation, const Problem& problem)
      : problem_(problem), values_(operation.whole_values(problem)) {}

  [[nodiscard]] OperandPlan operand(const OperandSpec& spec) const {
    OperandPlan plan;
    plan.name = spec.name;
    plan.role = spec.role;
    plan.present = !spec.when || value(*spec.when) != 0;
    plan.shape.type = *problem_.type(spec.name);
    plan.fill.kind = spec.fill.kind;
    plan.scratch = spec.scratch;
    if (!plan.present) return plan;
    const OperandLayout layout = layout_of(spec, values_);
    plan.shape.rows = layout.rows;
    plan.shape.cols = layout.cols;
    plan.shape.ld = layout.ld;
    plan.shape.line = spec.extents.size() == 1;
    plan.shape.alignment = real_alignment(layout.alignment, plan.shape.type);
    if (spec.pointers) {
      plan.shape.pointers = true;
      plan.shape.ld = distance_of_arrays(layout.cols, plan.shape.type);
    }
    if (!spec.fill.low || plan.shape.elements() == 0) return plan;
    plan.fill.low = value(*spec.fill.low);
    plan.fill.high = value(*spec.fill.high);
    return plan;
  }

 private:
  [[nodiscard]] std::int64_t value(const Expression& expression) const {
    return expression.evaluate(values_).value();
  }

  const Problem& problem_;
  std::vector<std::int64_t> values_;
};

/// Another value than the one that is asked for would be stored as its result.
void check_scalar(const Operation& operation, const ScalarSpec& spec, Scalar value) {
  const std::string why = why_not_of_type(spec.type, value);
  if (why.empty()) return;
  throw Error(ErrorKind::usage,
              fmt::format("{}: the scalar {}: {}", operation.name, spec.name, why));
}

}  // namespace

std::string element_place(const MatrixShape& shape, std::int64_t row, std::int64_t col) {
  if (shape.line) return fmt::format("element {}", row * shape.ld + col);
  return fmt::format("row {} column {}", row, col);
}

MatrixShape in_real_numbers(MatrixShape shape) {
  if (!is_complex(shape.type)) return shape;
  shape.type = shape.type == DType::cf32 ? DType::f32 : DType::f64;
  shape.cols *= 2;
  shape.ld *= 2;
  return shape;
}

int real_alignment(int promised, DType type) {
  const int least = std::max(promised, size_bytes(type));
  return least >= kPromisedAlignment ? std::max(least, kAllocatorsAlignment) : least;
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
    if (!operand.present || operand.shape.elements() == 0) continue;
    const auto bytes = static_cast<double>(operand.shape.touched_bytes());
    elements += bytes / size_bytes(operand.shape.type);
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
    check_scalar(operation, *at, value);
    one.scalars[static_cast<std::size_t>(at - operation.scalars.begin())] = value;
  }
  return one;
}

std::string describe(const ProblemCase& one) {
  return one.problem.sizes_text();
}

}  // namespace kiln
