// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/emulated/check/race_clocks.hpp"
#include "runtime/emulated/decode/program.hpp"

namespace kiln::emulated {

/// What lanes of one warp have learned by themselves, from an mbarrier or an atomic, and the others
/// have not: beyond the clock that all lanes of the warp have in common. Nearly always there is
/// none, and else a part or two; there are 32 at most.
class LaneNews {
 public:
  [[nodiscard]] bool empty() const { return parts_.empty(); }
  void clear() { parts_.clear(); }

  void learn(LaneMask lanes, const VectorClock& clock) {
    const std::size_t known = parts_.size();
    LaneMask fresh = lanes;
    for (std::size_t i = 0; i < known; ++i) {
      const LaneMask both = parts_[i].lanes & lanes;
      if (both == 0) continue;
      fresh &= ~both;
      if (both != parts_[i].lanes) {
        parts_[i].lanes &= ~both;
        parts_.push_back({both, parts_[i].clock});
        parts_.back().clock.join(clock);
      } else {
        parts_[i].clock.join(clock);
      }
    }
    if (fresh != 0) parts_.push_back({fresh, clock});
  }

  /// Those lanes that know what an agent did up to a step of its own.
  [[nodiscard]] LaneMask knowing(std::size_t agent, std::uint32_t clock) const {
    LaneMask lanes = 0;
    for (const Part& part : parts_) {
      if (part.clock[agent] >= clock) lanes |= part.lanes;
    }
    return lanes;
  }

  /// Adds what any of the lanes knows.
  void add_to(VectorClock& clock, LaneMask lanes) const {
    for (const Part& part : parts_) {
      if ((part.lanes & lanes) != 0) clock.join(part.clock);
    }
  }

  /// All lanes know that much now, and it is no news any more.
  void forget(const VectorClock& known) {
    std::erase_if(parts_, [&](const Part& part) { return known.covers(part.clock); });
  }

  /// The lanes have synchronised with each other: each knows what any of them does.
  void share(LaneMask lanes) {
    if (std::none_of(parts_.begin(), parts_.end(),
                     [&](const Part& part) { return (part.lanes & lanes) != 0; })) {
      return;
    }
    Part all{lanes, {}};
    add_to(all.clock, lanes);
    for (Part& part : parts_) part.lanes &= ~lanes;
    std::erase_if(parts_, [](const Part& part) { return part.lanes == 0; });
    parts_.push_back(std::move(all));
  }

 private:
  struct Part {
    LaneMask lanes = 0;
    VectorClock clock;
  };
  std::vector<Part> parts_;  ///< no lane is in two
};

}  // namespace kiln::emulated
