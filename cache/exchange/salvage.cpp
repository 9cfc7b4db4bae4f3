// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/salvage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cache/schema/schema.hpp"

namespace kiln {
namespace {

using sqlite::Connection;
using sqlite::Statement;

constexpr std::int64_t kLargestKey = std::int64_t{1} << 62;

/// Copies the rows of one table into one that has the same columns.
class TableCopy {
 public:
  TableCopy(const Connection& from, Connection& to, std::string_view table)
      : from_(from), to_(to), table_(table) {
    std::vector<std::string> names;
    std::vector<std::string> marks;
    std::set<std::string> known;
    Statement of_source = from.prepare(fmt::format("PRAGMA table_info({})", table));
    while (of_source.step()) known.insert(of_source.text(1));
    Statement columns = to.prepare(fmt::format("PRAGMA table_info({})", table));
    while (columns.step()) {                           // all but the generated ones
      if (!known.contains(columns.text(1))) continue;  // an older schema's
      names.push_back(columns.text(1));
      types_.push_back(columns.text(2));
      marks.emplace_back("?");
    }
    key_ = names.front();
    columns_ = fmt::format("{}", fmt::join(names, ", "));
    insert_ = fmt::format("INSERT OR IGNORE INTO {} ({}) VALUES ({})", table, columns_,
                          fmt::join(marks, ", "));
  }

  /// From the smallest key upwards or from the largest downwards. Where reading fails, it goes on
  /// beyond; how many keys a page hides is unknown, so steps grow with what was skipped already,
  /// and the other direction reads what they miss on the far side. False when reading failed.
  bool copy(bool upwards) {
    const std::string select =
        fmt::format("SELECT {0} FROM {1} NOT INDEXED WHERE {2} {3} ? ORDER BY {2} {4}", columns_,
                    table_, key_, upwards ? ">=" : "<=", upwards ? "ASC" : "DESC");
    std::int64_t next = upwards ? 1 : kLargestKey;
    std::int64_t skipped = 0;
    while (next > 0 && next <= kLargestKey) {
      const std::int64_t begin = next;
      try {
        Statement rows = from_.prepare(select);
        rows.bind(next);
        while (rows.step()) {
          // In a damaged page keys may be in any order.
          const std::int64_t key = std::clamp<std::int64_t>(rows.integer(0), 0, kLargestKey);
          next = upwards ? std::max(next, key + 1) : std::min(next, key - 1);
          insert(rows);
        }
        return begin == (upwards ? 1 : kLargestKey);
      } catch (const sqlite::DatabaseError& error) {
        if (!error.may_be_local()) throw;
      }
      if (next != begin) {  // the next one is tried by itself before it is skipped
        skipped = 0;
        continue;
      }
      const std::int64_t step = 1 + skipped / 16;
      skipped += step;
      next += upwards ? step : -step;
    }
    return false;
  }

 private:
  /// Leaves out what violates a constraint of the table or is there already.
  void insert(const Statement& row) {
    Statement statement = to_.prepare(insert_);
    for (int column = 0; column < static_cast<int>(types_.size()); ++column) {
      const std::string& type = types_[static_cast<std::size_t>(column)];
      if (row.is_null(column)) {
        statement.bind(std::nullopt);
      } else if (type == "INTEGER") {
        statement.bind(row.integer(column));
      } else if (type == "REAL") {
        statement.bind(row.real(column));
      } else {
        statement.bind(row.text(column));
      }
    }
    statement.run();
  }

  const Connection& from_;
  Connection& to_;
  std::string_view table_;
  std::string key_;
  std::string columns_;
  std::vector<std::string> types_;  ///< of the columns
  std::string insert_;
};

}  // namespace

sqlite::Connection salvage(const sqlite::Connection& connection) {
  const sqlite::WorkLimit limit(connection, reading_seconds(connection));
  const sqlite::Snapshot snapshot(connection);
  Connection rows = empty_database();
  // A row whose problem is lost is counted as damaged when it is read, and triggers would keep a
  // list of what must be rebuilt, which here is everything.
  rows.execute(
      "PRAGMA foreign_keys = OFF; DROP TRIGGER IF EXISTS trials_added;"
      "DROP TRIGGER IF EXISTS trials_changed; DROP TRIGGER IF EXISTS trials_removed");
  sqlite::Transaction transaction(rows);
  for (const std::string_view table : kRowTables) {
    TableCopy copy(connection, rows, table);
    if (!copy.copy(true)) (void)copy.copy(false);
  }
  transaction.commit();
  return rows;
}

}  // namespace kiln
