// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include "runtime/emulated/ptx/ptx_names.hpp"

#include <utility>

#include <fmt/format.h>

namespace kiln::ptx {

void Names::open_scope() {
  scopes_.emplace_back();
  scopes_.back().number = ++scopes_opened_;
}

// A label may stand after its uses, and the same name in each of many pieces of inline assembly;
// so every use waits until its scope is complete.
void Names::close_scope() {
  Scope& scope = scopes_.back();
  std::vector<Use> left;
  for (const Use& use : scope.uses) {
    const auto found = scope.targets.find(use.name.text);
    if (found != scope.targets.end()) {
      resolve(use, found->second);
    } else if (scopes_.size() == 1) {
      fail_at(use.name, fmt::format("unknown name '{}'", use.name.text));
    } else {
      left.push_back(use);
    }
  }
  if (scopes_.size() > 1) {
    auto& outer = scopes_[scopes_.size() - 2].uses;
    outer.insert(outer.end(), left.begin(), left.end());
  }
  scopes_.pop_back();
}

void Names::resolve(const Use& use, const Target& target) {
  using Kind = Target::Kind;
  // A table lists places to go, not other tables.
  if (use.of_table) {
    if (target.kind != Kind::instruction) {
      fail_at(use.name, fmt::format("the branch target '{}' is not the label of an instruction",
                                    use.name.text));
    }
    function_.branch_tables[use.owner].targets[use.position] = target.index;
    return;
  }
  Instruction& in = function_.body[use.owner];
  const std::string& first = in.parts.front();
  const Kind wanted = first == "brx"    ? Kind::table
                      : first == "call" ? Kind::prototype
                                        : Kind::instruction;
  if (target.kind != wanted) {
    fail_at(use.name, fmt::format("'{}' is not a valid target of {}", use.name.text, in.opcode()));
  }
  Operand& operand = in.operands[use.position];
  operand.index = target.index;
  if (target.kind == Kind::prototype) operand.kind = Operand::Kind::function;
}

void Names::declare(const Token& name, const Name& meaning) {
  if (name.text == "_") fail_at(name, "'_' cannot be declared");
  if (!scopes_.back().names.emplace(name.text, meaning).second) {
    fail_at(name, fmt::format("'{}' is declared twice", name.text));
  }
}

Name Names::add_registers(Scope& scope, std::string_view name, Type type, int lanes) {
  constexpr std::string_view kLanes = "xyzw";
  const Name added{Name::Kind::registers, static_cast<int>(function_.registers.size()), lanes};
  // Registers of two pieces of inline assembly must look different in messages.
  const std::string suffix = scope.number > 0 ? fmt::format("@{}", scope.number) : "";
  if (lanes == 0) function_.registers.push_back({std::string(name) + suffix, type});
  for (int i = 0; i < lanes; ++i) {
    const char lane = kLanes[static_cast<std::size_t>(i)];
    function_.registers.push_back({fmt::format("{}.{}{}", name, lane, suffix), type});
  }
  return added;
}

void Names::declare_register(const Token& name, Type type, int lanes) {
  declare(name, {Name::Kind::registers, static_cast<int>(function_.registers.size()), lanes});
  add_registers(scopes_.back(), name.text, type, lanes);
}

void Names::declare_registers(const Token& name, Type type, int lanes, int count) {
  if (!scopes_.back().ranges.emplace(name.text, Range{type, lanes, count}).second) {
    fail_at(name, fmt::format("'{}' is declared twice", name.text));
  }
}

int Names::declare_variable(const Token& name, Variable variable) {
  const auto index = static_cast<int>(function_.variables.size());
  // Parameters of declarations may go without a name.
  if (name.text != "_") declare(name, {Name::Kind::variable, index, 0});
  function_.variables.push_back(std::move(variable));
  return index;
}

int Names::import_variable(std::string_view name, const Variable& variable, int module_index) {
  const auto index = static_cast<int>(function_.variables.size());
  scopes_.front().names.emplace(name, Name{Name::Kind::variable, index, 0});
  add_of_module(variable, module_index);
  return index;
}

void Names::declare_static(const Token& name, const Variable& variable, int module_index) {
  const auto index = static_cast<int>(function_.variables.size());
  declare(name, {Name::Kind::variable, index, 0});
  add_of_module(variable, module_index);
}

void Names::add_of_module(const Variable& variable, int module_index) {
  // Not its contents: many functions may name one large table.
  Variable copy;
  copy.name = variable.name;
  copy.space = variable.space;
  copy.bytes = variable.bytes;
  copy.alignment = variable.alignment;
  copy.external = variable.external;
  copy.module_index = module_index;
  function_.variables.push_back(std::move(copy));
}

void Names::declare_target(const Token& name, const Target& target) {
  if (!scopes_.back().targets.emplace(name.text, target).second) {
    fail_at(name, fmt::format("the label '{}' is defined twice in this scope", name.text));
  }
}

void Names::declare_label(const Token& name) {
  declare_target(name, {Target::Kind::instruction, static_cast<int>(function_.body.size())});
}

void Names::declare_prototype(const Token& name) {
  declare_target(name, {Target::Kind::prototype, -1});
}

void Names::declare_table(const Token& name, const std::vector<Token>& targets) {
  const std::size_t table = function_.branch_tables.size();
  declare_target(name, {Target::Kind::table, static_cast<int>(table)});
  function_.branch_tables.push_back({std::string(name.text), std::vector<int>(targets.size(), -1)});
  for (std::size_t i = 0; i < targets.size(); ++i) {
    scopes_.back().uses.push_back({targets[i], true, table, i});
  }
}

void Names::use_label(const Token& name, std::size_t operand) {
  scopes_.back().uses.push_back({name, false, function_.body.size(), operand});
}

std::optional<Name> Names::find_in_ranges(Scope& scope, std::string_view name) {
  // A declared name may end in digits itself, so that every split of the digits counts.
  std::int64_t number = 0;
  std::int64_t weight = 1;
  for (std::size_t digits = 1; digits < name.size() && digits <= 10; ++digits) {
    const char digit = name[name.size() - digits];
    if (digit < '0' || digit > '9') break;
    number += weight * (digit - '0');
    weight *= 10;
    if (digit == '0' && digits > 1) continue;  // %r007 is not one of %r<8>
    const auto range = scope.ranges.find(name.substr(0, name.size() - digits));
    if (range == scope.ranges.end() || number >= range->second.count) continue;
    const Name added = add_registers(scope, name, range->second.type, range->second.lanes);
    scope.names.emplace(name, added);
    return added;
  }
  return std::nullopt;
}

std::optional<Name> Names::find(std::string_view name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->names.find(name);
    if (found != scope->names.end()) return found->second;
    if (auto added = find_in_ranges(*scope, name)) return added;
  }
  return std::nullopt;
}

}  // namespace kiln::ptx
