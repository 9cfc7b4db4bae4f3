// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// cp.async: copies from global to shared memory in the background, and the groups that they are
// waited for in.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "runtime/emulated/async/async_instructions.hpp"
#include "runtime/emulated/async/copy_queue.hpp"
#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/engine/cluster.hpp"
#include "runtime/emulated/engine/copy_word.hpp"
#include "runtime/emulated/engine/warp.hpp"
#include "runtime/emulated/memory/memory_operands.hpp"
#include "runtime/emulated/memory/resolve.hpp"

namespace kiln::emulated {

void CopyQueue::start(Copy copy) {
  if (copies_.size() >= std::size_t{kMostCopies}) {
    Limits limits;
    limits.fill(copies_[kMostCopies / 2 - 1].number);
    complete(kAllLanes, limits);
  }
  copy.number = ++newest_;
  copies_.push_back(copy);
}

void CopyQueue::commit(LaneMask lanes) {
  if (commits_.size() >= std::size_t{kMostCommits}) {
    const auto half = commits_.begin() + kMostCommits / 2;
    for (auto at = commits_.begin(); at != half; ++at) {
      for (LaneMask left = at->lanes; left != 0; left &= left - 1) {
        forgotten_[static_cast<std::size_t>(std::countr_zero(left))] = at->newest;
      }
    }
    commits_.erase(commits_.begin(), half);
  }
  commits_.push_back({lanes, newest_});
}

void CopyQueue::wait(LaneMask lanes, std::uint32_t pending) {
  Limits limits = forgotten_;
  std::array<std::uint32_t, kLanes> closed{};
  LaneMask open = lanes;
  for (auto at = commits_.rbegin(); at != commits_.rend() && open != 0; ++at) {
    for (LaneMask left = at->lanes & open; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(left));
      if (closed[lane]++ < pending) continue;
      limits[lane] = at->newest;
      open &= ~(LaneMask{1} << lane);
    }
  }
  wait_until(lanes, limits);
}

void CopyQueue::wait_all(LaneMask lanes) {
  Limits limits;
  limits.fill(newest_);
  wait_until(lanes, limits);
}

void CopyQueue::wait_until(LaneMask lanes, const Limits& limits) {
  complete(lanes, limits);
  Observer* const observer = warp_.block().cluster().observer();
  if (observer == nullptr) return;
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    observer->copies_known(warp_, lane, limits[static_cast<std::size_t>(lane)], 0);
  }
}

void CopyQueue::notify(int lane, std::uint32_t number, std::uint64_t object) {
  Limits limits;
  limits.fill(number);
  complete(LaneMask{1} << lane, limits);
  if (Observer* observer = warp_.block().cluster().observer()) {
    observer->copies_known(warp_, lane, number, object);
  }
}

void CopyQueue::complete(LaneMask lanes, const Limits& limits) {
  for (Copy& copy : copies_) {
    for (LaneMask left = copy.lanes & lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      if (copy.number <= limits[static_cast<std::size_t>(lane)]) complete_lane(copy, lane);
    }
  }
  std::erase_if(copies_, [](const Copy& copy) { return copy.lanes == 0; });
}

void CopyQueue::complete_lane(Copy& copy, int lane) {
  const auto at = static_cast<std::size_t>(lane);
  const auto bytes = static_cast<std::size_t>(copy.bytes);
  const std::size_t from = copy.source_bytes[at];
  if (from > 0) copy_word(copy.to[at], copy.from[at], from);
  std::memset(copy.to[at] + from, 0, bytes - from);
  copy.lanes &= ~(LaneMask{1} << lane);
  if (Observer* observer = warp_.block().cluster().observer()) {
    observer->copy_end(warp_, lane, copy.token + at, copy.number);
  }
}

namespace {

using ptx::Type;

/// Row `c` is the number of source bytes, `e` a predicate that drops the source.
struct CopyDetail {
  AddressOperand to;
  AddressOperand from;
  int bytes = 16;
  bool ignores = false;
  bool sized = false;     ///< `c` is a register
  bool bypasses = false;  ///< the first-level cache
};

/// Finds out how many bytes each lane reads; returns the lanes that read any.
LaneMask size_copy(Warp& warp, const Instr& instr, LaneMask active, CopyQueue::Copy& copy) {
  const auto& detail = *static_cast<const CopyDetail*>(instr.detail);
  LaneMask reading = 0;
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    auto bytes = static_cast<std::uint32_t>(detail.bytes);
    if (instr.c != kNoRow) {
      bytes = get<std::uint32_t>(warp.row(instr.c), lane);
      if (bytes > static_cast<std::uint32_t>(detail.bytes)) {
        warp.fail(instr, LaneMask{1} << lane, Finding::invalid_operand,
                  fmt::format("has a src-size of {} bytes, which exceeds the cp-size of {} bytes",
                              bytes, detail.bytes));
      }
    }
    if (detail.ignores && (warp.predicate(instr.e) >> lane & 1U) != 0) bytes = 0;
    copy.source_bytes[static_cast<std::size_t>(lane)] = static_cast<std::uint8_t>(bytes);
    if (bytes > 0) reading |= LaneMask{1} << lane;
  }
  return reading;
}

void execute_copy(Warp& warp, const Instr& instr, LaneMask active) {
  const auto& detail = *static_cast<const CopyDetail*>(instr.detail);
  CopyQueue::Copy copy;
  copy.lanes = active;
  copy.bytes = detail.bytes;
  LaneMask reading = size_copy(warp, instr, active, copy);
  WarpAccess source;
  source.space = ptx::Space::global;
  source.kind = AccessKind::load;
  WarpAccess target;
  target.space = ptx::Space::shared;
  target.kind = AccessKind::async_store;
  target.bytes = detail.bytes;
  target.lanes = active;
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    source.address[lane] = address_at(warp, detail.from, lane);
    target.address[lane] = address_at(warp, detail.to, lane);
  }
  const AsyncCopy whole{source.address, target.address, active & ~reading, detail.sized,
                        detail.bypasses};
  source.copy = target.copy = &whole;
  // Global memory is checked as the copy begins: whole pieces, even where part of one is zeros,
  // must be aligned, but only the bytes that are read must exist. Lanes that read only part of a
  // piece are seldom; they go in accesses of their own.
  while (reading != 0) {
    const int bytes = copy.source_bytes[static_cast<std::size_t>(std::countr_zero(reading))];
    LaneMask lanes = 0;
    for (LaneMask left = reading; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      if (copy.source_bytes[static_cast<std::size_t>(lane)] == bytes) lanes |= LaneMask{1} << lane;
    }
    reading &= ~lanes;
    source.lanes = lanes;
    source.bytes = bytes;
    source.alignment = detail.bytes;
    resolve(warp, instr, source);
    for (LaneMask left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(left));
      copy.from[lane] = source.host[lane];
    }
  }
  target.token = copy.token = warp.block().cluster().new_tokens(kLanes);
  resolve(warp, instr, target);
  std::copy(std::begin(target.host), std::end(target.host), copy.to.begin());
  warp.copies().start(copy);
}

void execute_copy_commit(Warp& warp, const Instr&, LaneMask active) {
  warp.copies().commit(active);
}

void execute_copy_wait(Warp& warp, const Instr& instr, LaneMask active) {
  if (instr.variant != 0) {
    warp.copies().wait_all(active);
  } else {
    warp.copies().wait(active, static_cast<std::uint32_t>(instr.immediate));
  }
}

// cp.async.commit_group
void decode_copy_commit(DecodeContext& context, Instr& out) {
  context.expect_operands(0);
  out.execute = &execute_copy_commit;
}

// cp.async.wait_group n
void decode_copy_wait(DecodeContext& context, Instr& out) {
  out.immediate = take_group_count(context);
  context.traits().groups = static_cast<int>(out.immediate);
  out.execute = &execute_copy_wait;
}

// cp.async.wait_all
void decode_wait_all(DecodeContext& context, Instr& out) {
  context.expect_operands(0);
  out.variant = 1;
  context.traits().groups = -1;
  out.execute = &execute_copy_wait;
}

// cp.async.{ca,cg}.shared.global{.L2::cache_hint}{.L2::64B...} [to], [from], bytes{, size or p}
template <bool kBypasses>
void decode_copy(DecodeContext& context, Instr& out) {
  if (context.take_one_of({"shared", "shared::cta"}).empty() || !context.take("global")) {
    context.fail("is a copy that the emulator does not support");
  }
  const std::size_t policies = context.take_one_of({"L2::cache_hint"}).empty() ? 0 : 1;
  context.take_one_of({"L2::64B", "L2::128B", "L2::256B"});
  CopyDetail detail;
  detail.to = context.address(0);
  detail.from = context.address(1);
  detail.bytes = static_cast<int>(context.immediate(2));
  detail.bypasses = kBypasses;
  const bool known = detail.bytes == 16 || (!kBypasses && (detail.bytes == 4 || detail.bytes == 8));
  if (!known) context.fail(fmt::format("copies {} bytes, an unsupported size", detail.bytes));
  // Then come, if at all, the number of source bytes or a predicate, and a cache policy.
  if (context.operands() > 3 + policies) {
    context.expect_operands(4 + policies);
    const auto& extra = context.operand(3);
    if (context.register_type(extra) == Type::pred) {
      out.e = context.predicate(extra);
      detail.ignores = true;
    } else {
      if (!context.is_immediate(extra) && lane_bytes(context.register_type(extra)) != 4) {
        context.fail("needs a 32-bit register or a constant as src-size (operand 4)");
      }
      out.c = context.source(3, Type::u32);
      detail.sized = !context.is_immediate(extra);
    }
  } else {
    context.expect_operands(3 + policies);
  }
  out.detail = context.keep(detail);
  out.execute = &execute_copy;
}

constexpr Traits kCopy{.work = Work::copy, .flow = Flow::copied};

constexpr Opcode kCopyOpcodes[] = {
    {"cp.async.ca", {}, &decode_copy<false>, Unit::async_copy, kCopy},
    {"cp.async.cg", {}, &decode_copy<true>, Unit::async_copy, kCopy},
    {"cp.async.commit_group", {}, &decode_copy_commit, Unit::async_copy, {.work = Work::commit}},
    {"cp.async.wait_group", {}, &decode_copy_wait, Unit::barrier, {.work = Work::wait}},
    {"cp.async.wait_all", {}, &decode_wait_all, Unit::barrier, {.work = Work::wait}},
};

}  // namespace

std::uint32_t take_group_count(DecodeContext& context) {
  context.expect_operands(1);
  const std::int64_t count = context.immediate(0);
  if (count < 0 || count > std::numeric_limits<std::int32_t>::max()) {
    context.fail(fmt::format("allows {} pending groups; this number must be from 0 to {}", count,
                             std::numeric_limits<std::int32_t>::max()));
  }
  return static_cast<std::uint32_t>(count);
}

std::span<const Opcode> copy_opcodes() {
  return kCopyOpcodes;
}

}  // namespace kiln::emulated
