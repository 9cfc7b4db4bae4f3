// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/session/ledger.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln {

/// The last phase: the best few candidates run interleaved, so that clock changes affect all of
/// them alike, and each gets a further trial with its new time. Beside the fastest there are some
/// that are unlike them: what is fastest in a short measurement need not be where others keep
/// the device at its power limit.
class Finalists {
 public:
  Finalists(const SessionContext& context, SessionLedger& ledger)
      : context_(context), ledger_(ledger) {}

  /// Remembers the job of a candidate that may become a finalist, so that it need not be compiled
  /// again. `device_s`: how long the device had it to get to the trial.
  void keep(const PreparedCandidate& prepared, const Trial& trial, double device_s);

  /// Compares as many as the policy says within `seconds`. Returns their new trials, best first;
  /// none if fewer than two codes succeeded or too little time is left. Candidates with the code of
  /// one of them share its new time.
  [[nodiscard]] std::vector<Trial> compare(Evaluator& evaluator, Compiler& compiler,
                                           const std::vector<ProblemCase>& cases, double seconds);

 private:
  /// What runs for a candidate.
  struct Entry {
    EvaluationJob job;
    std::string code_digest;
    double value = 0.0;          ///< SessionLedger::value_of()
    double preparation_s = 0.0;  ///< for loading and verifying
  };
  /// What is compared, and the trial that each job stands for.
  struct Contest {
    ComparisonRequest request;
    std::vector<Trial> trials;
  };
  [[nodiscard]] std::vector<Trial> choose(double seconds) const;
  /// Those of the finalists that compile, each code once.
  [[nodiscard]] Contest prepare(std::vector<Trial> finalists, Compiler& compiler,
                                const std::vector<ProblemCase>& cases);
  /// Nothing if the device was not ready in time, the session stops, or a worker ended.
  [[nodiscard]] std::optional<Comparison> run(Evaluator& evaluator,
                                              const ComparisonRequest& request, double seconds);
  /// Stores the new time of a finalist, and of the candidates that have its code.
  Trial record(Trial trial, const ComparisonRow& row, const ComparisonRow& first);
  void add_unlike(std::vector<Trial>& chosen, std::span<const Trial> others, double seconds) const;
  [[nodiscard]] double batch_s(const Trial& trial) const;
  [[nodiscard]] double preparation_s(const Trial& trial) const;
  [[nodiscard]] int affordable_rounds(const std::vector<Trial>& trials, double seconds) const;
  [[nodiscard]] std::size_t affordable_energies(double seconds) const;
  [[nodiscard]] std::size_t wanted() const;

  const SessionContext& context_;
  SessionLedger& ledger_;
  std::map<Candidate, Entry> entries_;
};

}  // namespace kiln
