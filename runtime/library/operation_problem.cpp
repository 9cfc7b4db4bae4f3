// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// From the public description of an operation's problem to the one that templates and the database
// see.
#include <fmt/format.h>

#include <algorithm>

#include "kiln/error.hpp"
#include "runtime/library/operation_kernels.hpp"
#include "templates/nearest_name.hpp"
#include "templates/operation/operation.hpp"

namespace kiln::detail {
namespace {

[[noreturn]] void refuse_operation(const std::string& name,
                                   const std::vector<std::string>& template_path) {
  std::vector<std::string> known;
  for (const Operation* operation : operations()) {
    if (operation->is_declared()) known.push_back(operation->name);
  }
  throw Error(ErrorKind::usage,
              fmt::format("no file declares the operation \"{}\"{}; Kiln searched {}", name,
                          did_you_mean(name, known), template_path_text(template_path)));
}

const Operation& known_operation(const std::string& name,
                                 const std::vector<std::string>& template_path) {
  const Operation* const operation = find_operation(name);
  if (operation == nullptr) refuse_operation(name, template_path);
  if (!operation->is_declared()) {
    throw Error(
        ErrorKind::usage,
        fmt::format(
            "{0} kernels have parameters besides operands and scalars, so an OperationProblem "
            "cannot describe a {0} problem. Next: use the type in kiln/{0}.hpp",
            name));
  }
  return *operation;
}

/// The fields of one list in the operation's order: each declared name once, and no other.
template <class Field>
std::vector<Field> in_declared_order(const Operation& operation, std::string_view what,
                                     const std::vector<Field>& given, std::string Field::*name,
                                     const std::vector<std::string>& declared) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::usage, fmt::format("{}: {}. Next: run `kiln operations {}`, which shows "
                                              "the operation's sizes, types and traits",
                                              operation.name, why, operation.name));
  };
  for (auto at = given.begin(); at != given.end(); ++at) {
    const std::string& each = (*at).*name;
    if (std::ranges::find(declared, each) == declared.end()) {
      refuse(fmt::format("there is no {} \"{}\"{}", what, each, did_you_mean(each, declared)));
    }
    if (std::ranges::find(given.begin(), at, each, name) != at) {
      refuse(fmt::format("the problem contains the {} \"{}\" twice", what, each));
    }
  }
  std::vector<Field> fields;
  for (const std::string& each : declared) {
    const auto found = std::ranges::find(given, each, name);
    if (found == given.end()) refuse(fmt::format("the problem lacks the {} \"{}\"", what, each));
    fields.push_back(*found);
  }
  return fields;
}

}  // namespace

Problem checked_problem(const OperationProblem& asked,
                        const std::vector<std::string>& template_path) {
  const Operation& operation = known_operation(asked.operation, template_path);
  // A type from a cast may be any value of the enumeration's type.
  for (const NamedType& type : asked.types) {
    if (static_cast<std::size_t>(type.type) < kDTypeNames.size()) continue;
    throw Error(ErrorKind::usage,
                fmt::format("{}: the type of {} is DType({}), but no element type has this number",
                            operation.name, type.slot, static_cast<int>(type.type)));
  }
  Problem problem;
  problem.operation = operation.name;
  problem.sizes = in_declared_order(operation, "size", operation.with_defaults(asked.sizes),
                                    &NamedValue::name, operation.size_names());
  problem.types =
      in_declared_order(operation, "type", asked.types, &NamedType::slot, operation.type_slots());
  problem.traits = in_declared_order(operation, "trait", asked.traits, &NamedValue::name,
                                     operation.trait_names());
  operation.check(problem);
  return problem;
}

}  // namespace kiln::detail
