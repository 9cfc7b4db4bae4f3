// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln::tools {

/// A line of front matter that needs a person: where something is to be filled in, or to be
/// checked.
struct AdoptionMark {
  int line = 0;
  std::string what;
  bool is_check = false;
};

/// Front matter in the making.
class FrontLines {
 public:
  /// `//@ key text  // comment`
  void add(std::string_view key, std::string text, std::string comment = "");
  /// The same below a launch or reference, with the parts of a list, which may take several lines.
  void add_part(std::string_view key, const std::vector<std::string>& parts,
                std::string comment = "");

  /// All lines, none longer than 100 characters unless a word is.
  [[nodiscard]] std::string text() const;
  /// What of text() is to be filled in or checked, in its order.
  [[nodiscard]] std::vector<AdoptionMark> marks() const;

 private:
  struct Line {
    std::string head;  ///< mark and key, padded
    std::vector<std::string> parts;
    std::string comment;
  };
  /// A line as it is printed, perhaps several.
  [[nodiscard]] std::vector<std::string> printed(const Line& line) const;

  std::vector<Line> lines_;
};

}  // namespace kiln::tools
