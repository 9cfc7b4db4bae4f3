// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/model/device_profile.hpp"
#include "tuner/session/ledger.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/search.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln {

/// Candidates that need no compiler: the best so far with another value of a tunable that is known
/// only at launch. They occupy the device while it would wait for code. Those that the static model
/// expects to be slower by far are left to the strategy. Where nothing is left, two of their values
/// are changed at a time.
class LaunchVariants {
 public:
  /// `cases`: the problem and what candidates are verified on beside it.
  LaunchVariants(const SessionContext& context, const SearchSpace& space,
                 const std::vector<ProblemCase>& cases);

  /// Remembers the code of a candidate that ran, as long as it is among the best.
  void keep(const PreparedCandidate& prepared, const SessionLedger& ledger);
  /// The next one, of the best candidate that has any, taken from `proposals`; nothing if all those
  /// of the best were tried.
  [[nodiscard]] std::optional<PreparedCandidate> next(const SessionLedger& ledger,
                                                      ProposalQueue& proposals);

 private:
  [[nodiscard]] std::string code_of(const Candidate& candidate) const;
  /// The launches of a candidate that are not known to be taken.
  struct Launches {
    int steps = 0;             ///< how far from it they are
    std::vector<Config> left;  ///< the most promising last
  };
  [[nodiscard]] std::optional<Config> take_launch(const Candidate& candidate, int steps,
                                                  ProposalQueue& proposals);
  [[nodiscard]] std::vector<Config> launches_of(const Candidate& candidate, int steps) const;

  const SessionContext& context_;
  const SearchSpace& space_;
  const std::vector<ProblemCase>& cases_;
  DeviceProfile profile_;
  std::map<Candidate, Launches> launches_;
  std::map<std::string, PreparedCandidate> known_;  ///< by code_of()
};

}  // namespace kiln
