// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace kiln::tools {

/// The lines of a rendered kernel by the places that its #line directives give them, which is how
/// the emulated GPU names places.
class SourceLines {
 public:
  /// `name` is what the text itself is called where no directive says otherwise; `file` is the
  /// template's own, as the user can open it.
  SourceLines(std::string_view text, const std::string& name, const std::string& file = "");
  /// The line at "row_sum.cu:120" (files go by their names without folders) without the spaces
  /// around it; "" for a place that the text does not have (of a system header).
  [[nodiscard]] std::string_view at(std::string_view place) const;

  /// "own/row_sum.cu:120" for "row_sum.cu:120": the template's file as the user can open it, and
  /// headers by the path that they are included by. Other places, and names of several files, stay
  /// as they are.
  [[nodiscard]] std::string with_folder(std::string_view place) const;

 private:
  std::map<std::string, std::string, std::less<>> lines_;
  std::map<std::string, std::string, std::less<>> paths_;  ///< by the name without folders
};

}  // namespace kiln::tools
