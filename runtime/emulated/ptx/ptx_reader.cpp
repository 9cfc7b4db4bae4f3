// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include <charconv>

#include <fmt/format.h>

#include "runtime/compile/register_note.hpp"
#include "runtime/emulated/ptx/ptx_functions.hpp"
#include "runtime/emulated/ptx/ptx_module.hpp"

namespace kiln::ptx {

namespace {

/// Many times what NVRTC writes for a kernel; what is read takes up to some hundred times as much.
constexpr std::size_t kMaxTextBytes = std::size_t{16} << 20U;

/// Reads the directives of a module.
class ModuleReader {
 public:
  explicit ModuleReader(std::string_view text) : state_(text), lexer_(state_.lexer) {}

  Module read() {
    lexer_.expect(".version");
    read_version();
    while (!lexer_.at_end()) read_directive();
    if (state_.module.target.empty()) lexer_.fail_expected("a .target directive somewhere");
    state_.module.files = state_.lines.files();
    for (Function& function : state_.module.functions) {
      for (Instruction& in : function.body) state_.lines.leave_headers(in.origin);
    }
    return std::move(state_.module);
  }

 private:
  void read_version();
  void read_target();
  void read_directive();
  void read_declaration(const Token& token);
  void read_variables(Space space, bool external);
  void add_variable(DeclaredVariable declared);
  void read_function(bool entry);
  void skip_section();

  ModuleState state_;
  Lexer& lexer_;
};

void ModuleReader::read_version() {
  // Read as text: 8.10 and 8.1 are two versions but one number.
  const Token token = lexer_.expect(Token::Kind::real, "a version");
  const char* const end = token.text.data() + token.text.size();
  const auto major = std::from_chars(token.text.data(), end, state_.module.version_major);
  if (major.ec == std::errc{} && major.ptr != end && *major.ptr == '.') {
    const auto minor = std::from_chars(major.ptr + 1, end, state_.module.version_minor);
    if (minor.ec == std::errc{} && minor.ptr == end) return;
  }
  fail_at(token, "a version consists of two integers, as in 9.0");
}

void ModuleReader::read_target() {
  // After the architecture: texmode_independent, debug and the like.
  state_.module.target = lexer_.expect(Token::Kind::word, "an architecture").text;
  while (lexer_.accept(",")) lexer_.expect(Token::Kind::word, "an option of .target");
}

// DWARF. What Kiln needs of it, .file and .loc say.
void ModuleReader::skip_section() {
  // Its name: .debug_str, a word or a string.
  lexer_.take();
  lexer_.expect("{");
  lexer_.skip_to_closing("{", "}");
}

void ModuleReader::read_directive() {
  const Token token = lexer_.expect(Token::Kind::dot_word, "a directive");
  const std::string_view name = token.name();
  if (name == "target") {
    read_target();
  } else if (name == "address_size") {
    const Token at = lexer_.peek();
    if (lexer_.expect_count("64") != 64) fail_at(at, "only 64-bit addresses are supported");
  } else if (name == "file") {
    state_.lines.read_file(lexer_);
  } else if (name == "loc") {
    state_.lines.read_loc(lexer_);
  } else if (name == "section") {
    skip_section();
  } else if (name == "pragma") {
    skip_pragma(lexer_);
  } else {
    read_declaration(token);
  }
}

void ModuleReader::read_declaration(const Token& token) {
  const bool external = token.text == ".extern";
  const bool linked =
      external || token.text == ".visible" || token.text == ".weak" || token.text == ".common";
  const Token kind = linked ? lexer_.expect(Token::Kind::dot_word, "a declaration") : token;
  const std::string_view name = kind.name();
  if (name == "entry" || name == "func") {
    read_function(name == "entry");
  } else if (name == "global") {
    read_variables(Space::global, external);
  } else if (name == "const") {
    read_variables(Space::constant, external);
  } else if (name == "shared") {
    read_variables(Space::shared, external);
  } else if (name == "local") {
    read_variables(Space::local, external);
  } else {
    fail_at(kind, fmt::format("'{}' is not supported outside functions", kind.text));
  }
}

void ModuleReader::read_variables(Space space, bool external) {
  const VariableType type = state_.variables.read_type();
  do {
    add_variable(state_.variables.read_declarator(type, space, external));
  } while (lexer_.accept(","));
  lexer_.expect(";");
}

void ModuleReader::add_variable(DeclaredVariable declared) {
  auto& variables = state_.module.variables;
  const Token& name = declared.name;
  const auto [found, added] =
      state_.symbols.try_emplace(name.text, Symbol{false, variables.size()});
  if (added) {
    variables.push_back(std::move(declared.variable));
    return;
  }
  if (found->second.is_function) fail_at(name, fmt::format("'{}' is a function", name.text));
  Variable& earlier = variables[found->second.index];
  if (!earlier.external && !declared.variable.external) {
    fail_at(name, fmt::format("'{}' is declared twice", name.text));
  }
  // A declaration of what is defined elsewhere in this text adds nothing.
  if (earlier.external) earlier = std::move(declared.variable);
}

void ModuleReader::read_function(bool entry) {
  Function read;
  FunctionReader reader(state_, read);
  const Token name = reader.read_head(entry);
  // Known before its body, which may call it. The place in the list is that of the first
  // declaration; the function itself stays here while it is read, because the list may not.
  auto& functions = state_.module.functions;
  const auto [found, added] = state_.symbols.try_emplace(name.text, Symbol{true, functions.size()});
  if (added) functions.emplace_back();
  if (!found->second.is_function) fail_at(name, fmt::format("'{}' is a variable", name.text));
  const std::size_t index = found->second.index;
  if (lexer_.accept(";")) {
    if (functions[index].defined) return;
  } else {
    if (functions[index].defined)
      fail_at(name, fmt::format("the function '{}' is defined twice", name.text));
    reader.read_body();
  }
  functions[index] = std::move(read);
}

}  // namespace

Module read_module(std::string_view text) {
  if (text.size() > kMaxTextBytes) {
    fail_at(Token{}, fmt::format("the PTX has {} bytes; the emulator reads at most {} bytes",
                                 text.size(), kMaxTextBytes));
  }
  Module module = ModuleReader(text).read();
  module.registers = noted_registers(text);
  return module;
}

}  // namespace kiln::ptx
