// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/measure/benchmark.hpp"

namespace kiln {

/// A vendor library's algorithms for the tuned problem.
struct Baselines {
  struct Algorithm {
    std::string label;
    std::function<DeviceStatus(const RunArguments& arguments, void* stream)> run;
  };
  std::vector<Algorithm> algorithms;
  std::string note;  ///< why there is none
};
/// `operands` are those of the tuned case; whatever else a run needs comes from the ledger.
/// `epilogue` is that of the set-up: the kernels for the problem's expression, if it has one.
using BaselineSource =
    std::function<Baselines(MemoryLedger& ledger, const OperandSet& operands,
                            const CompiledUnit& epilogue, std::int64_t workspace_bytes)>;

/// A participant in the timing: `row` receives its results.
struct Competitor {
  ComparisonRow* row = nullptr;
  TimedRun run;
};

/// How long, and against what.
struct InterleavePlan {
  int rounds = 15;
  double most_seconds = 30.0;       ///< rounds are cut to fit, but never below three
  std::size_t first_reference = 0;  ///< the fastest competitor from here on is the reference;
  std::size_t reference_count = 1;  ///< of so many
  int energy_turns = 0;             ///< of each competitor, interleaved, after the rounds
};

/// Times the competitors interleaved, so that all see the same clocks: in each round every one
/// replays one batch, in an order that rotates by one from round to round. Their energy, which
/// takes longer turns, is measured after that. Fills timing, ratio and ratio_spread of the rows,
/// and the outcome of one that fails.
void time_interleaved(Device& device, const RotatingSets& sets, const MeasurementPolicy& policy,
                      std::vector<Competitor> competitors, const InterleavePlan& plan);

}  // namespace kiln
