// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include "runtime/emulated/ptx/ptx_functions.hpp"

#include <fmt/format.h>

namespace kiln::ptx {

void skip_pragma(Lexer& lexer) {
  do {
    lexer.expect(Token::Kind::string, "a string");
  } while (lexer.accept(","));
  lexer.expect(";");
}

FunctionReader::FunctionReader(ModuleState& state, Function& function)
    : state_(state),
      lexer_(state.lexer),
      function_(function),
      names_(function),
      operands_(state.lexer, state.module, state.symbols, names_) {}

FunctionReader::Parameter FunctionReader::read_parameter() {
  Parameter read;
  const bool is_register = lexer_.accept(".reg");
  if (!is_register) lexer_.expect(".param");
  const VariableType type = state_.variables.read_type();
  if (is_register) {
    read.type = type.type;
    read.name = lexer_.expect(Token::Kind::word, "the name of a parameter");
    if (type.lanes > 0) fail_at(read.name, "a register parameter cannot be a vector");
    // It takes its place among the parameters all the same, so that calls can count them.
    read.variable.name = read.name.text;
    read.variable.space = Space::param;
    read.variable.bytes = (bits_of(type.type) + 7) / 8;
    read.variable.alignment = read.variable.bytes;
    return read;
  }
  DeclaredVariable declared = state_.variables.read_declarator(type, Space::param, true);
  read.name = declared.name;
  read.variable = std::move(declared.variable);
  return read;
}

std::vector<FunctionReader::Parameter> FunctionReader::read_parameters() {
  std::vector<Parameter> parameters;
  if (!lexer_.accept("(") || lexer_.accept(")")) return parameters;
  do {
    parameters.push_back(read_parameter());
  } while (lexer_.accept(","));
  lexer_.expect(")");
  return parameters;
}

void FunctionReader::declare(const std::vector<Parameter>& parameters) {
  for (const Parameter& parameter : parameters) {
    if (parameter.type == Type::none) {
      names_.declare_variable(parameter.name, parameter.variable);
      continue;
    }
    Variable variable = parameter.variable;
    variable.register_index = static_cast<int>(function_.registers.size());
    function_.variables.push_back(std::move(variable));
    if (parameter.name.text == "_") {
      function_.registers.push_back({"_", parameter.type});
    } else {
      names_.declare_register(parameter.name, parameter.type, 0);
    }
  }
}

Token FunctionReader::read_head(bool entry) {
  function_.entry = entry;
  if (lexer_.accept(".attribute")) {
    lexer_.expect("(");
    lexer_.skip_to_closing("(", ")");
  }
  // Return values stand before the name, but after the parameters in Function::variables.
  std::vector<Parameter> returned;
  if (!entry) returned = read_parameters();
  const Token name = lexer_.expect(Token::Kind::word, "the name of a function");
  function_.name = name.text;
  function_.ptx_line = name.line;
  const std::vector<Parameter> parameters = read_parameters();
  declare(parameters);
  declare(returned);
  function_.parameter_count = static_cast<int>(parameters.size());
  function_.return_count = static_cast<int>(returned.size());
  read_directives();
  return name;
}

void FunctionReader::read_dimensions(int (&out)[3], std::string_view what) {
  for (int& each : out) each = 1;  // dimensions that are not given
  for (int i = 0; i < 3; ++i) {
    out[i] = lexer_.expect_count(what);
    if (!lexer_.accept(",")) return;
  }
  fail_at(lexer_.peek(), "this directive takes at most three numbers");
}

void FunctionReader::read_directives() {
  while (lexer_.at_directive()) {
    const Token token = lexer_.take();
    const std::string_view name = token.name();
    if (name == "maxntid") {
      read_dimensions(function_.max_threads, "a number of threads");
    } else if (name == "reqntid") {
      read_dimensions(function_.required_threads, "a number of threads");
    } else if (name == "reqnctapercluster") {
      read_dimensions(function_.cluster, "a number of blocks");
    } else if (name == "minnctapersm" || name == "maxnctapersm" || name == "maxnreg" ||
               name == "maxclusterrank" || name == "abi_preserve" ||
               name == "abi_preserve_control") {
      lexer_.expect_count("a number");  // advice to the code generator
    } else if (name == "pragma") {
      skip_pragma(lexer_);
    } else if (name == "blocksareclusters") {
      fail_at(token,
              "the emulator does not support .blocksareclusters: grid dimensions must count "
              "blocks, not clusters");
    } else if (name != "noreturn" && name != "explicitcluster") {
      fail_at(token,
              fmt::format("'{}' is not supported before the body of a function", token.text));
    }
  }
}

// With its own stack: the text's depth must not become that of the host's stack.
void FunctionReader::read_body() {
  function_.defined = true;
  state_.lines.begin_function();
  const Token open = lexer_.peek();
  lexer_.expect("{");
  std::vector<Token> scopes{open};
  while (!scopes.empty()) {
    const Token token = lexer_.peek();
    if (lexer_.at_end()) fail_at(scopes.back(), "this '{' is never closed");
    if (lexer_.accept("}")) {
      scopes.pop_back();
      names_.close_scope();
    } else if (lexer_.accept("{")) {
      if (scopes.size() >= 64) fail_at(token, "this '{' exceeds the limit of 64 nested scopes");
      scopes.push_back(token);
      names_.open_scope();
    } else {
      read_statement();
    }
  }
}

void FunctionReader::read_statement() {
  const Token first = lexer_.peek();
  if (lexer_.accept(";")) return;
  if (lexer_.at_directive()) return read_directive();
  int guard = -1;
  bool negated = false;
  if (lexer_.accept("@")) {
    negated = lexer_.accept("!");
    guard = operands_.read_guard();
  }
  // A label and an opcode look alike until the colon.
  const Token word = lexer_.expect(Token::Kind::word, "an instruction");
  if (guard < 0 && lexer_.accept(":")) return read_labelled(word);
  read_instruction(first, word, guard, negated);
}

std::vector<Token> FunctionReader::read_names() {
  std::vector<Token> names;
  do {
    names.push_back(lexer_.expect(Token::Kind::word, "a name"));
  } while (lexer_.accept(","));
  lexer_.expect(";");
  return names;
}

void FunctionReader::read_labelled(const Token& label) {
  if (lexer_.accept(".branchtargets")) {
    names_.declare_table(label, read_names());
  } else if (lexer_.accept(".calltargets")) {
    // Which function is called shows when it is; the list only has to make sense.
    for (const Token& name : read_names()) {
      const auto symbol = state_.symbols.find(name.text);
      if (symbol == state_.symbols.end() || !symbol->second.is_function) {
        fail_at(name, fmt::format("'{}' is not a function", name.text));
      }
    }
    names_.declare_prototype(label);
  } else if (lexer_.accept(".callprototype")) {
    // What is called says the same of itself; here only the form is checked.
    read_parameters();
    lexer_.expect("_");
    read_parameters();
    read_directives();
    lexer_.expect(";");
    names_.declare_prototype(label);
  } else {
    names_.declare_label(label);
  }
}

void FunctionReader::read_directive() {
  const Token token = lexer_.take();
  const std::string_view name = token.name();
  if (name == "loc") {
    state_.lines.read_loc(lexer_);
  } else if (name == "reg") {
    read_registers();
  } else if (name == "param") {
    read_variables(Space::param);
  } else if (name == "local") {
    read_variables(Space::local);
  } else if (name == "shared") {
    read_variables(Space::shared);
  } else if (name == "global" || name == "const") {
    read_statics(name == "global" ? Space::global : Space::constant);
  } else if (name == "pragma") {
    skip_pragma(lexer_);
  } else if (name == "file") {
    state_.lines.read_file(lexer_);
  } else {
    fail_at(token, fmt::format("'{}' is not supported in the body of a function", token.text));
  }
}

void FunctionReader::read_registers() {
  const VariableType type = state_.variables.read_type();
  if (type.lanes > 4) {
    fail_at(lexer_.peek(),
            fmt::format("a vector register has at most 4 elements, not {}", type.lanes));
  }
  do {
    const Token name = lexer_.expect(Token::Kind::word, "the name of a register");
    if (lexer_.accept("<")) {
      names_.declare_registers(name, type.type, type.lanes, lexer_.expect_count("a count"));
      lexer_.expect(">");
    } else {
      names_.declare_register(name, type.type, type.lanes);
    }
  } while (lexer_.accept(","));
  lexer_.expect(";");
}

void FunctionReader::read_variables(Space space) {
  const VariableType type = state_.variables.read_type();
  do {
    DeclaredVariable declared = state_.variables.read_declarator(type, space, false);
    names_.declare_variable(declared.name, std::move(declared.variable));
  } while (lexer_.accept(","));
  lexer_.expect(";");
}

// They live as long as the module, which gets them under a name that no other can have.
void FunctionReader::read_statics(Space space) {
  const VariableType type = state_.variables.read_type();
  auto& all = state_.module.variables;
  do {
    DeclaredVariable declared = state_.variables.read_declarator(type, space, false);
    declared.variable.name =
        fmt::format("{}@{}@{}", declared.name.text, function_.name, all.size());
    names_.declare_static(declared.name, declared.variable, static_cast<int>(all.size()));
    all.push_back(std::move(declared.variable));
  } while (lexer_.accept(","));
  lexer_.expect(";");
}

void FunctionReader::read_instruction(const Token& first, const Token& opcode, int guard,
                                      bool negated) {
  Instruction read;
  read.origin = state_.lines.origin_of(first);
  read.guard = guard;
  read.guard_negated = negated;
  read.parts.emplace_back(opcode.text);
  while (lexer_.at_directive()) read.parts.emplace_back(lexer_.take().name());
  operands_.read_all(read);
  function_.body.push_back(std::move(read));
}

}  // namespace kiln::ptx
