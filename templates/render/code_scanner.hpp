// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// A struct in a template's code.
struct ScannedStruct {
  int line = 0;
  std::vector<std::string> fields;  ///< data members, in the order of their declaration
};

/// A __global__ function in a template's code.
struct ScannedKernel {
  std::string name;  ///< without its namespaces
  int line = 0;
  std::size_t parameters = 0;  ///< of its template
  std::size_t defaults = 0;    ///< how many of them have a default
  bool is_variadic = false;
  std::string texture;   ///< the type of a parameter that is a texture or a surface, or ""
  int texture_line = 0;  ///< of that
  /// Types of its own parameters as written, without names and qualifiers: "float*", "unsigned
  /// int".
  std::vector<std::string> arguments;
};

/// A `__constant__` variable of a template's code, outside of all functions.
struct ScannedConstant {
  std::string name;        ///< with its namespaces, "phys::coeff"
  bool is_hidden = false;  ///< static, or in an unnamed namespace: no name leads to it
  int line = 0;
};

/// An identifier outside of comments and literals, directives included.
struct ScannedWord {
  std::string_view text;  ///< a view into the source
  int line = 0;
  bool is_defined = false;  ///< it stands behind #define, #ifndef or "!defined"
  /// The identifiers that `==` or `!=` joins it with, to its left and its right; "": none.
  std::string_view left = {};
  std::string_view right = {};
  bool in_condition = false;  ///< of #if or #elif
};

/// A declaration of a name: of a variable, a parameter, a type, an enumerator.
struct ScannedDeclaration {
  std::string_view name;  ///< a view into the source
  int line = 0;
  bool is_template_parameter = false;
};

/// What can be found out about CUDA C++ without a compiler: enough to point at the line that a
/// compiler error is about, or that a name was looked for in the wrong place. What it does not find
/// may be there all the same. Macros are not expanded.
[[nodiscard]] std::optional<ScannedStruct> find_struct(std::string_view source,
                                                       std::string_view name);
/// Whether it is a type of textures or surfaces, which no operand can be: "cudaTextureObject_t".
[[nodiscard]] bool is_texture_type(std::string_view type);
[[nodiscard]] std::vector<ScannedKernel> find_kernels(std::string_view source);
[[nodiscard]] std::vector<ScannedConstant> find_constants(std::string_view source);
[[nodiscard]] std::vector<ScannedWord> find_words(std::string_view source);
/// Where one of `names` is declared, as far as words before it show that this can be nothing else:
/// `const int x`, `size_t x`, `enum { x }`, but not `Mine x`, since Mine may be a macro.
[[nodiscard]] std::vector<ScannedDeclaration> find_declarations(std::string_view source,
                                                                std::span<const std::string> names);

}  // namespace kiln
