// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/trace.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "runtime/emulated/bank_conflicts.hpp"
#include "runtime/emulated/cluster.hpp"
#include "runtime/emulated/relay.hpp"
#include "runtime/emulated/sector_set.hpp"
#include "runtime/emulated/warp.hpp"

namespace kiln::emulated {
namespace {

/// A warp's instruction touches at most 32 pieces of 16 bytes at a time; some come in many parts.
void add(std::uint16_t& sum, int more) {
  constexpr int kMost = std::numeric_limits<std::uint16_t>::max();
  sum = static_cast<std::uint16_t>(std::min(kMost, sum + more));
}

class TraceObserver : public Relay {
 public:
  TraceObserver(BlockTrace& trace, std::unique_ptr<Observer> next)
      : Relay(std::move(next)), trace_(trace) {}

  void begin(Cluster& cluster) override {
    trace_.warps.assign(cluster.blocks().front()->warps().size(), {});
    Relay::begin(cluster);
  }
  void issue(Warp& warp, const Instr& instr, LaneMask active) override {
    if (warp.block().rank() == 0) entries(warp).push_back({instr.index, 0, 0, 0, 0, 0});
    Relay::issue(warp, instr, active);
  }
  void access(Warp& warp, const Instr& instr, const WarpAccess& access) override {
    if (warp.block().rank() == 0) note(warp, access);
    Relay::access(warp, instr, access);
  }

 private:
  std::vector<TraceEntry>& entries(Warp& warp) {
    return trace_.warps[static_cast<std::size_t>(warp.index())];
  }

  void note(Warp& warp, const WarpAccess& access) {
    TraceEntry& entry = entries(warp).back();
    const AccessSpace space = space_of(access);
    if (space == AccessSpace::shared) {
      add(entry.wavefronts, shared_clocks(access));
    } else if (space == AccessSpace::global) {
      add(entry.lookups, cache_lookups(access.address, access.lanes, access.bytes));
      add(entry.lines, cache_lines(access.address, access.lanes, access.bytes));
      add(entry.returns, (std::popcount(access.lanes) * access.bytes + 127) / 128);
      add(entry.fresh, fresh_sectors(access));
    }
  }

  int fresh_sectors(const WarpAccess& access) {
    int fresh = 0;
    const auto bytes = static_cast<std::uint64_t>(access.bytes);
    for (LaneMask left = access.lanes; left != 0; left &= left - 1) {
      const std::uint64_t address = access.address[std::countr_zero(left)];
      for (std::uint64_t at = address / 32; at <= (address + bytes - 1) / 32; ++at) {
        if (touched_.insert(at)) ++fresh;
      }
    }
    return fresh;
  }

  BlockTrace& trace_;
  SectorSet touched_;
};

}  // namespace

std::unique_ptr<Observer> trace_block(BlockTrace& trace, std::unique_ptr<Observer> next) {
  return std::make_unique<TraceObserver>(trace, std::move(next));
}

}  // namespace kiln::emulated
