// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "cache/objective.hpp"
#include "cache/records.hpp"

namespace kiln {

/// What "best" compares. By time it is the twin of the generated columns of table `trials`. SQL and
/// C++ do the same IEEE arithmetic with constants that binary fractions represent exactly, so they
/// agree.
struct Rank {
  int provenance = 0;
  double cost = 0.0;
  double noise = 0.0;
  int registers = 0;
  friend bool operator==(const Rank&, const Rank&) = default;
};

/// The factor on a time that was not interleaved with its rivals: more than clocks drift under
/// load (an H200 was 13 % slower after 40 s of search), so that one kernel's early, cool time does
/// not win over the finalists' comparison. Energy drifts with the clocks.
inline constexpr double kAloneFactor = 1.25;

/// The most by which a tie may cost more than its leader, as a part of its cost. A kernel
/// measured badly overlaps with everything; being uncertain is no merit.
inline constexpr double kTieWindow = 1.0 / 64.0;

/// The cost up to which a trial may tie with this leader.
[[nodiscard]] double tie_limit(const Rank& leader);

/// Precondition: eligible().
[[nodiscard]] Rank rank_of(const Trial& trial, const Objective& objective = {});
/// Whether the trial ties with the leader of its set: their intervals overlap, and its cost is
/// within the window.
[[nodiscard]] bool ties_with(const Rank& rank, const Rank& leader);

/// Whether it can keep its candidate from being best: it was wrong, or killed its process.
[[nodiscard]] bool speaks_against(const Trial& trial);

/// Whether the device's checks found the candidate wrong, and not its results.
[[nodiscard]] bool is_check_finding(const Trial& trial);

/// Predictions that were not checked for what the device's checks found in another configuration
/// of their template.
enum class Suspects : std::uint8_t { left_out, admitted };

/// The eligible ones, in the order of better(), among trials of one problem and device, without
/// those that are disqualified: all of a candidate or code that ever gave a wrong result by the
/// same judge, those measured before their candidate crashed or hung, and suspects.
[[nodiscard]] std::vector<const Trial*> able_trials(const std::vector<Trial>& trials,
                                                    Suspects suspects = Suspects::left_out,
                                                    const Objective& objective = {});

/// Which trials decide: the first by better(), and the one preferred among those that tie with it,
/// which is the best. Both null when no trial is eligible.
struct Standing {
  const Trial* leader = nullptr;
  const Trial* best = nullptr;
};
[[nodiscard]] Standing standing_of(const std::vector<Trial>& trials,
                                   Suspects suspects = Suspects::left_out,
                                   const Objective& objective = {});

}  // namespace kiln
