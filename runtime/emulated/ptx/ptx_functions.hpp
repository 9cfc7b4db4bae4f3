// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/emulated/ptx/ptx_lexer.hpp"
#include "runtime/emulated/ptx/ptx_module.hpp"
#include "runtime/emulated/ptx/ptx_names.hpp"
#include "runtime/emulated/ptx/ptx_operands.hpp"
#include "runtime/emulated/ptx/ptx_source_lines.hpp"
#include "runtime/emulated/ptx/ptx_variables.hpp"

namespace kiln::ptx {

/// What readers of a module share.
struct ModuleState {
  explicit ModuleState(std::string_view text)
      : lexer(text), variables(lexer, [this](std::string_view name) {
          return symbols.find(name) != symbols.end();
        }) {}
  ModuleState(const ModuleState&) = delete;
  ModuleState& operator=(const ModuleState&) = delete;

  Lexer lexer;
  Module module;
  Symbols symbols;
  SourceLines lines;
  VariableReader variables;
};

/// Reads one .entry or .func.
class FunctionReader {
 public:
  /// Fills `function`, which must stay where it is as long as this lives.
  FunctionReader(ModuleState& state, Function& function);

  /// Name, parameters, return values and directives; the body or the semicolon comes next. Returns
  /// the name.
  Token read_head(bool entry);
  /// From the opening brace on.
  void read_body();

 private:
  struct Parameter {
    Token name;
    Variable variable;
    Type type = Type::none;  ///< of a .reg parameter, none for others
  };

  std::vector<Parameter> read_parameters();
  Parameter read_parameter();
  void declare(const std::vector<Parameter>& parameters);
  void read_directives();
  void read_dimensions(int (&out)[3], std::string_view what);
  void read_statement();
  void read_labelled(const Token& label);
  void read_directive();
  void read_registers();
  void read_variables(Space space);
  void read_statics(Space space);
  void read_instruction(const Token& first, const Token& opcode, int guard, bool negated);
  [[nodiscard]] std::vector<Token> read_names();

  ModuleState& state_;
  Lexer& lexer_;
  Function& function_;
  Names names_;
  OperandReader operands_;
};

/// The strings of a .pragma, which are advice to the code generator, up to its semicolon.
void skip_pragma(Lexer& lexer);

}  // namespace kiln::ptx
