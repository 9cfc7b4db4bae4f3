// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/store/sqlite.hpp"

namespace kiln {

inline constexpr int kSchemaVersion = 2;
inline constexpr std::int64_t kTuningApplicationId = 0x4b696c6e;      ///< "Kiln"
inline constexpr std::int64_t kUnreleasedApplicationId = 0x4b494c4e;  ///< "KILN": schemas before 1

/// The tables that hold trials and sessions, each after those that it refers to. The first column
/// of each is its INTEGER PRIMARY KEY.
inline constexpr std::array<std::string_view, 6> kRowTables{"problems",     "devices",  "templates",
                                                            "environments", "sessions", "trials"};

/// Floating-point operations of a problem, if its operation is known.
[[nodiscard]] std::optional<double> flops_of(const std::string& kind, const std::string& sizes);

/// Fills a fresh file. One transaction.
void create_schema(sqlite::Connection& connection);
/// The schema of the file.
[[nodiscard]] int schema_version_of(const sqlite::Connection& connection);
/// Whether the file has what schema 2 added: readers name its columns only then.
[[nodiscard]] bool has_energy(const sqlite::Connection& connection);
/// Brings a file of an older schema, which require_own_schema() accepted, to kSchemaVersion. One
/// transaction; does nothing if another process was faster.
void upgrade_schema(sqlite::Connection& connection);
/// A tuning database in memory without rows.
[[nodiscard]] sqlite::Connection empty_database();
/// Throws Error(database) unless the file is a tuning database of this schema or an older one.
void require_known_schema(const sqlite::Connection& connection);
/// Throws Error(database) unless tables, indexes and triggers are, to the letter, those that Kiln
/// creates for the file's schema: what a generated column computes and what an index leaves out
/// decides answers, and takes as long as its author likes.
void require_own_schema(const sqlite::Connection& connection);
/// For reading the rows of such a file nevertheless, column by column: what is foreign in it, in
/// words, "" if nothing is. Throws like require_own_schema() if a column of kRowTables that
/// Kiln stores, and so would be read, is missing or different.
[[nodiscard]] std::string foreign_schema(const sqlite::Connection& connection);
/// Views for people that differ from Kiln's, one line each.
[[nodiscard]] std::vector<std::string> altered_views(const sqlite::Connection& connection);

}  // namespace kiln
