// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/front_matter/hints.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "templates/source_error.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

constexpr std::array<std::string_view, 3> kHints{"prefer", "usual", "cost"};

/// In a kernel's file all other lines are C++. Here they would have no effect, unnoticed.
void check_lines(const std::string& file, std::string_view text) {
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::string_view body = trimmed(line);
    if (body.empty()) continue;
    const std::size_t column = offset_in(line, body) + 1;
    const bool is_statement = body.starts_with("//@");
    if (body.starts_with("//") && (!is_statement || column == 1)) continue;
    throw_at(
        {file, number, static_cast<int>(column), std::string(line)}, body, 0,
        is_statement
            ? "\"//@\" must begin in the first column; remove the spaces before \"//@\""
            : fmt::format("expected here: a comment (\"//\") or one of these \"//@\" lines: {}",
                          fmt::join(kHints, ", ")));
  }
}

}  // namespace

std::vector<FrontMatterLine> read_hints(const KernelTemplate::Hints& hints,
                                        const std::string& owner) {
  check_lines(hints.file, hints.text);
  auto lines = read_front_matter(hints.file, hints.text);
  for (const auto& line : lines) {
    if (std::find(kHints.begin(), kHints.end(), line.key) != kHints.end()) continue;
    line.fail_at_key(
        fmt::format("\"{}\" lines are not allowed in a hints file; write this line in {}. Only "
                    "these lines can be in a hints file: {}",
                    line.key, owner, fmt::join(kHints, ", ")));
  }
  return lines;
}

}  // namespace kiln
