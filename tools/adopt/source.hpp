// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/adopt/conditions.hpp"
#include "tools/adopt/lexer.hpp"

namespace kiln::tools {

/// A parameter of a function, or what is declared like one.
struct SourceParameter {
  enum class Shape : std::uint8_t {
    plain,
    array_pointer,  ///< `float (*x)[4]`, `float x[][4]`
    function,       ///< `float (*f)(float)`
  };
  std::string name;       ///< "" if it has none
  std::string type;       ///< without const, pointers and restrict: "unsigned char", "float2"
  int pointers = 0;       ///< an array counts as one
  bool is_const = false;  ///< what a pointer points to
  bool is_reference = false;
  Shape shape = Shape::plain;
  std::string row = {};  ///< the elements of what an array_pointer points to: "4"
  int line = 0;
};

/// A parameter of a kernel's template.
struct SourceTemplateParameter {
  enum class Kind : std::uint8_t { type, integer, flag, other };
  Kind kind = Kind::other;
  std::string name;
  std::string default_text;  ///< "" if it has none
};

/// The definition of a `__global__` function. Indices are of SourceModel::code.tokens.
struct SourceKernel {
  std::string name;  ///< with its namespaces
  std::string plain_name;
  int line = 0;
  std::vector<SourceTemplateParameter> template_parameters;
  std::vector<SourceParameter> parameters;
  std::size_t begin = 0;       ///< first token of the definition: "template", "extern"
  std::size_t body_begin = 0;  ///< the token after '{'
  std::size_t body_end = 0;    ///< the '}'
  /// What `__launch_bounds__` says of the threads of a block; without tokens: nothing.
  std::size_t bounds_begin = 0, bounds_end = 0;
};

/// A function of the device that kernels may call.
struct SourceFunction {
  std::vector<SourceParameter> parameters;
  std::size_t body_begin = 0;  ///< the token after '{'
  std::size_t body_end = 0;    ///< the '}'
};

/// A `__constant__` variable.
struct SourceConstant {
  std::string name;
  std::string qualified_name;  ///< with its namespaces
  bool is_hidden = false;      ///< static, or in an unnamed namespace
  bool is_template = false;
  bool is_pointer = false;
  bool has_value = false;  ///< other than zeros
  std::string type;
  std::vector<std::vector<CodeToken>> extents;  ///< what is between each pair of brackets
  int line = 0;
};

/// An object-like macro that the file defines, or a number that it gives a name otherwise:
/// `constexpr int X = 16;`, `enum { X = 16 };`.
struct SourceMacro {
  std::vector<CodeToken> body;
  bool is_default = false;          ///< it gives way to a macro that is defined before
  std::string misspelt_guard = {};  ///< what the `#ifndef` above asks for, if that is a typo
  std::size_t offset = 0;           ///< of its name
  int line = 0;
};

/// A header that the file includes, or a function that it defines.
struct SourceName {
  std::string name;
  int line = 0;
};

/// What adopting a file needs to know of its text, which must outlive it.
struct SourceModel {
  CodeText code;
  SourceConditions conditions;
  std::vector<SourceKernel> kernels;  ///< in the order of the file, the first of each name
  std::multimap<std::string, SourceFunction, std::less<>> functions;  ///< by name
  /// The tokens [first, second) that declare or define a function, a type or a variable, by name.
  std::multimap<std::string, std::pair<std::size_t, std::size_t>, std::less<>> definitions;
  std::vector<SourceConstant> constants;
  std::map<std::string, SourceMacro, std::less<>> macros;
  std::map<std::string, std::string, std::less<>> type_aliases;  ///< typedefs, using, macros
  /// Of those that are no plain type what a parameter of that type is declared like.
  std::map<std::string, SourceParameter, std::less<>> declarator_aliases;
  /// What device code declares: variables, parameters, types, functions.
  std::set<std::string, std::less<>> declared;
  /// Token ranges, both ends included, of functions that only the host calls, which tell nothing.
  std::vector<std::pair<std::size_t, std::size_t>> host_functions;
  std::vector<SourceName> own_headers;       ///< included with quotes
  std::vector<SourceName> host_headers;      ///< others that device code cannot have
  std::vector<SourceName> angled_headers;    ///< what is left
  std::vector<SourceName> host_definitions;  ///< functions that the compiler of kernels refuses
  std::optional<int> host_launch_line;       ///< of the first `kernel<<<...>>>`
  /// Of kernels that the host launches at one place: what it passes, the names of variables or "".
  std::map<std::string, std::vector<std::string>, std::less<>> host_launches;

  [[nodiscard]] bool is_host_token(std::size_t index) const;
  /// The same for a place in the text.
  [[nodiscard]] bool is_host_offset(std::size_t offset) const;
};

/// Replaces calls of macros that have parameters by what those stand for, as far as that has
/// neither '#' nor a variable number of arguments. What comes in has the place of the call. So are
/// CUDA's functions that are operators by other names, such as __mul24.
void expand_macro_calls(CodeText& code);

/// Reads what the file gives names to outside of functions and classes, in every branch of its
/// conditionals: definitions, aliases of types, and numbers.
void read_named_values(SourceModel& model);

/// The variables of the declaration [begin, end), which says `__constant__`.
[[nodiscard]] std::vector<SourceConstant> read_constants(const SourceModel& model,
                                                         std::size_t begin, std::size_t end);

/// Gives a parameter whose type is an alias of a pointer that pointer.
void resolve_declarator(SourceParameter& parameter, const SourceModel& model);

/// Reads a file's structure. Throws Error(template_) at a bracket that is not closed, or closes
/// nothing.
[[nodiscard]] SourceModel read_source(const std::string& file, std::string_view source);

/// The parameters between the parentheses [begin, end).
[[nodiscard]] std::vector<SourceParameter> read_parameters(const std::vector<CodeToken>& tokens,
                                                           std::size_t begin, std::size_t end);
/// Adds every name that the tokens [begin, end) declare.
void collect_declared_names(const std::vector<CodeToken>& tokens, std::size_t begin,
                            std::size_t end, std::set<std::string, std::less<>>& names);
/// Whether C++ has the word for itself.
[[nodiscard]] bool is_cpp_keyword(std::string_view word);

}  // namespace kiln::tools
