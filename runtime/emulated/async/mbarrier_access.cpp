// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/async/mbarrier_access.hpp"

#include <fmt/format.h>

#include <cstring>

namespace kiln::emulated {

BarrierRef barrier_at(Warp& warp, const Instr& instr, int lane, std::uint64_t address) {
  return barrier_at(warp, instr, lane, shared_spot(warp, instr, lane, address, 8, 8));
}

BarrierRef barrier_at(Warp& warp, const Instr& instr, int lane, const SharedSpot& spot) {
  const LaneMask bit = LaneMask{1} << lane;
  Mbarrier* const state = spot.owner->mbarriers().find(spot.offset);
  if (state == nullptr) {
    warp.fail(
        instr, bit, Finding::invalid_operand,
        fmt::format(
            "uses an mbarrier at offset {} in shared memory of block rank {}, but no mbarrier was "
            "initialised at this offset",
            spot.shown(), spot.owner->rank()),
        spot.offset);
  }
  std::uint64_t token = 0;
  std::memcpy(&token, spot.host(), sizeof token);
  if (token != MbarrierTable::kToken) {
    warp.fail(
        instr, bit, Finding::invalid_operand,
        fmt::format("uses the mbarrier at offset {}, but a store or copy has overwritten this "
                    "mbarrier",
                    spot.shown()),
        spot.offset);
  }
  return {spot, state};
}

void require(Warp& warp, const Instr& instr, int lane, const BarrierRef& barrier,
             const std::string& wrong) {
  if (wrong.empty()) return;
  warp.fail(instr, LaneMask{1} << lane, Finding::invalid_operand,
            fmt::format("{} (mbarrier at offset {})", wrong, barrier.at.shown()),
            barrier.at.offset);
}

void arrive(Warp& warp, const Instr& instr, int lane, const BarrierRef& barrier,
            const Arrival& arrival) {
  Observer* const observer = warp.block().cluster().observer();
  if (arrival.order && observer != nullptr) {
    observer->synchronise(warp, instr, barrier.object(), LaneMask{1} << lane, *arrival.order);
  }
  change(warp, instr, lane, barrier, [&](Mbarrier& state) {
    return state.arrive(arrival.count, arrival.drops, arrival.completes);
  });
}

void complete_bytes(Warp& warp, const Instr& instr, int lane, const SharedSpot& spot,
                    std::uint32_t bytes) {
  change(warp, instr, lane, barrier_at(warp, instr, lane, spot),
         [&](Mbarrier& state) { return state.complete_bytes(bytes); });
}

}  // namespace kiln::emulated
