// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cache/sqlite.hpp"
#include "cache/store.hpp"
#include "cache/where_clause.hpp"

namespace kiln {

/// One connection and what it has noticed. Shared by the store_*.cpp files.
class TuningStore::Impl {
 public:
  Impl(sqlite::Connection the_connection, std::string the_path, bool may_write)
      : connection(std::move(the_connection)), path(std::move(the_path)), writable(may_write) {}

  /// Throws Error(usage) when the store was opened for reading.
  void require_write() const;
  /// Sound attempts; a damaged one goes to `corrupt`.
  [[nodiscard]] std::vector<CandidateKey> attempts(const WhereClause& where);

  sqlite::Connection connection;
  std::string path;
  bool writable;
  /// Rows whose digest did not fit, by table and id, so that each counts once.
  std::set<std::string> corrupt;
};

}  // namespace kiln
