// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kiln {

/// How candidates are timed. Part of a result's environment: its canonical text is stored.
struct MeasurementPolicy {
  bool cold = true;  ///< rotate buffers so that the footprint exceeds L2 `l2_multiple` times
  double l2_multiple = 3.0;
  int samples = 15;             ///< replays of the batch per candidate
  double batch_ms = 2.0;        ///< target length of one batch
  double behind_factor = 1.03;  ///< racing: the first samples are enough of a candidate slower than
                                ///< this times the best so far
  double drop_factor = 1.5;     ///< slower than this times the best so far, it is hopeless
  int finalists = 16;           ///< re-measured interleaved at the end: the fastest
  int unlike_finalists = 16;    ///< and this many that differ most from them
  int finalist_rounds = 15;
  bool energy = false;          ///< measure the energy, too, of what is not hopelessly slow
  double energy_probe_s = 0.2;  ///< at least so long in the search,
  double energy_turn_s = 0.5;   ///< and in each turn of a finalist
  int energy_turns = 3;
  std::string data;  ///< data_text() of the tuned case
  /// "cold l2x3 samples=15 batch=2ms graph"
  [[nodiscard]] std::string canonical() const;
};

/// What a trial stores that was not measured but predicted by that model: the data count as well.
[[nodiscard]] std::string policy_of_model(std::string_view model, const MeasurementPolicy& policy);

/// Of a policy's canonical text, MeasurementPolicy::data: which files the data came from. Times and
/// verdicts with other data are not those that a session looks for.
[[nodiscard]] std::string_view data_of_policy(std::string_view canonical);

}  // namespace kiln
