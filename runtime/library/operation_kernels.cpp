// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/library/operation_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "kiln/error.hpp"
#include "templates/operation/problem.hpp"
#include "templates/operation/problem_flag.hpp"

namespace kiln::detail {
namespace {

/// `asked` is the problem as an application describes it, without sizes that have a default.
std::unique_ptr<const OperationEntry> make_operation_entry(const OperationProblem& asked,
                                                           const Problem& problem,
                                                           KernelEntry common) {
  const Operation& operation = *find_operation(problem.operation);
  auto entry = std::make_unique<OperationEntry>(std::move(common), OperationKey(asked));
  entry->operation = &operation;
  const std::vector<std::int64_t> values = operation.whole_values(problem);
  for (const OperandSpec& operand : operation.operands) {
    OperandRule& rule = entry->operands.emplace_back();
    rule.takes_part = !operand.when || operand.when->evaluate(values).value() != 0;
    if (!rule.takes_part) continue;
    const OperandLayout layout = layout_of(operand, values);
    const int element = size_bytes(problem.type(operand.name).value());
    rule.bytes = layout.elements() * element;
    rule.alignment = static_cast<std::size_t>(std::max(layout.alignment, element));
    if (operand.pointers && rule.bytes > 0) {
      rule.bytes = layout.rows * static_cast<std::int64_t>(sizeof(void*));
      rule.alignment = sizeof(void*);
    }
  }
  for (const ScalarSpec& scalar : operation.scalars) entry->scalars.push_back(rule_of(scalar));
  return entry;
}

}  // namespace

ScalarRule rule_of(const ScalarSpec& scalar) {
  return {scalar.value, range_of(scalar.type)};
}

std::vector<std::string> operation_tuner_words(const Problem& problem) {
  std::vector<std::string> words{problem.operation};
  const auto add = [&](const std::string& name, std::string value) {
    words.push_back(problem_flag(problem.operation, name));
    words.push_back(std::move(value));
  };
  for (const NamedValue& size : problem.sizes) add(size.name, std::to_string(size.value));
  for (const NamedType& type : problem.types) add(type.slot, std::string(to_string(type.type)));
  for (const NamedValue& trait : problem.traits) add(trait.name, std::to_string(trait.value));
  return words;
}

const OperationEntry* OperationKernels::load(const OperationProblem& asked) {
  const OperationScope scope(loader_.parts().catalog.operations());
  const Problem problem = checked_problem(asked, loader_.parts().template_path);
  const OperationRequest request(asked);
  const OperationEntry* entry = nullptr;
  loader_.load({problem, [&] { return operation_tuner_words(problem); },
                [&] { return (entry = table_.find(request)) != nullptr; },
                [&](KernelEntry common) {
                  entry = table_.publish(make_operation_entry(asked, problem, std::move(common)));
                }});
  return entry;
}

}  // namespace kiln::detail
