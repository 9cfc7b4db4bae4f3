// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/source_lines.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

namespace kiln::tools {
namespace {

std::string_view trimmed(std::string_view line) {
  const auto begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

/// Reads `#line 12 "folder/file"`, the file without its folder; it may be missing.
bool read_directive(std::string_view line, std::int64_t& number, std::string& file) {
  constexpr std::string_view kMark = "#line ";
  if (!line.starts_with(kMark)) return false;
  line.remove_prefix(kMark.size());
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc{}) return false;
  const auto open = line.find('"');
  const auto close = line.rfind('"');
  if (open != std::string_view::npos && close > open) {
    const std::string_view path = line.substr(open + 1, close - open - 1);
    file = path.substr(path.rfind('/') + 1);
  }
  return true;
}

}  // namespace

SourceLines::SourceLines(std::string_view text, const std::string& name) {
  std::string file = name;
  std::int64_t number = 1;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (read_directive(line, number, file)) continue;
    // The template comes after what the renderer puts before it, which has the same name.
    lines_.insert_or_assign(fmt::format("{}:{}", file, number), std::string(line));
    ++number;
  }
}

std::string_view SourceLines::at(std::string_view place) const {
  const auto found = lines_.find(place);
  return found == lines_.end() ? std::string_view() : found->second;
}

}  // namespace kiln::tools
