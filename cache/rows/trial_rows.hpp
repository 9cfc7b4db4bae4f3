// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cache/store/sqlite.hpp"
#include "cache/store/store.hpp"

namespace kiln {

/// SELECT with the columns that TrialReader expects; tables t (trials), p, d, m (templates), e.
[[nodiscard]] const std::string& select_trials(const sqlite::Connection& connection);

/// Turns rows of select_trials() into trials, leaving out those whose digest does not match.
class TrialReader {
 public:
  /// Damaged rows are added to `corrupt`.
  explicit TrialReader(std::set<std::string>& corrupt) : corrupt_(corrupt) {}
  [[nodiscard]] std::optional<Trial> read(const sqlite::Statement& row);

 private:
  [[nodiscard]] Trial decode(const sqlite::Statement& row);
  std::set<std::string>& corrupt_;
  std::map<std::string, Problem> problems_;  ///< already parsed, by canonical text
};

enum class InsertResult : std::uint8_t {
  written,
  repaired,  ///< replaced a damaged row
  present,
  conflict
};
/// Adds one checked trial, inside the caller's transaction, and clears its attempt.
InsertResult insert_trial(sqlite::Connection& connection, const Trial& trial);

/// "[1200.5,1199]" and back. Throws Error(usage) for anything else.
[[nodiscard]] std::string samples_text(const std::vector<double>& samples);
[[nodiscard]] std::vector<double> parse_samples(const std::string& text);

}  // namespace kiln
