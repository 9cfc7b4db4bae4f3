// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/output/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "templates/printable.hpp"

namespace kiln::tools {
namespace {

void end_line(std::string& text) {
  text.erase(text.find_last_not_of(' ') + 1);
  text += '\n';
}

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  // A line break in a name would make a row of its own.
  for (auto& cell : cells) cell = printable(cell, LineBreaks::escape);
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = columns_[c].title.size();
    for (const auto& row : rows_) width = std::max(width, row[c].size());
    widths.push_back(width);
  }
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) line += "  ";
      line += columns_[c].align == Align::left ? fmt::format("{:<{}}", cell_of(c), widths[c])
                                               : fmt::format("{:>{}}", cell_of(c), widths[c]);
    }
    end_line(line);
    text += line;
  };
  add_line([&](std::size_t c) -> const std::string& { return columns_[c].title; });
  for (const auto& row : rows_) {
    add_line([&](std::size_t c) -> const std::string& { return row[c]; });
  }
  return text;
}

void FactSheet::add(std::string label, std::string value) {
  facts_.emplace_back(std::move(label), printable(value));
}

std::string FactSheet::text() const {
  std::size_t width = 0;
  for (const auto& [label, value] : facts_) width = std::max(width, label.size());
  std::string text;
  for (const auto& [label, value] : facts_) {
    // Further lines of a value stay in its column, where none can be taken for another fact.
    std::string_view rest = value;
    for (std::string_view head = label;; head = "") {
      const auto end = rest.find('\n');
      std::string line = fmt::format("  {:<{}}  {}", head, width, rest.substr(0, end));
      end_line(line);
      text += line;
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
  }
  return text;
}

}  // namespace kiln::tools
