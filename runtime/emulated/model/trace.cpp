// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/model/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kiln/error.hpp"
#include "runtime/emulated/engine/cluster.hpp"
#include "runtime/emulated/engine/warp.hpp"
#include "runtime/emulated/model/bank_conflicts.hpp"

namespace kiln::emulated {
namespace {

/// A warp's instruction touches at most 32 pieces of 16 bytes at a time; some come in many parts.
void add(std::uint16_t& sum, int more) {
  constexpr int kMost = std::numeric_limits<std::uint16_t>::max();
  sum = static_cast<std::uint16_t>(std::min(kMost, sum + more));
}

class TraceObserver : public Observer {
 public:
  TraceObserver(BlockTrace& trace, std::size_t longest) : trace_(trace), longest_(longest) {}

  void begin(Cluster& cluster) override {
    trace_.warps.assign(cluster.blocks().front()->warps().size(), {});
  }
  void issue(Warp& warp, const Instr& instr, LaneMask) override {
    if (warp.block().rank() != 0) return;
    if (++length_ > longest_) {
      throw Error(
          ErrorKind::device,
          fmt::format("Kiln cannot predict a time, because one block executes more than {} "
                      "instructions. Next: check that the kernel ends, or use a smaller problem.",
                      longest_));
    }
    entries(warp).push_back({instr.index, 0, 0, 0, 0, 0});
  }
  void access(Warp& warp, const Instr&, const WarpAccess& access) override {
    if (warp.block().rank() == 0) note(warp, access);
  }

 private:
  std::vector<TraceEntry>& entries(Warp& warp) {
    return trace_.warps[static_cast<std::size_t>(warp.index())];
  }

  void note(Warp& warp, const WarpAccess& access) {
    TraceEntry& entry = entries(warp).back();
    const int full_lines = (std::popcount(access.lanes) * access.bytes + 127) / 128;
    switch (space_of(access)) {
      case AccessSpace::shared:
        add(entry.wavefronts, shared_clocks(access));
        break;
      case AccessSpace::global:
        add(entry.lookups, cache_lookups(access.address, access.lanes, access.bytes));
        add(entry.lines, cache_lines(access.address, access.lanes, access.bytes));
        add(entry.returns, full_lines);
        add(entry.sectors, second_level_sectors(access));
        break;
      case AccessSpace::other:
        // What lanes keep at the same place of local memory lies side by side.
        add(entry.lookups, full_lines);
        add(entry.lines, full_lines);
        add(entry.returns, full_lines);
        break;
    }
  }

  int second_level_sectors(const WarpAccess& access) {
    int fresh = 0;
    for_each_sector(access, [&](std::uint64_t at) {
      if (touched_.insert(at)) ++fresh;
    });
    return access.kind == AccessKind::load ? fresh : sectors(access);
  }

  BlockTrace& trace_;
  std::size_t longest_;
  std::size_t length_ = 0;
  SectorSet touched_;
};

}  // namespace

class SharedReads::Watcher : public Observer {
 public:
  explicit Watcher(SharedReads& reads) : reads_(reads) {}
  void begin(Cluster&) override { ++reads_.blocks_; }
  void access(Warp& warp, const Instr& instr, const WarpAccess& access) override {
    if (warp.block().rank() != 0 || !is_cached_load(instr, access)) return;
    for_each_sector(access, [&](std::uint64_t at) {
      if (!own_.insert(at)) return;
      ++reads_.each_;
      reads_.all_.insert(at);
    });
  }

 private:
  SharedReads& reads_;
  SectorSet own_;
};

std::unique_ptr<Observer> SharedReads::watch() {
  return std::make_unique<Watcher>(*this);
}

ReadSharing SharedReads::sharing() const {
  if (each_ == 0) return {};
  return {1.0 - static_cast<double>(all_.count()) / static_cast<double>(each_), blocks_};
}

double ReadSharing::among(int count) const {
  if (blocks < 2 || count < 2) return 0.0;
  return 1.0 - std::pow(1.0 - share, std::log(count) / std::log(blocks));
}

std::unique_ptr<Observer> trace_block(BlockTrace& trace, std::size_t longest) {
  return std::make_unique<TraceObserver>(trace, longest);
}

}  // namespace kiln::emulated
