// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

/// \file
/// Changes to a kernel's text. Files of kernels mark the code that mutants change with a comment,
/// an anchor: the line that ends in `// mutant: NAME` or, if the comment has a line to itself, the
/// statement below it. That statement ends with the first line that ends in `;` or `}`.

namespace kiln::testing {

struct Change {
  std::string anchor;  ///< "": `from` is looked for in the whole text
  std::string from;    ///< occurs once in the marked code; "": all of that code
  std::string to;      ///< replaces it
};

/// What can be done to the code that `// mutant: name` marks.
class Anchor {
 public:
  explicit Anchor(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] Change removed() const { return {name_, "", ""}; }
  [[nodiscard]] Change replaced_by(std::string code) const { return {name_, "", std::move(code)}; }
  /// `word`: any text that occurs once in the marked code.
  [[nodiscard]] Change with(std::string word, std::string other) const {
    return {name_, std::move(word), std::move(other)};
  }
  [[nodiscard]] Change without(std::string word) const { return {name_, std::move(word), ""}; }

 private:
  std::string name_;
};

[[nodiscard]] inline Anchor at(std::string name) {
  return Anchor(std::move(name));
}

/// Throws std::invalid_argument unless `text` has the anchor once and `from` is there once.
[[nodiscard]] std::string changed(const std::string& text, const Change& change);

}  // namespace kiln::testing
