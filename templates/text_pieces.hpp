// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace kiln {

/// What separates words within a line of a source file.
inline constexpr std::string_view kLineSpace = " \t\r\v\f";

/// The text without the space around it.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(kLineSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kLineSpace) - begin + 1);
}

/// Where `part`, a view into `whole`, begins.
[[nodiscard]] inline std::size_t offset_in(std::string_view whole, std::string_view part) {
  return static_cast<std::size_t>(part.data() - whole.data());
}

}  // namespace kiln
