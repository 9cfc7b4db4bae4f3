// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kiln::tools {

/// Text in columns: two spaces between, numbers to the right, no lines drawn, so that it can be
/// read by a person and cut by awk.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One cell for each column; missing ones are empty. Made printable() on one line.
  void add_row(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// The title line and the rows, each ended by a newline and without trailing spaces.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// "  label      value" lines, for one thing with many facts. Values are made printable(); their
/// further lines stay in their column.
class FactSheet {
 public:
  void add(std::string label, std::string value);
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::pair<std::string, std::string>> facts_;
};

}  // namespace kiln::tools
