// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kiln::tools {

/// An expression in the small part of Python in which other tuners write values and restrictions.
struct PythonNode {
  enum class Kind : std::uint8_t {
    integer,        ///< text: digits, decimal or with 0x, 0o, 0b
    real,           ///< text: "0.5"
    text,           ///< text: what is between the quotes
    truth,          ///< text: "True", "False"
    name,           ///< text; dotted names are one: "math.ceil"
    list,           ///< a list or a tuple of parts
    comprehension,  ///< parts: element, then a loop or a filter for each clause
    loop,           ///< text: the variable; parts: what it runs over
    filter,         ///< parts: the condition of an `if`
    sign,           ///< text: "-" or "+"; one part
    binary,         ///< text: the operator; two parts
    comparison,     ///< signs between parts: "<", "==", "in", "not in"
    both,           ///< `and` of the parts
    either,         ///< `or` of the parts
    negation,       ///< `not` of one part
    choice,         ///< parts: value, condition, other value
    call,           ///< text: the function; parts: arguments
    element,        ///< parts: list, index
  };
  Kind kind = Kind::integer;
  std::string text;
  std::vector<PythonNode> parts;
  std::vector<std::string> signs;
  std::size_t offset = 0;  ///< in the text
};

struct PythonValue;
using PythonList = std::vector<PythonValue>;
/// A value of that language. Real numbers are doubles, as in Python.
struct PythonValue {
  std::variant<bool, std::int64_t, double, std::string, PythonList> value;
};
using PythonNames = std::map<std::string, PythonValue, std::less<>>;

/// Parses `text`. `place` says where it comes from, for messages:
/// "space.json: ConfigurationSpace.Conditions[0].Expression". Throws Error(usage) with the place
/// and a column where the text is not an expression of this language.
[[nodiscard]] PythonNode parse_python(std::string_view text, const std::string& place);

/// The value as Python computes it; integers have 64 bits. Throws Error(usage) with the place and
/// a column for unknown names and functions, types that do not fit an operator, overflow, division
/// by zero, and lists of more than 100,000 elements.
[[nodiscard]] PythonValue evaluate_python(const PythonNode& node, const std::string& place,
                                          const PythonNames& names = {});

/// `true`, `16`, `0.5`, `'fast'`, `[1, 2]`, as Python writes them.
[[nodiscard]] std::string python_text(const PythonValue& value);

/// The error of these functions.
[[noreturn]] void fail_python(const std::string& place, std::size_t offset,
                              const std::string& what);

}  // namespace kiln::tools
