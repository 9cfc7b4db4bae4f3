// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/whole_number.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>

namespace kiln::tools {

// The parser's own conversion takes -3 for 18446744073709551613 where the variable is unsigned, and
// anything too large for the largest there is.
CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    std::int64_t value = 0;
    const auto* const last = text.data() + text.size();
    const auto [end, status] = std::from_chars(text.data(), last, value);
    if (status == std::errc{} && end == last && value >= least && value <= most) return "";
    return most == std::numeric_limits<std::int64_t>::max()
               ? fmt::format("{} is not a whole number of {} or more", text, least)
               : fmt::format("{} is not a whole number from {} to {}", text, least, most);
  };
  return CLI::Validator(check, "");
}

}  // namespace kiln::tools
