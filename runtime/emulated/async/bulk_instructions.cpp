// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk and cp.reduce.async.bulk without tensors, and the groups of bulk copies.
#include <fmt/format.h>

#include <bit>

#include "runtime/emulated/async/async_instructions.hpp"
#include "runtime/emulated/async/bulk_groups.hpp"
#include "runtime/emulated/async/bulk_operands.hpp"
#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/memory/memory_operands.hpp"

namespace kiln::emulated {
namespace {

using ptx::Type;

/// Row `b` is the size, row `c` the mask of blocks.
struct BulkDetail {
  AddressOperand to;
  AddressOperand from;
  AddressOperand barrier;
  BulkWay way = BulkWay::global_to_shared;
  BulkElements elements;
};

std::uint32_t size_of(Warp& warp, const Instr& instr, int lane) {
  const auto bytes = get<std::uint32_t>(warp.row(instr.b), lane);
  if (bytes % 16 != 0) {
    warp.fail(instr, LaneMask{1} << lane, Finding::invalid_operand,
              fmt::format("copies {} bytes, which is not a multiple of 16", bytes));
  }
  return bytes;
}

void check_global(Warp& warp, const Instr& instr, int lane, std::uint64_t address) {
  if (address % 16 == 0) return;
  warp.fail(instr, LaneMask{1} << lane, Finding::misaligned,
            fmt::format("is given global address {:#x}, which is not a multiple of 16", address),
            address);
}

/// A source in shared memory, which is always the own block's.
SharedSpot own_spot(Warp& warp, const Instr& instr, int lane, std::uint64_t address,
                    std::uint32_t bytes) {
  const SharedSpot spot = shared_spot(warp, instr, lane, address, bytes, 16);
  if (spot.owner != &warp.block()) {
    warp.fail(instr, LaneMask{1} << lane, Finding::invalid_operand,
              "copies from another block's shared memory; the source must be shared memory of the "
              "executing block");
  }
  return spot;
}

void begin_load(Warp& warp, const Instr& instr, int lane) {
  const auto& detail = *static_cast<const BulkDetail*>(instr.detail);
  const std::uint32_t bytes = size_of(warp, instr, lane);
  const SharedSpot to =
      shared_spot(warp, instr, lane, address_at(warp, detail.to, lane), bytes, 16);
  BulkLoad load;
  load.warp = &warp;
  load.instr = &instr;
  load.lane = lane;
  load.targets = bulk_targets(warp, instr, lane, instr.c, to);
  load.bytes = bytes;
  load.elements = detail.elements;
  load.barrier = bulk_barrier(warp, instr, lane, detail.barrier, to, load.targets);
  const std::uint64_t from = address_at(warp, detail.from, lane);
  BulkPiece piece{nullptr, 0, to.offset, bytes};
  if (detail.way == BulkWay::global_to_shared) {
    check_global(warp, instr, lane, from);
    piece.host = global_spot(warp, instr, lane, from, bytes, AccessKind::load);
    piece.address = from;
  } else {
    const SharedSpot source = own_spot(warp, instr, lane, from, bytes);
    piece.host = source.host();
    load.source = source;
  }
  load.pieces.push_back(piece);
  begin_bulk_load(std::move(load));
}

void begin_store(Warp& warp, const Instr& instr, int lane) {
  const auto& detail = *static_cast<const BulkDetail*>(instr.detail);
  const std::uint32_t bytes = size_of(warp, instr, lane);
  const SharedSpot from = own_spot(warp, instr, lane, address_at(warp, detail.from, lane), bytes);
  const std::uint64_t to = address_at(warp, detail.to, lane);
  check_global(warp, instr, lane, to);
  std::byte* const host = global_spot(warp, instr, lane, to, bytes, AccessKind::store);
  begin_bulk_store({&warp, &instr, lane, {{host, to, from.offset, bytes}}, detail.elements});
}

void execute_bulk(Warp& warp, const Instr& instr, LaneMask active) {
  const auto& detail = *static_cast<const BulkDetail*>(instr.detail);
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (detail.way == BulkWay::shared_to_global) {
      begin_store(warp, instr, lane);
    } else {
      begin_load(warp, instr, lane);
    }
  }
}

void execute_commit(Warp& warp, const Instr&, LaneMask active) {
  warp.bulk().commit(active);
}

void execute_wait(Warp& warp, const Instr& instr, LaneMask active) {
  warp.bulk().wait(instr, active, static_cast<std::uint32_t>(instr.immediate), instr.variant != 0);
}

void execute_nothing(Warp&, const Instr&, LaneMask) {}

// cp.async.bulk.commit_group
void decode_commit(DecodeContext& context, Instr& out) {
  context.expect_operands(0);
  out.execute = &execute_commit;
}

// cp.async.bulk.wait_group{.read} n
void decode_wait(DecodeContext& context, Instr& out) {
  out.variant = context.take("read") ? 1 : 0;
  out.immediate = take_group_count(context);
  out.execute = &execute_wait;
}

// cp.async.bulk.prefetch.L2.global{.L2::cache_hint} [from], bytes
void decode_prefetch(DecodeContext& context, Instr& out) {
  context.take("L2");
  context.take("global");
  context.take("L2::cache_hint");
  out.execute = &execute_nothing;
}

}  // namespace

BulkWay take_bulk_way(DecodeContext& context) {
  const bool shared = !context.take_one_of({"shared::cluster"}).empty();
  const bool own = !context.take_one_of({"shared::cta"}).empty();
  const bool global = context.take("global");
  const bool reports = context.take("mbarrier::complete_tx::bytes");
  const bool grouped = context.take("bulk_group");
  if (reports != grouped) {
    if (reports && global && shared != own) return BulkWay::global_to_shared;
    if (reports && !global && shared && own) return BulkWay::shared_to_shared;
    if (grouped && global && own && !shared) return BulkWay::shared_to_global;
  }
  context.fail("is a bulk copy that the emulator does not support");
}

std::string_view take_reduction(DecodeContext& context) {
  const std::string_view operation =
      context.take_one_of({"add", "min", "max", "and", "or", "xor", "inc", "dec"});
  if (operation.empty()) context.fail("has no operation");
  return operation;
}

std::uint32_t decode_multicast(DecodeContext& context, std::size_t i, bool multicast) {
  const bool policy = context.take("L2::cache_hint");
  context.expect_operands(i + (multicast ? 1U : 0U) + (policy ? 1U : 0U));
  return multicast ? context.source(i, Type::b16) : kNoRow;
}

std::vector<Block*> bulk_targets(Warp& warp, const Instr& instr, int lane, std::uint32_t mask,
                                 const SharedSpot& to) {
  if (mask == kNoRow) return {to.owner};
  const auto& blocks = warp.block().cluster().blocks();
  const auto bits = get<std::uint16_t>(warp.row(mask), lane);
  if (bits == 0 || (std::uint32_t{bits} >> blocks.size()) != 0) {
    warp.fail(instr, LaneMask{1} << lane, Finding::invalid_operand,
              fmt::format("has the multicast mask {:#x}, but the cluster has only {} blocks", bits,
                          blocks.size()));
  }
  std::vector<Block*> targets;
  for (const auto& block : blocks) {
    if ((bits >> block->rank() & 1U) != 0) targets.push_back(block.get());
  }
  return targets;
}

std::uint32_t bulk_barrier(Warp& warp, const Instr& instr, int lane, const AddressOperand& operand,
                           const SharedSpot& to, const std::vector<Block*>& targets) {
  const BarrierRef barrier = barrier_at(warp, instr, lane, address_at(warp, operand, lane));
  if (targets.size() == 1 && barrier.at.owner != to.owner) {
    warp.fail(
        instr, LaneMask{1} << lane, Finding::invalid_operand,
        fmt::format("copies to the shared memory of block rank {}, but signals an mbarrier "
                    "of block rank {}. The destination and the mbarrier must be in the same block",
                    to.owner->rank(), barrier.at.owner->rank()));
  }
  for (Block* target : targets) {
    // Every target needs one, and this thread must know of it.
    BarrierTouches touches(AccessKind::load);
    const BarrierRef own = barrier_at(warp, instr, lane, SharedSpot{target, barrier.at.offset});
    touches.add(lane, own.at);
    touches.notify(warp, instr);
    if (!own.state->published() && target->cluster().observer() != nullptr) {
      warp.report(
          instr, LaneMask{1} << lane, Finding::missing_fence,
          fmt::format("signals the mbarrier at offset {} of shared memory, but no thread executed "
                      "fence.mbarrier_init or fence.proxy.async after mbarrier.init",
                      own.at.shown()),
          own.at.offset);
    }
  }
  return barrier.at.offset;
}

namespace {

/// What copies and reductions have in common: places, size, and whom they report to.
void finish_bulk(DecodeContext& context, Instr& out, BulkDetail detail) {
  const bool multicast = context.take("multicast::cluster");
  if (multicast && detail.way != BulkWay::global_to_shared) context.fail("cannot be multicast");
  detail.to = context.address(0);
  detail.from = context.address(1);
  out.b = context.source(2, Type::u32);
  const bool reports = detail.way != BulkWay::shared_to_global;
  if (reports) detail.barrier = context.address(3);
  out.c = decode_multicast(context, reports ? 4 : 3, multicast);
  out.detail = context.keep(detail);
  out.execute = &execute_bulk;
}

// cp.async.bulk.WAY{.multicast::cluster}{.L2::cache_hint} [to], [from], bytes{, [barrier]}{, mask}
void decode_bulk(DecodeContext& context, Instr& out) {
  BulkDetail detail;
  detail.way = take_bulk_way(context);
  finish_bulk(context, out, detail);
}

// cp.reduce.async.bulk.WAY.OPERATION{.noftz}.TYPE [to], [from], bytes{, [barrier]}
void decode_bulk_reduction(DecodeContext& context, Instr& out) {
  BulkDetail detail;
  detail.way = take_bulk_way(context);
  const std::string_view operation = take_reduction(context);
  context.take("noftz");
  const Type type = context.take_type();
  detail.elements.reduce = find_bulk_reduction(operation, type);
  detail.elements.bytes = lane_bytes(type);
  if (detail.elements.reduce == nullptr || detail.way == BulkWay::global_to_shared) {
    context.fail("is a reduction that the emulator does not support");
  }
  finish_bulk(context, out, detail);
}

constexpr Traits kIssue{.work = Work::issue};
constexpr TypeSet kLongIntegers{Type::b64, Type::u64, Type::s64};

constexpr Opcode kBulkOpcodes[] = {
    {"cp.async.bulk", {}, &decode_bulk, Unit::async_copy, kIssue},
    {"cp.async.bulk.commit_group", {}, &decode_commit, Unit::async_copy, kIssue},
    {"cp.async.bulk.wait_group", {}, &decode_wait, Unit::barrier, kIssue},
    {"cp.async.bulk.prefetch", {}, &decode_prefetch, Unit::async_copy, kIssue},
    {"cp.reduce.async.bulk",
     kLongIntegers,
     &decode_bulk_reduction,
     Unit::async_copy,
     {.slots = kLongSlots}},
    {"cp.reduce.async.bulk", {}, &decode_bulk_reduction, Unit::async_copy},
};

}  // namespace

std::span<const Opcode> bulk_opcodes() {
  return kBulkOpcodes;
}

}  // namespace kiln::emulated
