// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/adopt/python.hpp"

namespace kiln::tools {

/// What an expression of Python may mention: tunables, and sizes.
struct TranslatedNames {
  std::map<std::string, std::string, std::less<>> names;  ///< Python's -> front matter's
  std::set<std::string, std::less<>> positive;            ///< of Python's: always above 0
  std::set<std::string, std::less<>> not_negative;        ///< or 0
  /// Tunables whose values are words, and these; no words: the values are fractions.
  std::map<std::string, std::set<std::string>, std::less<>> words;
};

/// An expression of front matter, or why there is none.
struct Translation {
  std::string text;  ///< "" if there is none
  std::string why;   ///< "" if there is a text
  /// Whether the text rounds a quotient up that Python leaves as a fraction.
  bool is_rounded_up = false;
};

/// The condition in the words of front matter: `and` becomes `&&`, `x in [1, 2]` two comparisons,
/// and a quotient, which Python does not round, a comparison of products.
[[nodiscard]] Translation translated_condition(const PythonNode& node, const std::string& place,
                                               const TranslatedNames& names);
/// The number, of blocks or threads, in the words of front matter.
[[nodiscard]] Translation translated_number(const PythonNode& node, const std::string& place,
                                            const TranslatedNames& names);

/// How front matter writes the values of a tunable, `usual` with a star; "" for values that it
/// cannot express, such as texts with spaces.
[[nodiscard]] std::string printed_values(const std::vector<PythonValue>& values,
                                         const PythonValue& usual);
/// Whether front matter has the word as the value of a tunable.
[[nodiscard]] bool is_value_word(const std::string& word);

}  // namespace kiln::tools
