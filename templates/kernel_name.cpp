// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/kernel_name.hpp"

#include <algorithm>

namespace kiln {
namespace {

bool belongs_to_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

std::string expand_kernel_name(
    std::string_view text,
    const std::function<std::optional<std::string>(std::string_view)>& value) {
  const auto bracket = std::min(text.find('<'), text.size());
  std::string expanded(text.substr(0, bracket));
  for (std::size_t at = bracket; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && belongs_to_word(text[end])) ++end;
    if (end == at) {
      expanded += text[at++];
      continue;
    }
    const auto word = text.substr(at, end - at);
    // What follows :: or . belongs to another name.
    const bool qualified = expanded.ends_with(':') || expanded.ends_with('.');
    const auto replaced = qualified ? std::nullopt : value(word);
    expanded += replaced ? *replaced : std::string(word);
    at = end;
  }
  return expanded;
}

}  // namespace kiln
