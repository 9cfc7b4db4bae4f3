// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include "runtime/emulated/ptx/ptx_variables.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/emulated/ptx/ptx_constant.hpp"

namespace kiln::ptx {

namespace {

std::int64_t product(const Token& where, std::int64_t a, std::int64_t b) {
  if (b > kMaxVariableBytes / a) fail_at(where, "this variable is larger than 2^40 bytes");
  return a * b;
}

}  // namespace

VariableType VariableReader::read_type() {
  VariableType read;
  bool of_pointee = false;  // what follows .ptr describes the memory that a parameter points to
  while (lexer_.at_directive()) {
    const Token token = lexer_.take();
    const std::string_view name = token.name();
    if (name == "align") {
      const Token at = lexer_.peek();
      const int alignment = lexer_.expect_count("an alignment");
      if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
        fail_at(at, "an alignment must be a power of two");
      }
      if (alignment > kMaxAlignment) {
        fail_at(at, fmt::format("an alignment must be at most {} bytes", kMaxAlignment));
      }
      if (!of_pointee) read.alignment = alignment;
    } else if (name == "ptr") {
      of_pointee = true;
    } else if (of_pointee &&
               (name == "global" || name == "const" || name == "shared" || name == "local")) {
      continue;
    } else if (name == "attribute") {
      lexer_.expect("(");  // .managed and .unified: where the host sees the variable
      lexer_.skip_to_closing("(", ")");
    } else if (name == "v2" || name == "v4" || name == "v8") {
      read.lanes = name[1] - '0';
    } else if (const Type type = type_of(name); type != Type::none && read.type == Type::none) {
      read.type = type;
    } else {
      fail_at(token,
              fmt::format("'{}' is not supported in the declaration of a variable", token.text));
    }
  }
  if (read.type == Type::none) lexer_.fail_expected("a type");
  return read;
}

DeclaredVariable VariableReader::read_declarator(const VariableType& type, Space space,
                                                 bool external) {
  DeclaredVariable read;
  read.name = lexer_.expect(Token::Kind::word, "the name of a variable");
  if (type.type == Type::pred) fail_at(read.name, "a variable in memory cannot be a predicate");
  Variable& variable = read.variable;
  variable.name = read.name.text;
  variable.space = space;
  variable.external = external && space != Space::param;
  const Shape shape = read_shape(type);
  // A vector is aligned as a whole, an array as its elements.
  const std::int64_t natural = shape.element_bytes * std::max(type.lanes, 1);
  variable.alignment = type.alignment != 0 ? type.alignment : natural;

  const Token at = lexer_.peek();
  if (lexer_.accept("=")) {
    if (space != Space::global && space != Space::constant) {
      fail_at(at, "only global and constant variables can have initial values");
    }
    if (external) fail_at(at, "an external variable cannot have an initial value");
    read_initial(shape, type.type, variable);
  } else if (shape.unsized && !external) {
    fail_at(read.name, "this array needs a size");
  } else {
    set_size(read.name, shape, variable);
  }
  return read;
}

VariableReader::Shape VariableReader::read_shape(const VariableType& type) {
  Shape shape;
  shape.element_bytes = bits_of(type.type) / 8;
  for (Token open = lexer_.peek(); lexer_.accept("["); open = lexer_.peek()) {
    if (lexer_.accept("]")) {
      if (!shape.extents.empty())
        fail_at(open, "only the first dimension of an array may omit its size");
      shape.unsized = true;
      shape.extents.push_back(0);
      continue;
    }
    const std::int64_t extent = read_integer_constant(lexer_);
    if (extent < 0 || extent > kMaxVariableBytes) {
      fail_at(open, "this array size is negative or too large");
    }
    if (shape.extents.size() >= 32) fail_at(open, "this array has more than 32 dimensions");
    shape.extents.push_back(extent);
    lexer_.expect("]");
  }
  if (type.lanes > 0) shape.extents.push_back(type.lanes);
  return shape;
}

void VariableReader::set_size(const Token& name, const Shape& shape, Variable& variable) {
  // A dimension of 0 must not hide how large the others are: rows are counted without it.
  std::int64_t largest = shape.element_bytes;
  variable.bytes = shape.element_bytes;
  for (const std::int64_t extent : shape.extents) {
    largest = product(name, largest, std::max<std::int64_t>(extent, 1));
    variable.bytes *= extent;
  }
}

}  // namespace kiln::ptx
