// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Addresses of other blocks of a cluster, stores to them that report to an mbarrier, and the
// registers that warps give to each other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <memory>
#include <string_view>

#include "runtime/emulated/async/async_instructions.hpp"
#include "runtime/emulated/async/bulk_operands.hpp"
#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/memory/atomics.hpp"
#include "runtime/emulated/memory/memory_operands.hpp"
#include "runtime/emulated/memory/resolve.hpp"

namespace kiln::emulated {
namespace {

using ptx::Type;

constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << kSharedRankShift) - 1;

std::uint64_t value_at(Warp& warp, std::uint32_t row, int bytes, int lane) {
  return bytes == 8 ? get<std::uint64_t>(warp.row(row), lane)
                    : get<std::uint32_t>(warp.row(row), lane);
}

/// `variant` 1: addresses are generic. `bytes` is their width.
void execute_mapa(Warp& warp, const Instr& instr, LaneMask active) {
  const auto blocks = warp.block().cluster().blocks().size();
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t address = value_at(warp, instr.a, instr.bytes, lane);
    const auto rank = get<std::uint32_t>(warp.row(instr.b), lane);
    if (rank >= blocks) {
      warp.fail(
          instr, LaneMask{1} << lane, Finding::invalid_operand,
          fmt::format("uses block rank {}, but the cluster has only {} blocks", rank, blocks));
    }
    if (instr.variant == 1 && (address & kWindowMask) != kSharedWindow) {
      warp.fail(instr, LaneMask{1} << lane, Finding::invalid_operand,
                fmt::format("is given address {:#x}, which is not in shared memory", address),
                address);
    }
    const std::uint64_t mapped = (address & kWindowMask) |
                                 (std::uint64_t{rank} + 1) << kSharedRankShift |
                                 (address & kOffsetMask);
    if (instr.bytes == 8) {
      put(warp.row(instr.d), lane, mapped);
    } else {
      put(warp.row(instr.d), lane, static_cast<std::uint32_t>(mapped));
    }
  }
}

void execute_rank(Warp& warp, const Instr& instr, LaneMask active) {
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t address = value_at(warp, instr.a, instr.bytes, lane);
    const SharedSpot spot = shared_spot(warp, instr, lane, address, 1, 1);
    put(warp.row(instr.d), lane, spot.owner->rank());
  }
}

void decode_mapa(DecodeContext& context, Instr& out) {
  const bool generic = context.take_one_of({"shared::cluster", "shared"}).empty();
  const Type type = context.take_type();
  context.expect_operands(3);
  out.variant = generic ? 1 : 0;
  out.bytes = static_cast<std::uint8_t>(lane_bytes(type));
  out.d = context.destination(0, type);
  out.a = context.source(1, type);
  out.b = context.source(2, Type::u32);
  out.execute = &execute_mapa;
}

void decode_rank(DecodeContext& context, Instr& out) {
  context.take_one_of({"shared::cluster", "shared"});
  const Type type = context.take_type();
  context.expect_operands(2);
  out.bytes = static_cast<std::uint8_t>(lane_bytes(type));
  out.d = context.destination(0, Type::u32);
  out.a = context.source(1, type);
  out.execute = &execute_rank;
}

// ---- st.async and red.async ----

struct RemoteDetail {
  AddressOperand address;
  AddressOperand barrier;
  AtomicFunction reduce = nullptr;
  int element_bytes = 4;
  int count = 1;
};

/// What the lanes of one instruction still have to store.
struct RemoteStore {
  LaneMask lanes = 0;
  std::array<SharedSpot, kLanes> barriers{};
  std::array<std::byte*, kLanes> to{};
  std::array<std::array<std::byte, 16>, kLanes> values{};
};

void finish_remote(Warp& warp, const Instr& instr, const RemoteStore& store, std::uint64_t token) {
  const auto& detail = *static_cast<const RemoteDetail*>(instr.detail);
  const auto bytes =
      static_cast<std::size_t>(detail.element_bytes) * static_cast<std::size_t>(detail.count);
  Observer* const observer = warp.block().cluster().observer();
  for (LaneMask left = store.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const auto at = static_cast<std::size_t>(lane);
    check_owner_lives(warp, instr, lane, *store.barriers[at].owner);
    if (detail.reduce != nullptr) {
      std::byte old[16];
      detail.reduce(store.to[at], store.values[at].data(), store.values[at].data(), old);
    } else {
      std::memcpy(store.to[at], store.values[at].data(), bytes);
    }
    if (observer != nullptr) {
      observer->async_end(token + at, barrier_at(warp, instr, lane, store.barriers[at]).object());
    }
    complete_bytes(warp, instr, lane, store.barriers[at], static_cast<std::uint32_t>(bytes));
  }
}

void execute_remote(Warp& warp, const Instr& instr, LaneMask active) {
  const auto& detail = *static_cast<const RemoteDetail*>(instr.detail);
  Cluster& cluster = warp.block().cluster();
  auto store = std::make_shared<RemoteStore>();
  store->lanes = active;
  std::array<std::uint64_t, kLanes> objects{};
  WarpAccess access;
  access.space = ptx::Space::shared;
  access.in_cluster = true;
  access.kind = detail.reduce == nullptr ? AccessKind::async_store : AccessKind::atomic;
  access.synchronises = detail.reduce != nullptr;
  access.bytes = detail.element_bytes * detail.count;
  access.lanes = active;
  access.token = cluster.new_tokens(kLanes);
  BarrierTouches touches(AccessKind::load);
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const auto at = static_cast<std::size_t>(lane);
    const std::uint64_t address = address_at(warp, detail.address, lane);
    access.address[lane] = address & ~kWindowMask;
    const auto size = static_cast<std::uint32_t>(access.bytes);
    const SharedSpot to = shared_spot(warp, instr, lane, address, size, size);
    const BarrierRef barrier =
        barrier_at(warp, instr, lane, address_at(warp, detail.barrier, lane));
    if (barrier.at.owner != to.owner) {
      warp.fail(instr, LaneMask{1} << lane, Finding::invalid_operand,
                fmt::format(
                    "stores to the shared memory of block rank {}, but signals an mbarrier "
                    "of block rank {}. The destination and the mbarrier must be in the same block",
                    to.owner->rank(), barrier.at.owner->rank()));
    }
    store->barriers[at] = barrier.at;
    objects[at] = barrier.object();
    touches.add(lane, barrier.at);
    const auto element = static_cast<std::size_t>(detail.element_bytes);
    for (std::size_t i = 0; i < static_cast<std::size_t>(detail.count); ++i) {
      std::memcpy(store->values[at].data() + i * element, warp.row(instr.rows[i]) + at * element,
                  element);
    }
  }
  touches.notify(warp, instr);
  resolve(warp, instr, access);
  std::copy(std::begin(access.host), std::end(access.host), store->to.begin());
  // Who waits for the store knows what its thread did before it, and not what it does later.
  Observer* const observer = cluster.observer();
  for (LaneMask left = observer == nullptr ? 0 : active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    observer->synchronise(warp, instr, objects[static_cast<std::size_t>(lane)], LaneMask{1} << lane,
                          Order::release);
  }
  cluster.promise(
      [&warp, &instr, store, token = access.token] { finish_remote(warp, instr, *store, token); });
}

void finish_decoding(DecodeContext& context, Instr& out, RemoteDetail detail, Type type) {
  context.expect_operands(3);
  detail.element_bytes = lane_bytes(type);
  detail.address = context.address(0);
  detail.barrier = context.address(2);
  const auto rows = context.sources(context.operand(1), type);
  if (rows.size() != static_cast<std::size_t>(detail.count)) {
    context.fail(fmt::format("lists {} values, but needs {} (2 with .v2, 4 with .v4, otherwise 1)",
                             rows.size(), detail.count));
  }
  context.set_rows(out, rows);
  out.detail = context.keep(detail);
  out.execute = &execute_remote;
}

void take_completion(DecodeContext& context) {
  context.take_one_of({"weak", "relaxed"});
  context.take("cluster");
  context.take_one_of({"shared::cluster"});
  if (!context.take("mbarrier::complete_tx::bytes")) {
    context.fail("is supported only with .mbarrier::complete_tx::bytes");
  }
}

// ---- setmaxnreg ----

/// Registers of one SM, which one block may have.
constexpr int kFileRegisters = 65536;

/// Raising waits until others have given up enough. What a thread has at first is not known before
/// code is made for a GPU; the most that the block's size allows is taken for it.
void execute_registers(Warp& warp, const Instr& instr, LaneMask active) {
  if (!warp.gather_all(instr, active)) return;
  const auto wanted = static_cast<int>(instr.immediate);
  const int first = std::min(
      255, kFileRegisters / static_cast<int>(warp.block().warps().size() * kLanes) / 8 * 8);
  const int noted = warp.register_limit() != 0 ? warp.register_limit() : warp.program().registers;
  const bool raises = instr.variant != 0;
  if (noted != 0 && (raises ? wanted < noted : wanted > noted)) {
    warp.fail(instr, active, Finding::invalid_operand,
              fmt::format("cannot {} the number of registers per thread from {} to {}",
                          raises ? "raise" : "lower", noted, wanted));
  }
  int others = 0;
  for (const auto& other : warp.block().warps()) {
    if (other.get() == &warp) continue;
    others += other->register_limit() != 0 ? other->register_limit() : first;
  }
  if ((others + wanted) * kLanes <= kFileRegisters || instr.variant == 0) {
    warp.set_register_limit(wanted);
    warp.block().cluster().progress();
    return;
  }
  // Nobody else may ever give up enough: then everybody waits, which is found.
  warp.yield();
  warp.jump(instr.index);
}

void decode_registers(DecodeContext& context, Instr& out) {
  const std::string_view action = context.take_one_of({"inc", "dec"});
  if (action.empty() || !context.take("sync") || !context.take("aligned")) {
    context.fail("is supported only as setmaxnreg.inc.sync.aligned or setmaxnreg.dec.sync.aligned");
  }
  context.take_type();
  context.expect_operands(1);
  out.immediate = context.immediate(0);
  if (out.immediate < 24 || out.immediate > 256 || out.immediate % 8 != 0) {
    context.fail(fmt::format(
        "requests {} registers; the number must be a multiple of 8 from 24 to 256", out.immediate));
  }
  out.variant = action == "inc" ? 1 : 0;
  out.execute = &execute_registers;
}

// st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.v2,.v4}.TYPE [to], value,
// [barrier]
void decode_store(DecodeContext& context, Instr& out) {
  take_completion(context);
  RemoteDetail detail;
  const std::string_view vector = context.take_one_of({"v2", "v4"});
  if (!vector.empty()) detail.count = vector == "v2" ? 2 : 4;
  const Type type = context.take_type();
  if (lane_bytes(type) < 4 || lane_bytes(type) * detail.count > 16) {
    context.fail("needs values of at least 4 bytes each, and at most 16 bytes in total");
  }
  finish_decoding(context, out, detail, type);
}

// red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.OPERATION.TYPE
void decode_reduction(DecodeContext& context, Instr& out) {
  take_completion(context);
  RemoteDetail detail;
  const std::string_view operation = take_reduction(context);
  const Type type = context.take_type();
  detail.reduce = find_atomic(operation, type);
  if (detail.reduce == nullptr) context.fail("is an operation that the emulator does not support");
  finish_decoding(context, out, detail, type);
}

constexpr TypeSet kLongTypes{Type::b64, Type::u64, Type::s64};
constexpr Traits kLong{.slots = kLongSlots};

constexpr Opcode kClusterOpcodes[] = {
    {"mapa", {Type::u32}, &decode_mapa, Unit::integer},
    {"mapa", {Type::u64}, &decode_mapa, Unit::integer, kLong},
    {"getctarank", {Type::u32}, &decode_rank, Unit::integer},
    {"getctarank", {Type::u64}, &decode_rank, Unit::integer, kLong},
    {"setmaxnreg", {}, &decode_registers, Unit::barrier, {.work = Work::issue}},
    {"st.async", kLongTypes, &decode_store, Unit::async_copy, kLong},
    {"st.async", {}, &decode_store, Unit::async_copy},
    {"red.async", kLongTypes, &decode_reduction, Unit::async_copy, kLong},
    {"red.async", {}, &decode_reduction, Unit::async_copy},
};

}  // namespace

std::span<const Opcode> cluster_opcodes() {
  return kClusterOpcodes;
}

}  // namespace kiln::emulated
