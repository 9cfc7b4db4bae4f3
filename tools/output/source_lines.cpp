// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/output/source_lines.hpp"

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

std::string name_of(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

/// Reads `#line 12 "folder/file"`; the file may be missing.
bool read_directive(std::string_view line, std::int64_t& number, std::string& path) {
  constexpr std::string_view kMark = "#line ";
  if (!line.starts_with(kMark)) return false;
  line.remove_prefix(kMark.size());
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc{}) return false;
  const auto open = line.find('"');
  const auto close = line.rfind('"');
  if (open != std::string_view::npos && close > open) {
    path = line.substr(open + 1, close - open - 1);
  }
  return true;
}

}  // namespace

SourceLines::SourceLines(std::string_view text, const std::string& name, const std::string& file) {
  if (!file.empty()) paths_.emplace(name_of(file), file);
  std::string path = name;
  std::int64_t number = 1;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (read_directive(line, number, path)) {
      const auto [known, fresh] = paths_.emplace(name_of(path), path);
      if (!fresh && !known->second.ends_with(path)) known->second = known->first;
      continue;
    }
    // The template comes after what the renderer puts before it, which has the same name.
    lines_.insert_or_assign(fmt::format("{}:{}", name_of(path), number), std::string(line));
    ++number;
  }
}

std::string_view SourceLines::at(std::string_view place) const {
  const auto found = lines_.find(place);
  return found == lines_.end() ? std::string_view() : found->second;
}

std::string SourceLines::with_folder(std::string_view place) const {
  const auto colon = place.rfind(':');
  if (colon == std::string_view::npos) return std::string(place);
  const auto path = paths_.find(place.substr(0, colon));
  if (path == paths_.end()) return std::string(place);
  return path->second + std::string(place.substr(colon));
}

}  // namespace kiln::tools
