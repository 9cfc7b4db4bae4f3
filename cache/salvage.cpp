// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/salvage.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "cache/sqlite.hpp"
#include "cache/trial_rows.hpp"

namespace kiln {
namespace {

constexpr int kBusyTimeoutMs = 5000;
/// A row takes more bytes than this, so a file cannot hold more rows.
constexpr std::int64_t kFewestRowBytes = 64;

/// Runs `read`; false when damage kept it from its end.
template <class Read>
bool unless_damaged(const Read& read) {
  try {
    read();
    return true;
  } catch (const sqlite::DatabaseError& error) {
    if (error.cause() != sqlite::Cause::damaged) throw;
    return false;
  }
}

/// No row has a larger number. The path to the last row may be what is damaged.
std::int64_t largest_number(const sqlite::Connection& connection, const std::string& path) {
  const auto most = static_cast<std::int64_t>(std::filesystem::file_size(path)) / kFewestRowBytes;
  std::int64_t largest = most;
  unless_damaged([&] { largest = connection.integer("SELECT max(seq) FROM trials"); });
  return std::min(largest, most);
}

}  // namespace

std::vector<Trial> salvage_trials(const std::string& path) {
  sqlite::Connection connection(path, sqlite::Connection::Access::query, kBusyTimeoutMs);
  connection.ignore_programs_in_schema();
  const std::int64_t largest = largest_number(connection, path);
  std::set<std::string> disowned;
  TrialReader reader(disowned);
  std::vector<Trial> trials;
  for (std::int64_t number = 1; number <= largest; ++number) {
    unless_damaged([&] {
      auto row = connection.prepare(select_trials() + " WHERE t.seq = ?");
      row.bind(number);
      if (!row.step()) return;
      if (auto trial = reader.read(row)) trials.push_back(std::move(*trial));
    });
  }
  return trials;
}

}  // namespace kiln
