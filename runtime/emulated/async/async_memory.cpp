// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/async/async_memory.hpp"
#include "runtime/emulated/memory/global_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace kiln::emulated {
namespace {

/// The most that one lane's part of an access holds.
constexpr std::uint64_t kPart = 16;

LaneMask bit(int lane) {
  return LaneMask{1} << lane;
}

}  // namespace

SharedSpot shared_spot(Warp& warp, const Instr& instr, int lane, std::uint64_t address,
                       std::uint64_t bytes, std::uint32_t alignment) {
  if (address % alignment != 0) {
    warp.fail(instr, bit(lane), Finding::misaligned,
              fmt::format("is given shared address {:#x}, which is not a multiple of {}", address,
                          alignment),
              address);
  }
  const std::uint64_t window = address & kWindowMask;
  const std::uint64_t within = address & ~kWindowMask;
  const std::uint64_t above = within >> kSharedRankShift;
  const auto& blocks = warp.block().cluster().blocks();
  const bool shared = (window == 0 || window == kSharedWindow) && above <= blocks.size();
  if (!shared) {
    warp.fail(
        instr, bit(lane), Finding::out_of_bounds,
        fmt::format(
            "is given address {:#x}, which is not in the shared memory of the executing cluster",
            address),
        address);
  }
  SharedSpot spot;
  spot.owner = above == 0 ? &warp.block() : blocks[static_cast<std::size_t>(above - 1)].get();
  spot.offset = static_cast<std::uint32_t>(within & ((1U << kSharedRankShift) - 1));
  if (!spot.owner->shared_holds(spot.offset, bytes)) {
    warp.fail(
        instr, bit(lane), Finding::out_of_bounds,
        fmt::format("accesses {} bytes at offset {}, outside the {} bytes of shared memory", bytes,
                    std::int64_t{spot.offset} - kSharedBase, spot.owner->shared_bytes()),
        address);
  }
  return spot;
}

std::byte* global_spot(Warp& warp, const Instr& instr, int lane, std::uint64_t address,
                       std::uint64_t bytes, AccessKind kind) {
  const GlobalMemory& memory = *warp.block().launch().memory;
  const Allocation* at = memory.find(address);
  if (at == nullptr || !at->holds(address, static_cast<std::int64_t>(bytes))) {
    warp.fail(instr, bit(lane), Finding::out_of_bounds,
              fmt::format("{} {} bytes at {:#x}, {}", kind == AccessKind::load ? "reads" : "writes",
                          bytes, address, memory.place_text(address, bytes)),
              address);
  }
  if (at->read_only && kind != AccessKind::load) {
    warp.fail(
        instr, bit(lane), Finding::out_of_bounds,
        fmt::format("writes the constant variable '{}', but a kernel cannot change constant memory",
                    at->name),
        address);
  }
  warp.require_launch_wait(instr, bit(lane), "copies global memory");
  return at->host(address);
}

void mark_written(Warp& warp, std::uint64_t address, std::uint64_t bytes) {
  const Allocation* at = warp.block().launch().memory->find(address);
  if (at != nullptr) at->mark_written(address, bytes);
}

GlobalTraffic::GlobalTraffic(Warp& warp, const Instr& instr, int lane, AccessKind kind)
    : warp_(warp), instr_(instr) {
  access_.issuer = lane;
  access_.space = ptx::Space::global;
  access_.kind = kind;
  access_.synchronises = kind == AccessKind::atomic;
}

void GlobalTraffic::add(std::uint64_t address, std::byte* host, std::uint64_t bytes) {
  if (warp_.block().cluster().observer() == nullptr) return;
  int part = 0;
  for (std::uint64_t at = 0; at < bytes; at += static_cast<std::uint64_t>(part)) {
    // Parts end where 16-byte units of memory do: rows of a tensor may begin anywhere.
    part = static_cast<int>(std::min(kPart - (address + at) % kPart, bytes - at));
    if (lanes_ == kLanes || (lanes_ > 0 && access_.bytes != part)) flush();
    access_.bytes = part;
    access_.address[lanes_] = address + at;
    access_.host[lanes_] = host + at;
    access_.lanes |= bit(lanes_++);
  }
}

void GlobalTraffic::flush() {
  Observer* const observer = warp_.block().cluster().observer();
  if (observer != nullptr && lanes_ > 0) observer->access(warp_, instr_, access_);
  access_.lanes = 0;
  lanes_ = 0;
}

void begin_async(Warp& warp, const Instr& instr, Block& owner, std::vector<SharedRun> runs,
                 AccessKind kind, std::uint64_t token) {
  Observer* const observer = warp.block().cluster().observer();
  if (observer == nullptr || runs.empty()) return;
  std::sort(runs.begin(), runs.end(), [](const SharedRun& left, const SharedRun& right) {
    return left.offset < right.offset;
  });
  SharedRun run = runs.front();
  const auto notify = [&] {
    observer->async_begin(warp, instr, owner, run.offset, run.bytes, kind, token);
  };
  for (const SharedRun& next : runs) {
    const std::uint32_t end = run.offset + run.bytes;
    if (next.offset > end) {
      notify();
      run = next;
    } else {
      run.bytes = std::max(end, next.offset + next.bytes) - run.offset;
    }
  }
  notify();
}

void check_owner_lives(Warp& warp, const Instr& instr, int lane, const Block& owner) {
  if (owner.live_threads() > 0) return;
  warp.report(instr, bit(lane), Finding::missing_wait,
              "uses shared memory of a block whose threads have all exited");
}

}  // namespace kiln::emulated
