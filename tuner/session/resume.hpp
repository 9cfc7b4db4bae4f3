// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "tuner/session/context.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln {

/// What earlier sessions left for this one.
struct Inheritance {
  /// Latest outcome of every candidate of the space that has one.
  std::vector<Trial> known;
  /// Candidates that a killed run had on the device and that were never tried again.
  std::vector<Candidate> unfinished;
};

/// Marks sessions that were killed as interrupted and collects what they left. A candidate is
/// included only while its template is unchanged.
///
/// An unfinished candidate may have killed its run (even with the whole machine) or merely have
/// been running when it was killed. It gets one more try, and just before it a trial with outcome
/// `crashed` (unfinished_trial): if that try ends without an outcome as well, this trial stays its
/// last one, and no later session touches it.
[[nodiscard]] Inheritance inherit(const SessionContext& context, const SearchSpace& space);

[[nodiscard]] Trial unfinished_trial(const SessionContext& context, const Candidate& candidate);

}  // namespace kiln
