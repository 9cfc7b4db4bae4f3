// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cache/records.hpp"

namespace kiln {

/// What "best" compares: the twin of the generated columns of table `trials`. SQL and C++ do the
/// same IEEE arithmetic with constants that binary fractions hold exactly, so they always agree.
struct Rank {
  int provenance = 0;
  double cost = 0.0;
  double noise = 0.0;
  int registers = 0;
};

/// What a time counts for that was not taken in turns with its rivals.
inline constexpr double kAloneFactor = 1.125;

[[nodiscard]] Rank rank_of(const Trial& trial);
/// Whether the trial ties with the leader of its set: their intervals overlap.
[[nodiscard]] bool ties_with(const Rank& rank, const Rank& leader);
/// Order among tied trials.
[[nodiscard]] bool preferred_in_tie(const Trial& left, const Trial& right);

/// Whether it can keep its candidate from being best: it was wrong, or took its process with it.
[[nodiscard]] bool speaks_against(const Trial& trial);

/// Who decides: the first by better(), and the one preferred among those that tie with it, which
/// is the best. Both null when no trial is eligible.
struct Standing {
  const Trial* leader = nullptr;
  const Trial* best = nullptr;
};
[[nodiscard]] Standing standing_of(const std::vector<Trial>& trials);

}  // namespace kiln
