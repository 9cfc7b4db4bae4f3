// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cache/lookup/contender.hpp"
#include "cache/records.hpp"

namespace kiln {

/// What look-ups and lists need to know of the trials of one problem on one device, so that they
/// read one row instead of all trials. It is derived from the trials, and stored with every change
/// of them.
struct Shortlist {
  std::uint64_t trials = 0;
  std::uint64_t ok = 0;                          ///< trials whose outcome is ok
  Provenance provenance = Provenance::imported;  ///< the strongest of any trial
  std::vector<Contender> contenders;             ///< shortlist_of() all; in the order of better()
  std::vector<Contender> by_energy = {};         ///< the same for that objective
  std::vector<Contender> by_energy_delay = {};   ///< likewise
  /// The list for the objective; null for an expression, of which there is none.
  [[nodiscard]] const std::vector<Contender>* list(const Objective& objective) const;
  friend bool operator==(const Shortlist&, const Shortlist&) = default;
};

/// The objectives that have a list in every shortlist, and where.
struct ListedObjective {
  std::string_view name;
  std::vector<Contender> Shortlist::*list;
};
inline constexpr std::array<ListedObjective, 3> kListedObjectives{
    {{"time", &Shortlist::contenders},
     {"energy", &Shortlist::by_energy},
     {"energy_delay", &Shortlist::by_energy_delay}}};

/// The shortlist of these trials of one problem and device.
[[nodiscard]] Shortlist shortlist_of(const std::vector<Trial>& trials);

/// A JSON array with an array for each contender, for the column that holds them, and back. Throws
/// Error(usage) for anything else.
[[nodiscard]] std::string contenders_text(const std::vector<Contender>& contenders);
[[nodiscard]] std::vector<Contender> parse_contenders(std::string_view text);

/// How many problems of one kind there are on one device, and a mark of their identity: a look-up
/// that goes through them sees whether one is missing.
struct Family {
  std::int64_t problems = 0;
  std::uint64_t mark = 0;  ///< XOR over the first 64 bits of the digest of each one's sizes
  void add(std::string_view sizes);
  friend bool operator==(const Family&, const Family&) = default;
};

}  // namespace kiln
