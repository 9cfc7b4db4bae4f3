// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/output/wrapped.hpp"

#include "tools/command_line/quantity.hpp"

namespace kiln::tools {

std::string wrapped(std::string_view text, std::size_t indent) {
  constexpr std::size_t kWidth = 80;
  std::string result;
  std::size_t column = indent;
  for (const auto& word : split_list(text, ' ')) {
    const bool first = result.empty();
    if (!first && column + 1 + word.size() > kWidth) {
      result += "\n" + std::string(indent, ' ') + word;
      column = indent + word.size();
    } else {
      result += first ? word : " " + word;
      column += word.size() + (first ? 0 : 1);
    }
  }
  return result;
}

}  // namespace kiln::tools
