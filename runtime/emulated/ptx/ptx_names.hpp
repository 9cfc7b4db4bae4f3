// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/emulated/ptx/ptx_lexer.hpp"
#include "runtime/emulated/ptx/ptx_module.hpp"

namespace kiln::ptx {

/// What a name of a function stands for, other than a label.
struct Name {
  enum class Kind : std::uint8_t { registers, variable };
  Kind kind = Kind::registers;
  int index = 0;  ///< into the function's registers or variables
  int lanes = 0;  ///< of registers: 0 for a scalar, 2 or 4 that follow each other for a vector
};

/// The names of a function, scope within scope. Registers come into being at their first mention:
/// "%r<829>" costs nothing for those that nobody names.
class Names {
 public:
  /// Names point into the PTX text, which must outlive this.
  explicit Names(Function& function) : function_(function), scopes_(1) {}

  void open_scope();
  /// Resolves the labels used in the innermost scope that it declares itself; others wait for the
  /// scope around it. Throws Error(device) for those that are left in the outermost.
  void close_scope();

  /// One register, or a vector of them if lanes is not 0.
  void declare_register(const Token& name, Type type, int lanes);
  /// name0 to name<count - 1>.
  void declare_registers(const Token& name, Type type, int lanes, int count);
  int declare_variable(const Token& name, Variable variable);
  /// A variable of the module that only the innermost scope knows.
  void declare_static(const Token& name, const Variable& variable, int module_index);
  /// A variable of the module, known in the whole function from now on.
  int import_variable(std::string_view name, const Variable& variable, int module_index);
  /// Labels the instruction that comes next.
  void declare_label(const Token& name);
  void declare_prototype(const Token& name);
  void declare_table(const Token& name, const std::vector<Token>& targets);

  /// From the innermost scope outwards.
  [[nodiscard]] std::optional<Name> find(std::string_view name);
  /// Notes that this operand of the instruction that comes next is a label.
  void use_label(const Token& name, std::size_t operand);

 private:
  struct Range {
    Type type = Type::none;
    int lanes = 0;
    int count = 0;
  };
  struct Target {
    enum class Kind : std::uint8_t { instruction, table, prototype };
    Kind kind = Kind::instruction;
    int index = 0;
  };
  struct Use {
    Token name;
    bool of_table = false;
    std::size_t owner = 0;     ///< instruction or table
    std::size_t position = 0;  ///< operand or entry of it
  };
  struct Scope {
    int number = 0;
    std::unordered_map<std::string_view, Name> names;
    std::unordered_map<std::string_view, Target> targets;
    std::unordered_map<std::string_view, Range> ranges;  ///< by the name without its number
    std::vector<Use> uses;
  };

  void declare(const Token& name, const Name& meaning);
  void add_of_module(const Variable& variable, int module_index);
  void declare_target(const Token& name, const Target& target);
  Name add_registers(Scope& scope, std::string_view name, Type type, int lanes);
  std::optional<Name> find_in_ranges(Scope& scope, std::string_view name);
  void resolve(const Use& use, const Target& target);

  Function& function_;
  std::vector<Scope> scopes_;
  int scopes_opened_ = 0;
};

}  // namespace kiln::ptx
