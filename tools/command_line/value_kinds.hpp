// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace kiln::tools {

/// The kind of what names an operation whose problems follow.
inline constexpr std::string_view kOperationKind = "OPERATION";
/// The library that kernels are compared with.
inline constexpr std::string_view kCublasLt = "cublaslt";

/// What may stand for the value of a flag or argument. Its name is the type name that options carry
/// ("--arch ARCH"), so a declaration says with it what shells complete and what help lists.
struct ValueKind {
  enum class Source : std::uint8_t {
    free,        ///< anything: numbers, times, texts
    words,       ///< words()
    files,       ///< files of the machine
    folders,     ///< and its folders
    templates,   ///< names of templates, which depend on --template-path
    operations,  ///< names of operations, which do as well
  };

  std::string name;  ///< "ARCH"
  Source source = Source::free;
  std::string meaning;                   ///< "architecture of a GPU"
  std::vector<std::string> fixed_words;  ///< what is known, in order; empty for operations
  bool closed = false;                   ///< nothing but words() is valid
  char separator = '\0';                 ///< between the values of a list, if it is one

  /// What is known now: more operations may have been declared.
  [[nodiscard]] std::vector<std::string> words() const;
};

/// Every kind that options have.
[[nodiscard]] const std::vector<ValueKind>& value_kinds();
/// The kind of that name; nullptr when there is none.
[[nodiscard]] const ValueKind* find_value_kind(std::string_view name);

/// `; did you mean "f16"?`: the word that others call so ("float16"), that is nearly spelt so, or
/// that alone begins so; "" if there is none.
[[nodiscard]] std::string suggestion(std::string_view text, const std::vector<std::string>& words);

/// Makes every option of `app` whose kind is closed refuse other words:
/// "--mode: luck is unknown; choose from use, tune_on_miss, ...".
void check_closed_values(CLI::App& app);

}  // namespace kiln::tools
