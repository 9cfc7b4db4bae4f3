// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/emulated/decode/program.hpp"

namespace kiln::emulated {

/// Where lanes of one warp that parted have to meet again. A *join* knows which lanes have to come
/// to its place, and the join around it, if it stands within one. Joins are named by numbers; a
/// number is used again once its lanes have met.
class Joins {
 public:
  static constexpr int kNone = -1;
  static constexpr std::uint32_t kNowhere = 0xffffffffU;

  [[nodiscard]] int make(std::uint32_t pc, int parent, LaneMask expected);
  [[nodiscard]] std::uint32_t pc(int join) const { return join < 0 ? kNowhere : at(join).pc; }
  [[nodiscard]] int parent(int join) const { return at(join).parent; }
  /// Lanes have come to it.
  void arrive(int join, LaneMask lanes) { at(join).arrived |= lanes; }
  /// It waits for these lanes no longer.
  void drop(int join, LaneMask lanes);
  /// Whether everybody has come. The join is free then, and `met` are its lanes: none if all of
  /// them were dropped.
  [[nodiscard]] bool close_if_complete(int join, LaneMask& met);
  /// The innermost join around both, or kNone.
  [[nodiscard]] int common(int left, int right) const;

 private:
  struct Join {
    std::uint32_t pc = 0;
    int parent = kNone;
    LaneMask expected = 0;
    LaneMask arrived = 0;
    bool used = false;
  };
  [[nodiscard]] Join& at(int join) { return joins_[static_cast<std::size_t>(join)]; }
  [[nodiscard]] const Join& at(int join) const { return joins_[static_cast<std::size_t>(join)]; }

  std::vector<Join> joins_;
};

}  // namespace kiln::emulated
