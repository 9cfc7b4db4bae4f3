// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/engine/lane_loops.hpp"

#include "runtime/emulated/engine/copy_word.hpp"

namespace kiln::emulated {
namespace {

template <class Word>
void blend_words(std::byte* to, const std::byte* from, LaneMask active) {
  alignas(64) Word merged[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const bool taken = (active & kLaneBit[i]) != 0;
    const Word written = get<Word>(from, i);
    const Word kept = get<Word>(to, i);
    merged[i] = taken ? written : kept;
  }
  std::memcpy(to, merged, sizeof merged);
}

}  // namespace

void blend_lanes(std::byte* to, const std::byte* from, int lane_bytes, LaneMask active) {
  switch (lane_bytes) {
    case 2:
      return blend_words<std::uint16_t>(to, from, active);
    case 4:
      return blend_words<std::uint32_t>(to, from, active);
    case 8:
      return blend_words<std::uint64_t>(to, from, active);
    default:
      for_active(active, [&](int lane) {
        const auto at = static_cast<std::size_t>(lane) * static_cast<std::size_t>(lane_bytes);
        copy_word(to + at, from + at, static_cast<std::size_t>(lane_bytes));
      });
  }
}

}  // namespace kiln::emulated
