// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/operation.hpp"

#include <algorithm>

namespace kiln {
namespace {

double bytes_of(const Problem& problem, std::string_view slot) {
  const auto type = problem.type(slot);
  return type ? static_cast<double>(size_bytes(*type)) / packed_values(*type) : 0.0;
}

}  // namespace

std::string_view to_string(OperandRole role) {
  switch (role) {
    case OperandRole::in:
      return "in";
    case OperandRole::out:
      return "out";
    case OperandRole::inout:
      return "inout";
  }
  return "";
}

std::optional<std::vector<double>> Operation::values(const Problem& problem) const {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(names_.size()));
  // The order in which OperationParser interned them.
  for (std::size_t i = 0; i < kDTypeNames.size(); ++i) values.push_back(static_cast<double>(i));
  for (const auto& size : size_names) {
    const auto value = problem.size(size);
    if (!value) return std::nullopt;
    values.push_back(static_cast<double>(*value));
  }
  for (const auto& trait : trait_names) {
    const auto value = problem.trait(trait);
    if (!value) return std::nullopt;
    values.push_back(static_cast<double>(*value));
  }
  for (const auto& slot : type_slots) {
    const auto type = problem.type(slot);
    if (!type) return std::nullopt;
    values.push_back(size_bytes(*type));
    values.push_back(packed_values(*type));
    values.push_back(static_cast<double>(*type));
  }
  return values;
}

double Operation::flops(const Problem& problem) const {
  const auto known = values(problem);
  return known && flops_ ? flops_->evaluate_real(*known).value_or(0.0) : 0.0;
}

double Operation::bytes(const Problem& problem) const {
  const auto known = values(problem);
  if (!known) return 0.0;
  if (bytes_) return bytes_->evaluate_real(*known).value_or(0.0);
  double sum = 0.0;
  for (const OperandSpec& operand : operands) {
    if (operand.when && operand.when->evaluate_real(*known).value_or(0.0) == 0.0) continue;
    double elements = operand.role == OperandRole::inout ? 2.0 : 1.0;
    for (const Expression& extent : operand.extents) {
      elements *= extent.evaluate_real(*known).value_or(0.0);
    }
    sum += elements * bytes_of(problem, operand.name);
  }
  return sum;
}

const OperandSpec* Operation::operand(std::string_view slot) const {
  const auto found = std::ranges::find(operands, slot, &OperandSpec::name);
  return found == operands.end() ? nullptr : &*found;
}

}  // namespace kiln
