// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cache/lookup/shortlist.hpp"
#include "cache/store/sqlite.hpp"

namespace kiln {

/// Row numbers of a problem and a device.
struct Pair {
  std::int64_t problem_id = 0;
  std::int64_t device_id = 0;
  friend auto operator<=>(const Pair&, const Pair&) = default;
};

/// What a pair's row numbers refer to.
struct Subject {
  Problem problem;
  DeviceClass device;
};
/// Nothing when a row that the pair refers to is missing or damaged.
[[nodiscard]] std::optional<Subject> subject_of(const sqlite::Connection& connection, Pair pair);

/// The device class of that row; nothing if there is none.
[[nodiscard]] std::optional<DeviceClass> device_of(const sqlite::Connection& connection,
                                                   std::int64_t id);

/// All trials of the pair, oldest first; damaged ones are left out and added to `corrupt`.
[[nodiscard]] std::vector<Trial> trials_of(const sqlite::Connection& connection, Pair pair,
                                           std::set<std::string>& corrupt);

/// The stored shortlist of the pair, which is that of `problem` and `device`. Nothing if it is
/// missing, out of date or damaged; a damaged one is added to `corrupt`.
[[nodiscard]] std::optional<Shortlist> find_shortlist(const sqlite::Connection& connection,
                                                      Pair pair, const Problem& problem,
                                                      const DeviceClass& device,
                                                      std::set<std::string>& corrupt);

/// The stored family of that kind on that device, as find_shortlist() finds shortlists.
[[nodiscard]] std::optional<Family> find_family(const sqlite::Connection& connection,
                                                const std::string& kind, std::int64_t device_id,
                                                const DeviceClass& device,
                                                std::set<std::string>& corrupt);

/// Looks for families whose kind or device is not what it was when they were stored.
void check_families(const sqlite::Connection& connection, std::set<std::string>& corrupt);

/// The functions below change rows, inside the caller's transaction.

/// Builds the pair's shortlist from its trials.
void rebuild_shortlist(const sqlite::Connection& connection, Pair pair);
/// Updates the pair's shortlist after these trials, at least one, were stored: the same result
/// as rebuild_shortlist(), in a time that does not grow with the number of those stored before.
void add_to_shortlist(const sqlite::Connection& connection, Pair pair,
                      const std::vector<Trial>& trials);
/// Whether any pair's shortlist is missing or out of date, or a family does not match.
[[nodiscard]] bool shortlists_need_mending(const sqlite::Connection& connection);
void repair_shortlists(const sqlite::Connection& connection);

/// Every pair that has trials, in order. Prune may leave one that has none any more.
[[nodiscard]] std::vector<Pair> all_pairs(const sqlite::Connection& connection);

}  // namespace kiln
