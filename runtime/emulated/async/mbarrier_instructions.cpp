// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// mbarrier.* and cp.async.mbarrier.arrive.
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <string_view>

#include "runtime/emulated/async/async_instructions.hpp"
#include "runtime/emulated/async/copy_queue.hpp"
#include "runtime/emulated/async/mbarrier_access.hpp"
#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/memory/memory_operands.hpp"

namespace kiln::emulated {
namespace {

using ptx::Type;

/// Row `b` is a count or a number of bytes (kNoRow: 1), row `c` a state or parity.
struct BarrierDetail {
  AddressOperand address;
  Arrival arrival;
  bool expects = false;          ///< arrive.expect_tx: `b` is of bytes
  bool by_parity = false;        ///< of waits
  bool own_only = false;         ///< shared memory of the own block
  Order order = Order::acquire;  ///< of waits
};

/// A state is what arrivals return: the phase above, the arrivals that it still missed below.
std::uint64_t state_of(const Mbarrier& barrier) {
  return (std::uint64_t{barrier.phase()} << 32U) | barrier.pending();
}

const BarrierDetail& barrier_detail_of(const Instr& instr) {
  return *static_cast<const BarrierDetail*>(instr.detail);
}

SharedSpot spot_of(Warp& warp, const Instr& instr, int lane) {
  const BarrierDetail& detail = barrier_detail_of(instr);
  const SharedSpot spot =
      shared_spot(warp, instr, lane, address_at(warp, detail.address, lane), 8, 8);
  if (detail.own_only && spot.owner != &warp.block()) {
    warp.fail(instr, LaneMask{1} << lane, Finding::invalid_operand,
              fmt::format("uses an mbarrier of block rank {}; the mbarrier must be in shared "
                          "memory of the executing block",
                          spot.owner->rank()));
  }
  return spot;
}

BarrierRef barrier_of(Warp& warp, const Instr& instr, int lane) {
  return barrier_at(warp, instr, lane, spot_of(warp, instr, lane));
}

/// Tells the observer that the lanes use their mbarriers.
void tell_touches(Warp& warp, const Instr& instr, LaneMask active) {
  BarrierTouches touches(AccessKind::load);
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    touches.add(lane, barrier_of(warp, instr, lane).at);
  }
  touches.notify(warp, instr);
}

std::uint32_t number_of(Warp& warp, std::uint32_t row, int lane) {
  return row == kNoRow ? 1U : get<std::uint32_t>(warp.row(row), lane);
}

void execute_init(Warp& warp, const Instr& instr, LaneMask active) {
  BarrierTouches touches(AccessKind::store);
  Observer* const observer = warp.block().cluster().observer();
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const LaneMask bit = LaneMask{1} << lane;
    const SharedSpot spot = spot_of(warp, instr, lane);
    const std::uint32_t count = number_of(warp, instr.b, lane);
    if (count == 0 || count > Mbarrier::kMost) {
      warp.fail(
          instr, bit, Finding::invalid_operand,
          fmt::format("initialises an mbarrier for {} arrivals; this number must be from 1 to {}",
                      count, Mbarrier::kMost));
    }
    MbarrierTable& table = spot.owner->mbarriers();
    std::uint64_t token = 0;
    std::memcpy(&token, spot.host(), sizeof token);
    if (table.find(spot.offset) != nullptr && token == MbarrierTable::kToken) {
      warp.report(instr, bit, Finding::invalid_operand,
                  fmt::format("initialises the mbarrier at offset {}, which is in use: execute "
                              "mbarrier.inval first",
                              spot.shown()),
                  spot.offset);
    }
    table.init(spot.offset, count);
    std::memcpy(spot.host(), &MbarrierTable::kToken, sizeof token);
    if (observer != nullptr) {
      observer->begin_phase(warp, instr, lane, BarrierRef{spot}.object(1), 0);
    }
    touches.add(lane, spot);
  }
  touches.notify(warp, instr);
}

void execute_inval(Warp& warp, const Instr& instr, LaneMask active) {
  BarrierTouches touches(AccessKind::store);
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const BarrierRef barrier = barrier_of(warp, instr, lane);
    barrier.at.owner->mbarriers().erase(barrier.at.offset);
    std::memset(barrier.at.host(), 0, 8);
    touches.add(lane, barrier.at);
  }
  touches.notify(warp, instr);
}

void execute_arrive(Warp& warp, const Instr& instr, LaneMask active) {
  const BarrierDetail& detail = barrier_detail_of(instr);
  tell_touches(warp, instr, active);
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const BarrierRef barrier = barrier_of(warp, instr, lane);
    const std::uint32_t number = number_of(warp, instr.b, lane);
    if (instr.d != kNoRow) put(warp.row(instr.d), lane, state_of(*barrier.state));
    Arrival arrival = detail.arrival;
    if (detail.expects) {
      change(warp, instr, lane, barrier,
             [&](Mbarrier& state) { return state.expect_bytes(number); });
    } else {
      arrival.count = number;
    }
    arrive(warp, instr, lane, barrier, arrival);
  }
}

/// The thread completes bytes itself, as an operation does that is over as soon as it is issued.
void tell_completion(Warp& warp, const BarrierRef& barrier) {
  Cluster& cluster = warp.block().cluster();
  if (cluster.observer() == nullptr) return;
  const std::uint64_t token = cluster.new_tokens(1);
  cluster.observer()->async_issue(warp, token, 1);
  cluster.observer()->async_end(token, barrier.object());
}

/// expect_tx (variant 0) and complete_tx.
void execute_bytes(Warp& warp, const Instr& instr, LaneMask active) {
  tell_touches(warp, instr, active);
  const bool expects = instr.variant == 0;
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const BarrierRef barrier = barrier_of(warp, instr, lane);
    const std::uint32_t bytes = number_of(warp, instr.b, lane);
    if (!expects) tell_completion(warp, barrier);
    change(warp, instr, lane, barrier, [&](Mbarrier& state) {
      return expects ? state.expect_bytes(bytes) : state.complete_bytes(bytes);
    });
  }
}

void execute_mbarrier_wait(Warp& warp, const Instr& instr, LaneMask active) {
  const BarrierDetail& detail = barrier_detail_of(instr);
  MbarrierTable& table = warp.block().mbarriers();
  Observer* const observer = warp.block().cluster().observer();
  BarrierTouches touches(AccessKind::load);
  LaneMask passed = 0;
  LaneMask noted = 0;
  // Lanes that pass the same phase acquire it together.
  LaneMask acquiring = 0;
  std::uint64_t object = 0;
  const auto acquire = [&](LaneMask bit, std::uint64_t of) {
    if (acquiring != 0 && of != object) {
      observer->synchronise(warp, instr, object, acquiring, detail.order);
      acquiring = 0;
    }
    acquiring |= bit;
    object = of;
  };
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const LaneMask bit = LaneMask{1} << lane;
    const BarrierRef barrier = barrier_of(warp, instr, lane);
    touches.add(lane, barrier.at);
    std::uint32_t parity = 0;
    bool done = false;
    if (detail.by_parity) {
      parity = get<std::uint32_t>(warp.row(instr.c), lane);
      if (parity > 1) {
        warp.fail(instr, bit, Finding::invalid_operand,
                  fmt::format("waits for parity {}; the parity must be 0 or 1", parity));
      }
      done = barrier.state->parity() != parity;
    } else {
      const auto phase =
          static_cast<std::uint32_t>(get<std::uint64_t>(warp.row(instr.c), lane) >> 32U);
      parity = phase & 1U;
      if (barrier.state->phase() - phase > 1) {
        warp.fail(instr, bit, Finding::invalid_operand,
                  fmt::format("waits for phase {}, but the mbarrier is in phase {}. A thread can "
                              "wait only for the current phase or the previous phase",
                              phase, barrier.state->phase()));
      }
      done = barrier.state->phase() != phase;
    }
    if (done) {
      passed |= bit;
      if (observer != nullptr) acquire(bit, barrier.object(parity));
    } else if ((noted & bit) == 0) {
      // Lanes wait alike nearly always; one note serves all that are still to be looked at.
      noted = left;
      table.note_wait(warp.index(), left, barrier.at.offset, parity);
    }
  }
  touches.notify(warp, instr);
  if (acquiring != 0) observer->synchronise(warp, instr, object, acquiring, detail.order);
  warp.set_predicate(instr.d, passed, active);
  if (passed != 0) table.forget_wait(warp.index(), passed);
  if (passed != active) warp.yield();
}

void execute_pending_count(Warp& warp, const Instr& instr, LaneMask active) {
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    put(warp.row(instr.d), lane,
        static_cast<std::uint32_t>(get<std::uint64_t>(warp.row(instr.a), lane)));
  }
}

/// The thread's copies that are under way arrive for it when they are done. Without .noinc the
/// phase waits for that in addition to its own arrivals.
void execute_copy_arrival(Warp& warp, const Instr& instr, LaneMask active) {
  tell_touches(warp, instr, active);
  Cluster& cluster = warp.block().cluster();
  Observer* const observer = cluster.observer();
  const std::uint32_t newest = warp.copies().newest();
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const BarrierRef barrier = barrier_of(warp, instr, lane);
    if (instr.variant == 0) require(warp, instr, lane, barrier, barrier.state->expect_arrival());
    // What the thread does from now on is not known to who waits for this arrival.
    if (observer != nullptr) {
      observer->synchronise(warp, instr, barrier.object(), LaneMask{1} << lane, Order::release);
    }
    cluster.promise([&warp, &instr, lane, newest, spot = barrier.at] {
      const BarrierRef at = barrier_at(warp, instr, lane, spot);
      warp.copies().notify(lane, newest, at.object());
      arrive(warp, instr, lane, at, Arrival{.order = std::nullopt});
    });
  }
}

// ---- decoding ----

void take_semantics(DecodeContext& context, BarrierDetail& detail) {
  const std::string_view order = context.take_one_of({"release", "acquire", "relaxed"});
  if (order == "relaxed") {
    detail.arrival.order = Order::relaxed_release;
    detail.order = Order::relaxed_acquire;
  }
  context.take_one_of({"cta", "cluster"});
}

/// The space, operand `i` as the address, and the rest of what all forms share.
void finish(DecodeContext& context, Instr& out, std::size_t i, BarrierDetail detail) {
  if (!context.take_one_of({"shared", "shared::cta"}).empty()) {
    detail.own_only = true;
  } else if (!detail.own_only) {
    context.take("shared::cluster");
  }
  context.take("b64");
  detail.address = context.address(i);
  out.detail = context.keep(detail);
}

// mbarrier.{arrive,arrive_drop}{.expect_tx}{.noComplete}...b64 {state,} [barrier]{, count}
template <bool kDrops>
void decode_arrival(DecodeContext& context, Instr& out) {
  BarrierDetail detail;
  detail.arrival.drops = kDrops;
  detail.expects = context.take("expect_tx");
  detail.arrival.completes = !context.take("noComplete");
  take_semantics(context, detail);
  // Older code leaves the state out where it is not wanted; `_` says the same.
  const std::size_t first = context.operand(0).kind == ptx::Operand::Kind::address ? 0 : 1;
  if (first == 1 && context.operand(0).kind != ptx::Operand::Kind::discard) {
    out.d = context.destination(0, Type::b64);
    detail.own_only = true;
  }
  if (context.operands() > first + 1) {
    context.expect_operands(first + 2);
    out.b = context.source(first + 1, Type::u32);
  } else if (detail.expects) {
    context.fail("needs the number of bytes as the last operand");
  }
  out.execute = &execute_arrive;
  finish(context, out, first, detail);
}

// mbarrier.{test_wait,try_wait}{.parity}...b64 p, [barrier], state or parity{, time}
void decode_mbarrier_wait(DecodeContext& context, Instr& out) {
  BarrierDetail detail;
  detail.by_parity = context.take("parity");
  detail.own_only = true;
  take_semantics(context, detail);
  if (context.operands() < 3 || context.operands() > 4) context.fail("needs 3 or 4 operands");
  out.d = context.destination(0, ptx::Type::pred);
  out.c = context.source(2, detail.by_parity ? Type::u32 : Type::b64);
  out.execute = &execute_mbarrier_wait;
  finish(context, out, 1, detail);
}

// mbarrier.init{.shared}.b64 [barrier], count
void decode_init(DecodeContext& context, Instr& out) {
  context.expect_operands(2);
  out.b = context.source(1, Type::u32);
  out.execute = &execute_init;
  BarrierDetail detail;
  detail.own_only = true;
  finish(context, out, 0, detail);
}

// mbarrier.inval{.shared}.b64 [barrier]
void decode_inval(DecodeContext& context, Instr& out) {
  context.expect_operands(1);
  out.execute = &execute_inval;
  BarrierDetail detail;
  detail.own_only = true;
  finish(context, out, 0, detail);
}

// mbarrier.pending_count.b64 count, state
void decode_pending_count(DecodeContext& context, Instr& out) {
  context.expect_operands(2);
  context.take("b64");
  out.d = context.destination(0, Type::u32);
  out.a = context.source(1, Type::b64);
  out.execute = &execute_pending_count;
}

// mbarrier.{expect_tx,complete_tx}...b64 [barrier], bytes
template <bool kCompletes>
void decode_bytes(DecodeContext& context, Instr& out) {
  context.expect_operands(2);
  BarrierDetail detail;
  take_semantics(context, detail);
  out.variant = kCompletes ? 1 : 0;
  out.b = context.source(1, Type::u32);
  out.execute = &execute_bytes;
  finish(context, out, 0, detail);
}

// cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [barrier]
void decode_copy_arrival(DecodeContext& context, Instr& out) {
  context.expect_operands(1);
  out.variant = context.take("noinc") ? 1 : 0;
  BarrierDetail detail;
  detail.own_only = true;
  out.execute = &execute_copy_arrival;
  finish(context, out, 0, detail);
}

/// They change or read memory, so their states are no addresses that anything is known of.
constexpr Traits kIssueMbarrier{.work = Work::issue, .flow = Flow::loaded};

constexpr Opcode kMbarrierOpcodes[] = {
    {"mbarrier.init", {}, &decode_init, Unit::barrier, kIssueMbarrier},
    {"mbarrier.inval", {}, &decode_inval, Unit::barrier, kIssueMbarrier},
    {"mbarrier.arrive", {}, &decode_arrival<false>, Unit::barrier, kIssueMbarrier},
    {"mbarrier.arrive_drop", {}, &decode_arrival<true>, Unit::barrier, kIssueMbarrier},
    {"mbarrier.test_wait", {}, &decode_mbarrier_wait, Unit::barrier, kIssueMbarrier},
    {"mbarrier.try_wait", {}, &decode_mbarrier_wait, Unit::barrier, kIssueMbarrier},
    {"mbarrier.pending_count",
     {},
     &decode_pending_count,
     Unit::integer,
     {.slots = kLongSlots, .flow = Flow::loaded}},
    {"mbarrier.complete_tx", {}, &decode_bytes<true>, Unit::barrier, kIssueMbarrier},
    {"mbarrier.expect_tx", {}, &decode_bytes<false>, Unit::barrier, kIssueMbarrier},
    {"cp.async.mbarrier.arrive", {}, &decode_copy_arrival, Unit::barrier, {.work = Work::issue}},
};

}  // namespace

std::span<const Opcode> mbarrier_opcodes() {
  return kMbarrierOpcodes;
}

}  // namespace kiln::emulated
