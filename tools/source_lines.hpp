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
  /// `name` is what the text itself is called where no directive says otherwise.
  SourceLines(std::string_view text, const std::string& name);
  /// The line at "row_sum.cu:120" (files go by their names without folders) without the spaces
  /// around it; "" for a place that the text does not have (of a system header).
  [[nodiscard]] std::string_view at(std::string_view place) const;

 private:
  std::map<std::string, std::string, std::less<>> lines_;
};

}  // namespace kiln::tools
