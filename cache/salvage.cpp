// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/salvage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/schema.hpp"

namespace kiln {
namespace {

using sqlite::Connection;
using sqlite::Statement;

/// A row takes more bytes than this: so many rows at most can lie where nothing can be read.
constexpr std::int64_t kFewestRowBytes = 128;
constexpr std::int64_t kLargestKey = std::int64_t{1} << 62;

/// Copies the rows of one table into one that has the same columns.
class TableCopy {
 public:
  TableCopy(const Connection& from, Connection& to, std::string_view table)
      : from_(from), to_(to), table_(table) {
    std::vector<std::string> names;
    std::vector<std::string> marks;
    Statement columns = to.prepare(fmt::format("PRAGMA table_info({})", table));
    while (columns.step()) {  // all but the generated ones
      names.push_back(columns.text(1));
      types_.push_back(columns.text(2));
      marks.emplace_back("?");
    }
    key_ = names.front();
    columns_ = fmt::format("{}", fmt::join(names, ", "));
    insert_ = fmt::format("INSERT OR IGNORE INTO {} ({}) VALUES ({})", table, columns_,
                          fmt::join(marks, ", "));
  }

  /// From the smallest key or from the largest; where reading fails, it goes on with the next key.
  /// False when it failed anywhere.
  bool copy(bool upwards, std::int64_t most_failures) {
    const std::string select =
        fmt::format("SELECT {0} FROM {1} NOT INDEXED WHERE {2} {3} ? ORDER BY {2} {4}", columns_,
                    table_, key_, upwards ? ">=" : "<=", upwards ? "ASC" : "DESC");
    std::int64_t next = upwards ? 1 : kLargestKey;
    for (std::int64_t failures = 0; failures <= most_failures; ++failures) {
      const std::int64_t begin = next;
      try {
        Statement rows = from_.prepare(select);
        rows.bind(next);
        while (rows.step()) {
          // In a damaged page keys may stand in any order.
          const std::int64_t key = std::clamp<std::int64_t>(rows.integer(0), 0, kLargestKey);
          next = upwards ? std::max(next, key + 1) : std::min(next, key - 1);
          insert(rows);
        }
        return failures == 0;
      } catch (const sqlite::DatabaseError& error) {
        if (!error.may_be_local()) throw;
      }
      // After rows that were read, the next one is tried by itself before it is given up.
      if (next == begin) next += upwards ? 1 : -1;
    }
    return false;
  }

 private:
  /// Leaves out what breaks a rule of the table or is there already.
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

sqlite::Connection salvage(const Connection& connection, int version) {
  const sqlite::WorkLimit limit(connection, reading_seconds(connection));
  const sqlite::Snapshot snapshot(connection);
  const std::int64_t bytes =
      connection.integer("PRAGMA page_count") * connection.integer("PRAGMA page_size");
  Connection rows = empty_database(version);
  // A row whose problem is lost is counted as damaged when it is read, and triggers would keep a
  // list of what must be made anew, which here is all.
  rows.execute(
      "PRAGMA foreign_keys = OFF; DROP TRIGGER IF EXISTS trials_added;"
      "DROP TRIGGER IF EXISTS trials_changed; DROP TRIGGER IF EXISTS trials_removed");
  sqlite::Transaction transaction(rows);
  for (const std::string_view table : kRowTables) {
    TableCopy copy(connection, rows, table);
    const std::int64_t most_failures = bytes / kFewestRowBytes;
    // Keys that a damaged page made up may have led past rows that the other direction meets.
    if (!copy.copy(true, most_failures)) (void)copy.copy(false, most_failures);
  }
  transaction.commit();
  return rows;
}

}  // namespace kiln
