// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/emulated/device/emulated_device.hpp"
#include "tuner/session/prepared_candidate.hpp"

namespace kiln::tools {

/// What the instructions of one source line did, in the blocks that were run.
struct LineProfile {
  std::string place;   ///< "async_copy.cuh:38"
  std::string caller;  ///< where the kernel calls what the line is a part of; "" when it is its own
  emulated::InstructionFacts facts;
  std::uint64_t conflicts = 0;       ///< wavefronts beyond the fewest, by instruction
  std::uint64_t excess_sectors = 0;  ///< beyond the fewest, likewise

  /// Lanes that share words may need less than the fewest for as many bytes; that makes up for no
  /// other instruction's waste.
  void add(const emulated::InstructionFacts& instruction);
  /// What lines are ordered by: instructions issued, wavefronts and sectors moved, one each.
  [[nodiscard]] std::uint64_t weight() const {
    return facts.issues + facts.shared_wavefronts + facts.global_sectors;
  }
};

/// One launch of a candidate, of which some clusters were run on the emulated GPU and counted.
struct LaunchProfile {
  LaunchGeometry geometry;
  emulated::FactSheet facts;
  std::uint64_t blocks = 0;        ///< of the whole grid
  std::uint64_t launches = 1;      ///< of this kernel in a run
  std::vector<LineProfile> lines;  ///< heaviest first
  LineProfile total;
  emulated::Prediction prediction;

  /// How many times what was counted the whole launch is.
  [[nodiscard]] double scale() const {
    return facts.blocks == 0 ? 0.0
                             : static_cast<double>(blocks) / static_cast<double>(facts.blocks);
  }
};

/// Runs `clusters` clusters (0: all) of each launch of the candidate on operands of the problem's
/// full size, filled with zeros: what is counted does not depend on values in a kernel whose
/// control flow does not. Throws Error(device) when the candidate cannot be loaded or faults,
/// Error(usage) when the operands do not fit.
[[nodiscard]] std::vector<LaunchProfile> profile_candidate(EmulatedDevice& device,
                                                           const PreparedCandidate& prepared,
                                                           const ProblemCase& problem,
                                                           int clusters);

/// The lines of a fact sheet, heaviest first, and all of it as if it were one.
[[nodiscard]] std::vector<LineProfile> lines_of(const emulated::FactSheet& facts);
[[nodiscard]] LineProfile total_of(const emulated::FactSheet& facts);

}  // namespace kiln::tools
