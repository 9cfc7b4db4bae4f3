// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/launch/launch_evaluator.hpp"

#include "templates/text_pieces.hpp"

namespace kiln {

std::string rounded_up_division(std::string_view text) {
  std::size_t slash = std::string_view::npos;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += (text[i] == '(') - (text[i] == ')');
    if (depth > 0 || std::string_view("+-*/%<>=!&|?:,").find(text[i]) == std::string_view::npos) {
      continue;
    }
    if (text[i] != '/' || slash != std::string_view::npos) return {};
    slash = i;
  }
  if (slash == std::string_view::npos) return {};
  const auto side = [](std::string_view part) {
    part = trimmed(part);
    // "(n + 1)" needs no parentheses as an argument; "(a) * (b)" was refused above.
    const bool is_group = part.starts_with('(') && part.find(')') == part.size() - 1;
    return is_group ? part.substr(1, part.size() - 2) : part;
  };
  return fmt::format("ceil_div({}, {})", side(text.substr(0, slash)), side(text.substr(slash + 1)));
}

}  // namespace kiln
