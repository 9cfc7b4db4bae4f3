// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "templates/device_limits.hpp"
#include "tuner/session/ledger.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln {

/// Whether any template of the space is polished: one that takes settings, and has no cost lines,
/// whose authors know what registers and occupancy their kernels need.
[[nodiscard]] bool has_polish(const SearchSpace& space);

/// The limits of registers per thread that admit one and two more resident blocks than
/// `registers` do, the larger limit first. Without those that another resource forbids, and those
/// below half of `registers`, with which a kernel mostly spills.
[[nodiscard]] std::vector<int> register_limits(const DeviceLimits& limits, int threads,
                                               int registers, std::int64_t smem_bytes);

/// What a session does between its search and its finalists: it tries the best candidates with
/// settings of the compiler (templates/space/compile_settings.hpp), first each by itself, then all
/// that made a candidate better together. No setting changes results, and each candidate is
/// verified like any other.
class Polish {
 public:
  /// How a session treats the candidates.
  struct Steps {
    /// False if the candidate was tried before, or no time is left for it.
    std::function<bool(const Candidate&)> take;
    /// Compiles it. Called from several threads.
    std::function<PreparedCandidate(const Candidate&)> prepare;
    /// Runs it and records the outcome; false if the session's end came first.
    std::function<bool(const Candidate&, const PreparedCandidate&)> decide;
    /// Whether no time is left. Thread-safe.
    std::function<bool()> must_end;
  };

  Polish(const SessionContext& context, const SessionLedger& ledger)
      : context_(context), ledger_(ledger) {}

  void run(const Steps& steps);

 private:
  [[nodiscard]] std::vector<Trial> bases() const;
  [[nodiscard]] std::vector<Config> single_settings(const Trial& base) const;
  [[nodiscard]] std::vector<Candidate> combined(const std::vector<Trial>& bases) const;
  [[nodiscard]] bool try_all(const std::vector<Candidate>& candidates, const Steps& steps) const;

  const SessionContext& context_;
  const SessionLedger& ledger_;
};

}  // namespace kiln
