// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include "runtime/emulated/ptx/ptx_operands.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "runtime/emulated/ptx/ptx_constant.hpp"
#include "runtime/emulated/ptx/special_registers.hpp"

namespace kiln::ptx {

namespace {

/// Position of an operand inside another one, where no label may stand.
constexpr std::size_t kNested = ~std::size_t{0};

/// Which lane of a vector ".y" or ".g" is; -1 for others.
int lane_of(const Token& token) {
  constexpr std::string_view kPositions = "xyzw";
  constexpr std::string_view kColours = "rgba";
  if (token.kind != Token::Kind::dot_word || token.text.size() != 2) return -1;
  for (const auto names : {kPositions, kColours}) {
    const auto lane = names.find(token.text[1]);
    if (lane != std::string_view::npos) return static_cast<int>(lane);
  }
  return -1;
}

Operand of_kind(Operand::Kind kind) {
  Operand operand;
  operand.kind = kind;
  return operand;
}

Operand register_operand(int index) {
  Operand operand = of_kind(Operand::Kind::reg);
  operand.index = index;
  return operand;
}

}  // namespace

void OperandReader::read_all(Instruction& instruction) {
  // Only there do parentheses enclose a list and not a constant.
  in_call_ = instruction.parts.front() == "call";
  if (lexer_.accept(";")) return;
  do {
    instruction.operands.push_back(read(instruction.operands.size()));
  } while (lexer_.accept(","));
  lexer_.expect(";");
}

int OperandReader::read_guard() {
  const Token token = lexer_.expect(Token::Kind::word, "a predicate");
  const auto name = names_.find(token.text);
  if (!name || name->kind != Name::Kind::registers) {
    fail_at(token, fmt::format("'{}' is not a register", token.text));
  }
  const Operand operand = read_register(token, *name);
  if (operand.kind != Operand::Kind::reg)
    fail_at(token, "the guard after '@' must be one register, not a vector");
  return operand.index;
}

// A predicate besides a value, or two predicates: p|q. In a constant, | is an operator.
Operand OperandReader::read(std::size_t position) {
  const Nesting nesting(depth_, lexer_.peek());
  Operand first = read_primary(position);
  if (!lexer_.accept("|")) return first;
  Operand pair = of_kind(Operand::Kind::pair);
  pair.elements.push_back(std::move(first));
  pair.elements.push_back(read_primary(kNested));
  return pair;
}

Operand OperandReader::read_primary(std::size_t position) {
  const Token& token = lexer_.peek();
  if (token.is("{")) return read_list("{", "}");
  if (token.is("[")) return read_address();
  if (in_call_ && token.is("(")) return read_list("(", ")");
  if (starts_constant(token)) return read_constant_operand();
  if (lexer_.accept("!")) {
    Operand operand = register_operand(read_guard());
    operand.negated = true;
    return operand;
  }
  return read_word(position);
}

Operand OperandReader::read_constant_operand() {
  const Constant value = read_constant(lexer_);
  Operand operand = of_kind(value.real ? Operand::Kind::real : Operand::Kind::integer);
  operand.value = value.as_signed();
  return operand;
}

Operand OperandReader::read_word(std::size_t position) {
  const Token token = lexer_.expect(Token::Kind::word, "an operand");
  if (token.text == "_") return of_kind(Operand::Kind::discard);
  if (const auto name = names_.find(token.text)) {
    if (name->kind == Name::Kind::registers) return read_register(token, *name);
    Operand operand = of_kind(Operand::Kind::variable);
    operand.index = name->index;
    if (position != kNested) read_offset(operand);
    return operand;
  }
  // After the declared names: those may hide a special register.
  if (token.text.front() == '%') return read_special(token);
  if (const auto symbol = symbols_.find(token.text); symbol != symbols_.end()) {
    const std::size_t index = symbol->second.index;
    if (symbol->second.is_function) {
      Operand operand = of_kind(Operand::Kind::function);
      operand.name = token.text;
      return operand;
    }
    Operand operand = of_kind(Operand::Kind::variable);
    operand.index =
        names_.import_variable(token.text, module_.variables[index], static_cast<int>(index));
    if (position != kNested) read_offset(operand);
    return operand;
  }
  // A label further down the text, or a mistake: known when its scope ends.
  if (position == kNested) fail_at(token, fmt::format("unknown name '{}'", token.text));
  names_.use_label(token, position);
  Operand operand = of_kind(Operand::Kind::label);
  operand.name = token.text;
  return operand;
}

Operand OperandReader::read_register(const Token& token, const Name& name) {
  const Token component = lexer_.peek();
  if (component.kind == Token::Kind::dot_word) {
    const int lane = lane_of(component);
    if (lane < 0 || lane >= name.lanes) {
      fail_at(component,
              fmt::format("the register '{}' has no component '{}'", token.text, component.text));
    }
    lexer_.take();
    return register_operand(name.index + lane);
  }
  if (name.lanes == 0) return register_operand(name.index);
  // A vector register as a whole is the list of its lanes.
  Operand whole = of_kind(Operand::Kind::vector);
  for (int lane = 0; lane < name.lanes; ++lane) {
    whole.elements.push_back(register_operand(name.index + lane));
  }
  return whole;
}

Operand OperandReader::read_special(const Token& token) {
  const std::string_view name = token.text.substr(1);
  const SpecialRegister* const special = find_special(name);
  if (special == nullptr) {
    fail_at(token,
            fmt::format("'{}' is neither a declared register nor a special register", token.text));
  }
  Operand operand = of_kind(Operand::Kind::special);
  operand.name = token.text;
  if (!lexer_.at_directive()) return operand;
  const Token component = lexer_.take();
  if (!special->is_vector || lane_of(component) < 0) {
    fail_at(component, fmt::format("the special register '{}' has no component '{}'", token.text,
                                   component.text));
  }
  // One spelling for each: .r and .x are the same.
  operand.name += '.';
  operand.name += "xyzw"[lane_of(component)];
  return operand;
}

Operand OperandReader::read_list(std::string_view open, std::string_view close) {
  lexer_.expect(open);
  Operand list = of_kind(Operand::Kind::vector);
  if (in_call_ && lexer_.accept(close)) return list;
  do {
    list.elements.push_back(read(kNested));
  } while (lexer_.accept(","));
  lexer_.expect(close);
  return list;
}

void OperandReader::read_offset(Operand& operand) {
  // NVRTC writes [%rd1+-8]: the sum is one with a signed constant.
  if (!lexer_.peek().is("+") && !lexer_.peek().is("-")) return;
  operand.value = read_integer_constant(lexer_);
}

Operand OperandReader::read_address() {
  lexer_.expect("[");
  Operand address = of_kind(Operand::Kind::address);
  address.elements.push_back(read_address_base());
  read_offset(address);
  while (lexer_.accept(",")) address.elements.push_back(read(kNested));
  lexer_.expect("]");
  return address;
}

// A constant swallows its own "+ 8"; the offset of others is read after them.
Operand OperandReader::read_address_base() {
  const Token token = lexer_.peek();
  if (starts_constant(token)) {
    Operand base = read_constant_operand();
    if (base.kind != Operand::Kind::integer)
      fail_at(token, "a constant address must be an integer");
    return base;
  }
  Operand base = read_word(kNested);
  if (base.kind != Operand::Kind::reg && base.kind != Operand::Kind::variable) {
    fail_at(token,
            fmt::format(
                "an address must begin with a register, a variable or an integer, not with '{}'",
                token.text));
  }
  return base;
}

}  // namespace kiln::ptx
