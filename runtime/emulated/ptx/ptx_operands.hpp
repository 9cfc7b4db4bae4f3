// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <unordered_map>

#include "runtime/emulated/ptx/ptx_lexer.hpp"
#include "runtime/emulated/ptx/ptx_module.hpp"
#include "runtime/emulated/ptx/ptx_names.hpp"

namespace kiln::ptx {

/// What a name at module scope stands for.
struct Symbol {
  bool is_function = false;
  std::size_t index = 0;  ///< into Module::functions or Module::variables
};
using Symbols = std::unordered_map<std::string_view, Symbol>;

/// Reads operands of the instruction that comes next in a function.
class OperandReader {
 public:
  OperandReader(Lexer& lexer, const Module& module, const Symbols& symbols, Names& names)
      : lexer_(lexer), module_(module), symbols_(symbols), names_(names) {}

  /// All operands up to the semicolon, which is taken as well.
  void read_all(Instruction& instruction);
  /// The register of a guard.
  int read_guard();

 private:
  Operand read(std::size_t position);
  Operand read_primary(std::size_t position);
  Operand read_word(std::size_t position);
  Operand read_register(const Token& token, const Name& name);
  Operand read_special(const Token& token);
  Operand read_constant_operand();
  Operand read_list(std::string_view open, std::string_view close);
  Operand read_address();
  Operand read_address_base();
  void read_offset(Operand& operand);

  Lexer& lexer_;
  const Module& module_;
  const Symbols& symbols_;
  Names& names_;
  int depth_ = 0;
  bool in_call_ = false;
};

}  // namespace kiln::ptx
