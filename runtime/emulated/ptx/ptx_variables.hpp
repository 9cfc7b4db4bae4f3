// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/emulated/ptx/ptx_lexer.hpp"
#include "runtime/emulated/ptx/ptx_module.hpp"

namespace kiln::ptx {

constexpr std::int64_t kMaxVariableBytes = std::int64_t{1} << 40U;
/// Memory is spent on it, once for each variable.
constexpr int kMaxAlignment = 64 << 10;

/// What stands before the name of a variable: ".align 8 .v4 .f32".
struct VariableType {
  Type type = Type::none;
  int lanes = 0;               ///< of .v2, .v4, .v8; 0 without
  std::int64_t alignment = 0;  ///< 0: that of the type
};

struct DeclaredVariable {
  Token name;
  Variable variable;
};

/// Reads declarations of variables and parameters.
class VariableReader {
 public:
  /// `is_symbol` tells whether a variable or function of the module has this name, so that an
  /// initial value may be its address.
  VariableReader(Lexer& lexer, std::function<bool(std::string_view)> is_symbol)
      : lexer_(lexer), is_symbol_(std::move(is_symbol)) {}

  /// After the space: ".align 8 .b8", and the ".ptr .global .align 16" of a parameter, which says
  /// nothing of the parameter itself.
  VariableType read_type();
  /// "name[4][] = {...}". `external` allows a first dimension without a size, as a parameter may.
  DeclaredVariable read_declarator(const VariableType& type, Space space, bool external);

 private:
  struct Shape {
    std::vector<std::int64_t> extents;  ///< elements by dimension, lanes of a vector last
    bool unsized = false;               ///< the first one was []
    std::int64_t element_bytes = 0;
  };

  Shape read_shape(const VariableType& type);
  void set_size(const Token& name, const Shape& shape, Variable& variable);
  void read_initial(const Shape& shape, Type type, Variable& variable);
  std::int64_t read_list(std::size_t level, std::int64_t first);
  void read_element(std::int64_t element);
  void read_address(std::int64_t element, const Token& first);
  void read_masked(std::int64_t element, const Token& mask, std::uint64_t bits);
  Relocation read_symbol();
  void store(std::int64_t element, std::uint64_t bits);
  void reserve(std::int64_t element);
  [[nodiscard]] std::int64_t stride(std::size_t level) const;

  Lexer& lexer_;
  std::function<bool(std::string_view)> is_symbol_;
  std::int64_t padding_bytes_ = 0;  ///< that no text stands for, in all variables so far

  // Of the initial value being read.
  Shape shape_;
  Type type_ = Type::none;
  Variable* variable_ = nullptr;
  int depth_ = 0;
};

}  // namespace kiln::ptx
