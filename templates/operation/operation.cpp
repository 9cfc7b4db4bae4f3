// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/operation/operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "kiln/error.hpp"

namespace kiln {
namespace {

double bytes_of(const Problem& problem, std::string_view slot) {
  const auto type = problem.type(slot);
  return type ? static_cast<double>(size_bytes(*type)) / packed_values(*type) : 0.0;
}

/// What a problem lacks: "size", "trait" or "type" and a name, which is "" if it has everything.
struct Lacking {
  std::string_view what;
  std::string_view name;
};

/// Appends the values of names() up to the derived ones, in the order in which OperationParser
/// interned them.
template <class Number>
Lacking append_values(const Operation& operation, const Problem& problem,
                      std::vector<Number>& values) {
  for (std::size_t i = 0; i < kDTypeNames.size(); ++i) values.push_back(static_cast<Number>(i));
  for (const auto& size : operation.size_names()) {
    const auto value = problem.size(size);
    if (!value) return {"size", size};
    values.push_back(static_cast<Number>(*value));
  }
  for (const auto& trait : operation.trait_names()) {
    const auto value = problem.trait(trait);
    if (!value) return {"trait", trait};
    values.push_back(static_cast<Number>(*value));
  }
  for (const auto& slot : operation.type_slots()) {
    const auto type = problem.type(slot);
    if (!type) return {"type", slot};
    values.push_back(static_cast<Number>(size_bytes(*type)));
    values.push_back(static_cast<Number>(packed_values(*type)));
    values.push_back(static_cast<Number>(*type));
  }
  return {};
}

bool is_left_out(const OperandSpec& operand, const std::vector<double>& values) {
  return operand.when && operand.when->evaluate_real(values).value_or(0.0) == 0.0;
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

std::string_view to_string(FillSpec::Kind kind) {
  switch (kind) {
    case FillSpec::Kind::normal:
      return "normal";
    case FillSpec::Kind::uniform:
      return "uniform";
    case FillSpec::Kind::positive:
      return "positive";
    case FillSpec::Kind::integers:
      return "integers";
    case FillSpec::Kind::sorted:
      return "sorted";
    case FillSpec::Kind::kernel:
      return "kernel";
  }
  return "";
}

std::vector<const JudgeKernel*> judge_kernels(const Operation& operation) {
  std::vector<const JudgeKernel*> kernels;
  for (const auto* const judge : {&operation.judge.reference, &operation.judge.checker}) {
    if (*judge) kernels.push_back(&**judge);
  }
  for (const FillKernel& fill : operation.judge.fills) kernels.push_back(&fill.kernel);
  return kernels;
}

OperandLayout layout_of(const OperandSpec& operand, const std::vector<std::int64_t>& values) {
  OperandLayout layout;
  for (const Expression& extent : operand.extents) {
    const bool is_of_row =
        operand.pointers ? &extent != &operand.extents.front() : &extent == &operand.extents.back();
    (is_of_row ? layout.cols : layout.rows) *= extent.evaluate(values).value();
  }
  layout.ld = operand.ld ? operand.ld->evaluate(values).value() : layout.cols;
  if (operand.align) layout.alignment = static_cast<int>(operand.align->evaluate(values).value());
  return layout;
}

std::vector<NamedValue> Operation::with_defaults(std::vector<NamedValue> given) const {
  std::vector<NamedValue> all;
  // What a default may mention: the names that come before it in names().
  std::vector<std::int64_t> known(kDTypeNames.size());
  std::iota(known.begin(), known.end(), 0);
  for (const SizeSpec& size : sizes) {
    const auto found = std::ranges::find(given, size.name, &NamedValue::name);
    if (found != given.end()) {
      all.push_back(*found);
      given.erase(found);
    } else {
      const auto value = size.value ? size.value->evaluate(known) : std::nullopt;
      if (!value) break;  // check() names what is missing
      all.push_back({size.name, *value});
    }
    known.push_back(all.back().value);
  }
  all.insert(all.end(), given.begin(), given.end());
  return all;
}

std::optional<std::vector<double>> Operation::values(const Problem& problem) const {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(names().size()));
  const auto lacking = append_values(*this, problem, values);
  if (!lacking.name.empty()) return std::nullopt;
  for (const auto& each : derived) {
    const auto result = each.second.evaluate_real(values);
    if (!result) return std::nullopt;
    values.push_back(*result);
  }
  return values;
}

std::vector<std::int64_t> Operation::whole_values(const Problem& problem) const {
  std::vector<std::int64_t> values;
  values.reserve(static_cast<std::size_t>(names().size()));
  const auto lacking = append_values(*this, problem, values);
  if (!lacking.name.empty()) {
    throw Error(ErrorKind::usage, fmt::format("the problem \"{}\" has no {} \"{}\"",
                                              problem.canonical(), lacking.what, lacking.name));
  }
  for (const auto& each : derived) {
    const auto result = each.second.evaluate(values);
    if (!result) {
      throw Error(
          ErrorKind::usage,
          fmt::format(
              "{}: the derived size \"{} = {}\" is undefined (division by zero or overflow) "
              "for the sizes \"{}\"; choose other sizes",
              name, each.first, each.second.text(), problem.sizes_text()));
    }
    values.push_back(*result);
  }
  return values;
}

double Operation::flops(const Problem& problem) const {
  const auto known = values(problem);
  return known && cost.flops ? cost.flops->evaluate_real(*known).value_or(0.0) : 0.0;
}

double Operation::bytes(const Problem& problem) const {
  const auto known = values(problem);
  if (!known) return 0.0;
  if (cost.bytes) return cost.bytes->evaluate_real(*known).value_or(0.0);
  double sum = 0.0;
  for (const OperandSpec& operand : operands) {
    if (is_left_out(operand, *known)) continue;
    double elements = operand.role == OperandRole::inout ? 2.0 : 1.0;
    for (const Expression& extent : operand.extents) {
      elements *= extent.evaluate_real(*known).value_or(0.0);
    }
    sum += elements * bytes_of(problem, operand.name);
  }
  return sum;
}

std::optional<double> Operation::metric(const MetricSpec& spec, const Problem& problem,
                                        const RunFigures& figures) const {
  if (spec.needs_energy && figures.energy_j <= 0.0) return std::nullopt;
  auto known = values(problem);
  if (!known) return std::nullopt;
  const double time_s = figures.time_ns / 1e9;
  // In the order of kMetricFigures.
  known->insert(known->end(), {figures.time_ns, time_s, figures.energy_j,
                               time_s > 0.0 ? figures.energy_j / time_s : 0.0});
  return spec.value.evaluate_real(*known);
}

bool Operation::has_no_results(const Problem& problem) const {
  const auto known = values(problem);
  if (!known) return false;
  return std::ranges::all_of(operands, [&](const OperandSpec& operand) {
    return operand.role == OperandRole::in || is_left_out(operand, *known) ||
           std::ranges::any_of(operand.extents, [&](const Expression& extent) {
             return extent.evaluate_real(*known) == 0.0;
           });
  });
}

const OperandSpec* Operation::operand(std::string_view slot) const {
  const auto found = std::ranges::find(operands, slot, &OperandSpec::name);
  return found == operands.end() ? nullptr : &*found;
}

}  // namespace kiln
