// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/store/sqlite.hpp"

namespace kiln {

/// A database's statements for its tables, indexes, triggers and views, reduced to what matters:
/// without comments, spacing, the case of words and the order of a table's columns.
class SchemaText {
 public:
  /// Runs nothing of what the schema says. Throws Error(database) when it cannot be parsed.
  [[nodiscard]] static SchemaText of(const sqlite::Connection& connection);

  /// One line for each table, index or trigger that is missing, altered, or not in `own`; empty
  /// when there is none. Statistics of ANALYZE may be there. So may views, which nothing of Kiln's
  /// reads.
  [[nodiscard]] std::vector<std::string> differences_from(const SchemaText& own) const;
  /// One line for each view of `own` that is missing or altered.
  [[nodiscard]] std::vector<std::string> altered_views(const SchemaText& own) const;
  /// Whether each of the tables is here with every stored column of it that `own` has, and these
  /// are as they should be. Then rows can be read by these columns without computing anything that
  /// `own` does not know; whatever else a table contains plays no part in that.
  [[nodiscard]] bool stores_columns_of(const SchemaText& own,
                                       std::span<const std::string_view> tables) const;

 private:
  struct Object {
    std::string frame;                   ///< the statement without the columns of a table
    std::multiset<std::string> columns;  ///< and table constraints; empty for anything else
    friend bool operator==(const Object&, const Object&) = default;
  };
  [[nodiscard]] static Object parse(std::string_view sql);
  std::map<std::string, Object> objects_;  ///< by kind and name, "table trials"
  std::map<std::string, Object> views_;
};

}  // namespace kiln
