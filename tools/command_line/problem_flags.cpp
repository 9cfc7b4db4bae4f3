// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/problem_flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "kiln/error.hpp"
#include "tools/command_line/declared_flags.hpp"
#include "tools/command_line/examples.hpp"
#include "tools/command_line/value_kinds.hpp"
#include "tools/typed_tools.hpp"

namespace kiln::tools {
namespace {

/// No GPU has that much, so whatever is done with the problem would fail later, or never end.
void require_addressable(const ProblemCase& one, const std::vector<std::string>& size_flags) {
  constexpr double kMostBytes = 1125899906842624.0;  // 1 PiB
  double bytes = 0.0;
  for (const OperandPlan& operand : one.operands) {
    if (operand.present) bytes += static_cast<double>(operand.shape.bytes());
  }
  if (bytes <= kMostBytes) return;
  throw Error(ErrorKind::usage, fmt::format("{}: the operands take {:.0f} PiB, more memory than "
                                            "any GPU has; give smaller values for {}",
                                            heading_text(one.problem), bytes / kMostBytes,
                                            fmt::join(size_flags, ", ")));
}

}  // namespace

DType checked_dtype(std::string_view flag, std::string_view name) {
  if (const auto type = parse_dtype(name)) return *type;
  const std::vector<std::string> names(kDTypeNames.begin(), kDTypeNames.end());
  throw Error(ErrorKind::usage, fmt::format("{} {}: not an element type; choose from {}{}", flag,
                                            name, fmt::join(names, ", "), suggestion(name, names)));
}

void ProblemFlags::add_to(CLI::App& verb, const Operation& operation, Word word) {
  verb_ = &verb;
  if (word != Word::none) {
    auto* option = verb.add_option("operation", word_, "Operation to compute");
    option->type_name(std::string(kOperationKind));
    if (word == Word::required) option->required();
  }
  if (const TypedTools* const typed = find_typed_tools(operation.name)) {
    flags_ = typed->flags();
  } else {
    flags_ = std::make_unique<DeclaredFlags>(operation);
  }
  flags_->add_to(verb);
}

std::vector<std::string> ProblemFlags::given_flags() const {
  std::vector<std::string> flags;
  for (const auto* option : verb_->get_options()) {
    if (option->get_group() == kProblemGroup && option->count() > 0)
      flags.push_back(option->get_name());
  }
  return flags;
}

bool ProblemFlags::given() const {
  return !word_.empty() || !given_flags().empty();
}

void ProblemFlags::check_list(const std::string& list) const {
  if (list.empty()) {
    if (!word_.empty()) return;
    throw Error(ErrorKind::usage,
                fmt::format("name the operation, e.g. {}, or a --suite", example("operation")));
  }
  if (const auto flags = given_flags(); !flags.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{} already selects the problems; leave out {}", list,
                                              fmt::join(flags, ", ")));
  }
}

std::vector<std::string> ProblemFlags::missing_sizes() const {
  auto flags = flags_->size_flags();
  std::erase_if(flags, [&](const auto& flag) { return verb_->get_option(flag)->count() > 0; });
  return flags;
}

bool ProblemFlags::has_sizes() const {
  return missing_sizes().size() < flags_->size_flags().size();
}

ProblemCase ProblemFlags::request(std::int64_t default_size) const {
  const auto missing = missing_sizes();
  if (!missing.empty() && default_size == 0) {
    throw Error(ErrorKind::usage, fmt::format("{} {} missing", fmt::join(missing, ", "),
                                              missing.size() == 1 ? "is" : "are"));
  }
  ProblemCase request = flags_->request(default_size);
  require_addressable(request, flags_->size_flags());
  return request;
}

std::string problem_words(const ProblemCase& one) {
  const std::string& name = one.problem.operation;
  const TypedTools* const typed = find_typed_tools(name);
  return fmt::format(
      "{} {}", name,
      typed == nullptr ? declared_flags_text(*find_operation(name), one) : typed->flags_text(one));
}

std::string heading_text(const Problem& problem) {
  if (const TypedTools* const typed = find_typed_tools(problem.operation)) {
    return typed->heading(problem);
  }
  std::vector<std::string> types;
  for (const auto& [slot, type] : problem.types) {
    types.push_back(fmt::format("{}={}", slot, to_string(type)));
  }
  const bool alike = std::ranges::all_of(problem.types, [&](const NamedType& each) {
    return each.type == problem.types.front().type;
  });
  if (alike && !types.empty()) types = {std::string(to_string(problem.types.front().type))};
  std::string text = fmt::format("{} {}", problem.operation, problem.sizes_text());
  if (!types.empty()) text += fmt::format(" {}", fmt::join(types, " "));
  for (const auto& [name, value] : problem.traits) text += fmt::format(" {}={}", name, value);
  return text;
}

}  // namespace kiln::tools
