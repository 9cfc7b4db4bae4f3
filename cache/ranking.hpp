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
  friend bool operator==(const Rank&, const Rank&) = default;
};

/// What a time counts for that was not taken in turns with its rivals: more than clocks drift under
/// load (an H200 was 13 % slower after 40 s of search), so that one kernel's early, cool time does
/// not win over the finalists' comparison.
inline constexpr double kAloneFactor = 1.25;

/// The most by which a tie may cost more than its leader, as a part of the leader's cost. A kernel
/// measured badly overlaps with everything; being uncertain is no merit.
inline constexpr double kTieWindow = 1.0 / 64.0;

/// The cost up to which a trial may tie with this leader.
[[nodiscard]] double tie_limit(const Rank& leader);

[[nodiscard]] Rank rank_of(const Trial& trial);
/// Whether the trial ties with the leader of its set: their intervals overlap, and its cost lies
/// within the window.
[[nodiscard]] bool ties_with(const Rank& rank, const Rank& leader);

/// Whether it can keep its candidate from being best: it was wrong, or took its process with it.
[[nodiscard]] bool speaks_against(const Trial& trial);

/// The eligible ones, in the order of better(), but without those that something speaks against,
/// among trials of one problem and device: a candidate or code that ever gave a wrong result, and
/// what was measured before its candidate crashed or hung.
[[nodiscard]] std::vector<const Trial*> able_trials(const std::vector<Trial>& trials);

/// Which trials decide: the first by better(), and the one preferred among those that tie with it,
/// which is the best. Both null when no trial is eligible.
struct Standing {
  const Trial* leader = nullptr;
  const Trial* best = nullptr;
};
[[nodiscard]] Standing standing_of(const std::vector<Trial>& trials);

}  // namespace kiln
