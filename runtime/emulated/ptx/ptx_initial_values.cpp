// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "runtime/emulated/ptx/ptx_constant.hpp"
#include "runtime/emulated/ptx/ptx_variables.hpp"

namespace kiln::ptx {

namespace {

// Rows that a list leaves short are filled with zeros. The text does not pay for them, so that they
// are limited.
constexpr std::int64_t kMaxPaddingBytes = std::int64_t{64} << 20U;

/// Which byte of an address a mask picks: 0 for 0xFF, 1 for 0xFF00. -1 if it is no such mask.
int byte_of_mask(std::uint64_t mask) {
  for (int byte = 0; byte < 8; ++byte) {
    if (mask == 0xffULL << (8 * static_cast<unsigned>(byte))) return byte;
  }
  return -1;
}

bool same_address(const Relocation& a, const Relocation& b) {
  return a.symbol == b.symbol && a.addend == b.addend && a.generic == b.generic;
}

}  // namespace

std::int64_t VariableReader::stride(std::size_t level) const {
  std::int64_t elements = 1;
  for (std::size_t i = level; i < shape_.extents.size(); ++i) elements *= shape_.extents[i];
  return elements;
}

void VariableReader::read_initial(const Shape& shape, Type type, Variable& variable) {
  // NVRTC writes most arrays flat, as bytes; people nest braces. Both count elements from the
  // start of the variable.
  shape_ = shape;
  type_ = type;
  variable_ = &variable;
  const Token first = lexer_.peek();
  // Before strides are multiplied: the sizes must be sane, the open first dimension apart.
  Shape row = shape;
  if (row.unsized) row.extents.front() = 1;
  set_size(first, row, variable);
  if (row.unsized && variable.bytes == 0) {
    fail_at(first, "this array needs its first size, because another size is 0");
  }

  std::int64_t used = 1;
  if (first.is("{")) {
    used = read_list(0, 0);
  } else if (!shape.extents.empty()) {
    lexer_.fail_expected("'{'");
  } else {
    read_element(0);
  }
  if (shape.unsized) {
    const std::int64_t per_row = stride(1);
    variable.bytes *= (used + per_row - 1) / per_row;
  }
}

/// Reads the list of a (sub)array whose elements begin at `first`; returns how many it fills.
std::int64_t VariableReader::read_list(std::size_t level, std::int64_t first) {
  const Token open = lexer_.peek();
  const Nesting nesting(depth_, open);
  lexer_.expect("{");
  const bool unlimited = level == 0 && shape_.unsized;
  const std::int64_t room = stride(level);
  const std::int64_t inner = stride(level + 1);
  std::int64_t used = 0;
  while (!lexer_.accept("}")) {
    const bool nested = lexer_.peek().is("{");
    // A list begins at the next row, whatever the values before it left open.
    if (nested) used = (used + inner - 1) / std::max<std::int64_t>(inner, 1) * inner;
    const std::int64_t taken = nested ? inner : 1;
    if (used + taken > (unlimited ? kMaxVariableBytes / shape_.element_bytes : room)) {
      fail_at(lexer_.peek(), "too many initial values for this array");
    }
    if (nested) {
      read_list(level + 1, first + used);
    } else {
      read_element(first + used);
    }
    used += taken;
    if (!lexer_.accept(",") && !lexer_.peek().is("}")) lexer_.fail_expected("',' or '}'");
  }
  return used;
}

void VariableReader::reserve(std::int64_t element) {
  const std::int64_t end = (element + 1) * shape_.element_bytes;
  const auto have = static_cast<std::int64_t>(variable_->initial.size());
  if (end <= have) return;
  padding_bytes_ += end - have - shape_.element_bytes;
  if (padding_bytes_ > kMaxPaddingBytes) {
    fail_at(lexer_.peek(),
            "the initial values of this module skip too many array elements; the emulator "
            "supports at most 64 MiB of skipped elements");
  }
  variable_->initial.resize(static_cast<std::size_t>(end));
}

void VariableReader::store(std::int64_t element, std::uint64_t bits) {
  reserve(element);
  const auto offset = static_cast<std::size_t>(element * shape_.element_bytes);
  const auto bytes = std::min<std::size_t>(8, static_cast<std::size_t>(shape_.element_bytes));
  for (std::size_t i = 0; i < bytes; ++i) {
    variable_->initial[offset + i] = static_cast<std::byte>(bits >> (8 * i) & 0xffU);
  }
}

void VariableReader::read_element(std::int64_t element) {
  const Token first = lexer_.peek();
  if (first.kind == Token::Kind::word && first.text != "WARP_SZ") {
    return read_address(element, first);
  }
  // No operator of constants is written as "(", so that 0xFF(name) shows itself after the number.
  const Constant value = read_constant(lexer_);
  if (lexer_.peek().is("(")) return read_masked(element, first, value.bits);
  const bool wants_real = type_ == Type::f32 || type_ == Type::f64;
  if (value.real && !wants_real) {
    fail_at(first, fmt::format("a floating-point number cannot initialise an element of type .{}",
                               name_of(type_)));
  }
  if (!wants_real) return store(element, value.bits);
  const std::uint64_t bits =
      value.real ? value.bits
                 : std::bit_cast<std::uint64_t>(value.is_unsigned
                                                    ? static_cast<double>(value.bits)
                                                    : static_cast<double>(value.as_signed()));
  store(element, type_ == Type::f32 ? narrowed(bits) : bits);
}

void VariableReader::read_address(std::int64_t element, const Token& first) {
  Relocation relocation = read_symbol();
  if (shape_.element_bytes != 8 && shape_.element_bytes != 4) {
    fail_at(
        first,
        "an element that holds an address must have 4 or 8 bytes. Next: for a single byte of an "
        "address, write 0xFF(name)");
  }
  reserve(element);
  relocation.offset = static_cast<std::size_t>(element * shape_.element_bytes);
  relocation.bytes = static_cast<int>(shape_.element_bytes);
  variable_->relocations.push_back(std::move(relocation));
}

/// 0xFF00(name): one byte of an address. The bytes must follow each other from the lowest on, and
/// become one relocation.
void VariableReader::read_masked(std::int64_t element, const Token& mask, std::uint64_t bits) {
  lexer_.expect("(");
  Relocation relocation = read_symbol();
  lexer_.expect(")");
  const int byte = byte_of_mask(bits);
  if (byte < 0) {
    fail_at(mask, "a mask must select exactly one byte of an address, as 0xFF or 0xFF00 does");
  }
  if (shape_.element_bytes != 1) {
    fail_at(mask, "a mask selects 1 byte of an address, so the array's elements must have 1 byte");
  }
  reserve(element);
  relocation.offset = static_cast<std::size_t>(element);
  relocation.bytes = 1;
  auto& all = variable_->relocations;
  if (byte == 0) {
    all.push_back(std::move(relocation));
    return;
  }
  const auto before = static_cast<std::size_t>(byte);
  if (all.empty() || all.back().bytes != byte || all.back().offset + before != relocation.offset ||
      !same_address(all.back(), relocation)) {
    fail_at(mask, "the bytes of an address must be listed in order, lowest byte first");
  }
  ++all.back().bytes;
}

Relocation VariableReader::read_symbol() {
  Relocation read;
  Token name = lexer_.expect(Token::Kind::word, "the name of a variable or function");
  if (name.text == "generic" && lexer_.accept("(")) {
    read.generic = true;
    name = lexer_.expect(Token::Kind::word, "the name of a variable or function");
  }
  if (!is_symbol_(name.text)) {
    fail_at(name, fmt::format("no variable or function '{}' is declared", name.text));
  }
  read.symbol = name.text;
  // generic(name)+8 and generic(name+8) are the same.
  const auto read_addend = [&] {
    if (lexer_.peek().is("+") || lexer_.peek().is("-")) {
      const auto more = static_cast<std::uint64_t>(read_integer_constant(lexer_));
      read.addend = static_cast<std::int64_t>(static_cast<std::uint64_t>(read.addend) + more);
    }
  };
  read_addend();
  if (read.generic) {
    lexer_.expect(")");
    read_addend();
  }
  return read;
}

}  // namespace kiln::ptx
