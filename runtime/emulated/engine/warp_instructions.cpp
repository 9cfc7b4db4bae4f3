// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Instructions that connect the lanes of a warp or the warps of a block: shuffles, votes, barriers
// and fences.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/engine/cluster.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"
#include "runtime/emulated/engine/warp.hpp"

namespace kiln::emulated {
namespace {

using ptx::Type;

bool has(LaneMask mask, int lane) {
  return (mask >> lane & 1U) != 0;
}

/// The member mask of a .sync instruction. Lanes with another mask than the first execute it by
/// themselves: false if there are any, and all come again in parts.
bool take_members(Warp& warp, const Instr& instr, std::uint32_t row, LaneMask active,
                  LaneMask& members) {
  const std::byte* const masks = warp.row(row);
  members = get<LaneMask>(masks, std::countr_zero(active));
  LaneMask same = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    same |= get<LaneMask>(masks, lane) == members ? kLaneBit[lane] : 0U;
  }
  same &= active;
  if ((same & ~members) != 0) {
    warp.fail(
        instr, same & ~members, Finding::invalid_operand,
        fmt::format(
            "is executed by lanes {:08x}, but the instruction's mask contains only lanes {:08x}",
            same, members));
  }
  if (same != active) warp.part(instr, same);
  return same == active;
}

void require_members(Warp& warp, const Instr& instr, LaneMask active, LaneMask members) {
  if (const LaneMask missing = members & warp.together() & ~active; missing != 0) {
    warp.fail(
        instr, missing, Finding::divergent,
        fmt::format("has lanes {:08x} in its mask, but these lanes do not execute the instruction",
                    missing));
  }
}

/// Takes the member mask and waits for the members; false while they are not all here.
bool gather_members(Warp& warp, const Instr& instr, std::uint32_t row, LaneMask active) {
  LaneMask members = 0;
  if (!take_members(warp, instr, row, active, members) || !warp.gather(instr, members)) {
    return false;
  }
  require_members(warp, instr, active, members);
  return true;
}

constexpr std::uint32_t kUnspecified = 0xcdcdcdcd;

enum class Shuffle : std::uint8_t { up, down, bfly, idx };

void execute_shuffle(Warp& warp, const Instr& instr, LaneMask active) {
  if (instr.e != kNoRow && !gather_members(warp, instr, instr.e, active)) return;
  const auto mode = static_cast<Shuffle>(instr.variant);
  std::uint32_t result[kLanes];
  LaneMask inside = 0;
  for_active(active, [&](int lane) {
    const int b = static_cast<int>(get<std::uint32_t>(warp.row(instr.b), lane) & 31U);
    const auto c = get<std::uint32_t>(warp.row(instr.c), lane);
    const int clamp = static_cast<int>(c & 31U);
    const int segment =
        static_cast<int>(c >> 8U & 31U);  // lanes of one segment agree in these bits
    const int top = (lane & segment) | (clamp & ~segment);
    const int bottom = lane & segment;
    int from = lane;
    bool valid = false;
    switch (mode) {
      case Shuffle::up:
        from = lane - b;
        valid = from >= top;
        break;
      case Shuffle::down:
        from = lane + b;
        valid = from <= top;
        break;
      case Shuffle::bfly:
        from = lane ^ b;
        valid = from <= top;
        break;
      case Shuffle::idx:
        from = bottom | (b & ~segment);
        valid = from <= top;
        break;
    }
    if (!valid) from = lane;
    if (valid) inside |= LaneMask{1} << lane;
    // What a lane that does not take part has is unspecified. Reductions read it and throw it away.
    result[lane] = has(active, from) ? get<std::uint32_t>(warp.row(instr.a), from) : kUnspecified;
  });
  for_active(active, [&](int lane) { put(warp.row(instr.d), lane, result[lane]); });
  if (instr.rows != nullptr) warp.set_predicate(instr.rows[0], inside, active);
}

/// The type of values that have the width of a lane, which lanes exchange.
Type take_word(DecodeContext& context) {
  const Type type = context.take_type();
  if (type == Type::pred || lane_bytes(type) != 4) {
    context.fail("is supported only for 32-bit types");
  }
  return type;
}

void decode_shfl(DecodeContext& context, Instr& out) {
  const bool sync = context.take("sync");
  const std::string_view mode = context.take_one_of({"up", "down", "bfly", "idx"});
  if (mode.empty()) context.fail("has no mode");
  out.variant = static_cast<std::uint8_t>(mode == "up"     ? Shuffle::up
                                          : mode == "down" ? Shuffle::down
                                          : mode == "bfly" ? Shuffle::bfly
                                                           : Shuffle::idx);
  const Type type = take_word(context);
  context.expect_operands(sync ? 5 : 4);
  const auto& result = context.operand(0);
  if (result.kind == ptx::Operand::Kind::pair) {
    out.d = context.destination(result.elements[0], type);
    context.set_rows(out, {context.destination(result.elements[1], Type::pred)});
  } else {
    out.d = context.destination(result, type);
  }
  out.a = context.source(1, type);
  out.b = context.source(2, Type::b32);
  out.c = context.source(3, Type::b32);
  if (sync) out.e = context.source(4, Type::b32);
  out.execute = &execute_shuffle;
}

enum class Vote : std::uint8_t { all, any, uni, ballot };

void execute_vote(Warp& warp, const Instr& instr, LaneMask active) {
  if (instr.e != kNoRow && !gather_members(warp, instr, instr.e, active)) return;
  const LaneMask value = warp.predicate(instr.a) ^ (instr.bytes != 0 ? kAllLanes : 0U);
  const LaneMask votes = value & active;
  const LaneMask yes = kAllLanes;
  switch (static_cast<Vote>(instr.variant)) {
    case Vote::all:
      warp.set_predicate(instr.d, votes == active ? yes : 0, active);
      break;
    case Vote::any:
      warp.set_predicate(instr.d, votes != 0 ? yes : 0, active);
      break;
    case Vote::uni:
      warp.set_predicate(instr.d, votes == active || votes == 0 ? yes : 0, active);
      break;
    case Vote::ballot:
      for_active(active, [&](int lane) { put(warp.row(instr.d), lane, votes); });
      break;
  }
}

// vote{.sync}.{all,any,uni}.pred p, q{, members}; vote{.sync}.ballot.b32 d, q{, members}
void decode_vote(DecodeContext& context, Instr& out) {
  const bool sync = context.take("sync");
  const std::string_view mode = context.take_one_of({"all", "any", "uni", "ballot"});
  const Type type = context.take_type();
  if (mode.empty()) context.fail("has no mode");
  const bool ballot = mode == "ballot";
  if (ballot != (type == Type::b32))
    context.fail("has the wrong type: .ballot needs .b32, and all other modes need .pred");
  context.expect_operands(sync ? 3 : 2);
  out.variant = static_cast<std::uint8_t>(mode == "all"   ? Vote::all
                                          : mode == "any" ? Vote::any
                                          : mode == "uni" ? Vote::uni
                                                          : Vote::ballot);
  out.d = context.destination(0, type);
  bool negated = false;
  out.a = context.predicate(context.operand(1), &negated);
  out.bytes = negated ? 1 : 0;
  if (sync) out.e = context.source(2, Type::b32);
  out.execute = &execute_vote;
}

void execute_activemask(Warp& warp, const Instr& instr, LaneMask active) {
  for_active(active, [&](int lane) { put(warp.row(instr.d), lane, active); });
}

void decode_activemask(DecodeContext& context, Instr& out) {
  const Type type = take_word(context);
  context.expect_operands(1);
  out.d = context.destination(0, type);
  out.execute = &execute_activemask;
}

template <class T>
void execute_match(Warp& warp, const Instr& instr, LaneMask active) {
  if (!gather_members(warp, instr, instr.e, active)) return;
  LaneMask all_equal = kAllLanes;
  const T first = get<T>(warp.row(instr.a), std::countr_zero(active));
  LaneMask same[kLanes];
  for_active(active, [&](int lane) {
    const T own = get<T>(warp.row(instr.a), lane);
    if (own != first) all_equal = 0;
    same[lane] = 0;
    for_active(active, [&](int other) {
      if (get<T>(warp.row(instr.a), other) == own) same[lane] |= kLaneBit[other];
    });
  });
  if (instr.variant == 0) {
    for_active(active, [&](int lane) { put(warp.row(instr.d), lane, same[lane]); });
    return;
  }
  for_active(active, [&](int lane) { put(warp.row(instr.d), lane, all_equal & active); });
  if (instr.b != kNoRow) warp.set_predicate(instr.b, all_equal, active);
}

void decode_match(DecodeContext& context, Instr& out) {
  const std::string_view mode = context.take_one_of({"any", "all"});
  if (!context.take("sync") || mode.empty())
    context.fail("is supported only as match.any.sync or match.all.sync");
  const Type type = context.take_one_of({"b64"}).empty() ? take_word(context) : Type::b64;
  context.expect_operands(3);
  out.variant = mode == "all" ? 1 : 0;
  const auto& result = context.operand(0);
  if (result.kind == ptx::Operand::Kind::pair) {
    if (out.variant == 0) context.fail("has a result predicate, which only match.all supports");
    out.d = context.destination(result.elements[0], Type::b32);
    out.b = context.destination(result.elements[1], Type::pred);
  } else {
    out.d = context.destination(result, Type::b32);
  }
  out.a = context.source(1, type);
  out.e = context.source(2, Type::b32);
  out.execute =
      lane_bytes(type) == 8 ? &execute_match<std::uint64_t> : &execute_match<std::uint32_t>;
}

enum class Reduction : std::uint8_t { add, min_u, max_u, min_s, max_s, bit_and, bit_or, bit_xor };

void execute_redux(Warp& warp, const Instr& instr, LaneMask active) {
  if (!gather_members(warp, instr, instr.e, active)) return;
  auto sum = get<std::uint32_t>(warp.row(instr.a), std::countr_zero(active));
  for_active(active & (active - 1), [&](int lane) {
    const auto value = get<std::uint32_t>(warp.row(instr.a), lane);
    const auto signed_sum = static_cast<std::int32_t>(sum);
    const auto signed_value = static_cast<std::int32_t>(value);
    switch (static_cast<Reduction>(instr.variant)) {
      case Reduction::add:
        sum += value;
        break;
      case Reduction::min_u:
        sum = std::min(sum, value);
        break;
      case Reduction::max_u:
        sum = std::max(sum, value);
        break;
      case Reduction::min_s:
        sum = static_cast<std::uint32_t>(std::min(signed_sum, signed_value));
        break;
      case Reduction::max_s:
        sum = static_cast<std::uint32_t>(std::max(signed_sum, signed_value));
        break;
      case Reduction::bit_and:
        sum &= value;
        break;
      case Reduction::bit_or:
        sum |= value;
        break;
      case Reduction::bit_xor:
        sum ^= value;
        break;
    }
  });
  for_active(active, [&](int lane) { put(warp.row(instr.d), lane, sum); });
}

void decode_redux(DecodeContext& context, Instr& out) {
  if (!context.take("sync")) context.fail("is supported only as redux.sync");
  const std::string name(context.take_one_of({"add", "min", "max", "and", "or", "xor"}));
  const Type type = take_word(context);
  const bool is_signed = type == Type::s32;
  static const std::map<std::string, Reduction> kReductions{{"add", Reduction::add},
                                                            {"and", Reduction::bit_and},
                                                            {"or", Reduction::bit_or},
                                                            {"xor", Reduction::bit_xor}};
  Reduction reduction = Reduction::add;
  if (name == "min") {
    reduction = is_signed ? Reduction::min_s : Reduction::min_u;
  } else if (name == "max") {
    reduction = is_signed ? Reduction::max_s : Reduction::max_u;
  } else if (kReductions.contains(name)) {
    reduction = kReductions.at(name);
  } else {
    context.fail("has no operation");
  }
  const bool counts = name == "add" || name == "min" || name == "max";
  if (counts ? type != Type::u32 && !is_signed : type != Type::b32) {
    context.fail(
        "has the wrong type: .add, .min and .max need .u32 or .s32; .and, .or and .xor need "
        ".b32");
  }
  context.expect_operands(3);
  out.variant = static_cast<std::uint8_t>(reduction);
  out.d = context.destination(0, type);
  out.a = context.source(1, type);
  out.e = context.source(2, Type::b32);
  out.execute = &execute_redux;
}

void execute_elect(Warp& warp, const Instr& instr, LaneMask active) {
  if (!gather_members(warp, instr, instr.e, active)) return;
  const auto leader = static_cast<std::uint32_t>(std::countr_zero(active));
  for_active(active, [&](int lane) { put(warp.row(instr.d), lane, leader); });
  warp.set_predicate(instr.b, LaneMask{1} << leader, active);
}

void decode_elect(DecodeContext& context, Instr& out) {
  if (!context.take("sync")) context.fail("is supported only as elect.sync");
  context.expect_operands(2);
  const auto& result = context.operand(0);
  if (result.kind != ptx::Operand::Kind::pair)
    context.fail("needs a first operand of the form d|p (a register and a predicate)");
  out.d = context.destination(result.elements[0], Type::b32);
  out.b = context.destination(result.elements[1], Type::pred);
  out.e = context.source(1, Type::b32);
  out.execute = &execute_elect;
}

// ---- barriers of a block ----

enum class BarrierMode : std::uint8_t { sync, arrive, reduce_count, reduce_and, reduce_or };

void execute_barrier(Warp& warp, const Instr& instr, LaneMask active) {
  // .aligned means that the whole warp comes together. Without it lanes come by themselves.
  if (instr.bytes != 0 && !warp.gather_all(instr, active)) return;
  const int first = std::countr_zero(active);
  const auto barrier = get<std::uint32_t>(warp.row(instr.a), first);
  const std::uint32_t threads =
      instr.b == kNoRow ? 0 : get<std::uint32_t>(warp.row(instr.b), first);
  if (barrier > 15) {
    warp.fail(instr, active, Finding::invalid_operand,
              fmt::format("uses barrier {}, but a block has only barriers 0 to 15", barrier));
  }
  const auto mode = static_cast<BarrierMode>(instr.variant);
  LaneMask vote = 0;
  if (instr.c != kNoRow) {
    vote = (warp.predicate(instr.c) ^ (instr.immediate != 0 ? kAllLanes : 0U)) & active;
  }
  const std::string wrong = warp.block().arrive(warp, static_cast<int>(barrier), threads, active,
                                                mode != BarrierMode::arrive, vote);
  if (!wrong.empty()) warp.fail(instr, active, Finding::barrier_mismatch, wrong);
}

/// The result of bar.red, read once the barrier has let the warp through.
void execute_barrier_result(Warp& warp, const Instr& instr, LaneMask active) {
  const Votes votes = warp.votes();
  const LaneMask all = votes.yes == votes.all ? kAllLanes : 0;
  switch (static_cast<BarrierMode>(instr.variant)) {
    case BarrierMode::reduce_and:
      warp.set_predicate(instr.d, all, active);
      break;
    case BarrierMode::reduce_or:
      warp.set_predicate(instr.d, votes.yes != 0 ? kAllLanes : 0, active);
      break;
    default:
      for_active(active, [&](int lane) { put(warp.row(instr.d), lane, votes.yes); });
  }
}

// {bar,barrier}{.cta}.red.{popc,and,or}{.aligned}.TYPE d, barrier{, threads}, p
template <bool kAligned>
void decode_barrier_reduction(DecodeContext& context, Instr& out) {
  const bool aligned = context.take("aligned") || kAligned;
  context.take("cta");
  const std::string_view what = context.take_one_of({"popc", "and", "or"});
  if (what.empty()) context.fail("has no operation");
  const Type type = what == "popc" ? take_word(context) : context.take_type();
  const std::size_t last = context.operands() - 1;
  if (last != 2 && last != 3) context.fail("must have 3 or 4 operands");
  const auto mode = what == "popc"  ? BarrierMode::reduce_count
                    : what == "and" ? BarrierMode::reduce_and
                                    : BarrierMode::reduce_or;
  Instr arrive;
  arrive.execute = &execute_barrier;
  arrive.unit = Unit::barrier;
  arrive.variant = static_cast<std::uint8_t>(mode);
  arrive.bytes = aligned ? 1 : 0;
  arrive.a = context.source(1, Type::u32);
  if (last == 3) arrive.b = context.source(2, Type::u32);
  bool negated = false;
  arrive.c = context.predicate(context.operand(last), &negated);
  arrive.immediate = negated ? 1 : 0;
  context.emit_before(arrive, {.work = Work::barrier});
  out.variant = arrive.variant;
  if (what != "popc" && type != Type::pred) context.fail("must return a predicate");
  out.d = context.destination(0, type);
  out.execute = &execute_barrier_result;  // the other half has waited
  if (what != "popc") context.traits().slots = 0.5F;
}

void execute_lane_barrier(Warp& warp, const Instr& instr, LaneMask active) {
  LaneMask members = 0;
  if (!take_members(warp, instr, instr.a, active, members)) return;
  require_members(warp, instr, active, members);
  warp.sync_lanes(members, active);
}

/// `variant` 1: relaxed.
void execute_cluster_arrive(Warp& warp, const Instr& instr, LaneMask active) {
  if (instr.bytes != 0 && !warp.gather_all(instr, active)) return;
  const std::string wrong = warp.block().cluster().cluster_arrive(warp, active, instr.variant != 0);
  if (!wrong.empty()) warp.fail(instr, active, Finding::barrier_mismatch, wrong);
}

void execute_cluster_wait(Warp& warp, const Instr& instr, LaneMask active) {
  if (instr.bytes != 0 && !warp.gather_all(instr, active)) return;
  const std::string wrong = warp.block().cluster().cluster_wait(warp, active);
  if (!wrong.empty()) warp.fail(instr, active, Finding::barrier_mismatch, wrong);
}

// bar.warp.sync members
void decode_lane_barrier(DecodeContext& context, Instr& out) {
  context.expect_operands(1);
  out.a = context.source(0, Type::b32);
  out.execute = &execute_lane_barrier;
}

// barrier.cluster.arrive{.release,.relaxed}{.aligned}
void decode_cluster_arrive(DecodeContext& context, Instr& out) {
  out.bytes = context.take("aligned") ? 1 : 0;
  context.expect_operands(0);
  out.variant = context.take_one_of({"release", "relaxed"}) == "relaxed" ? 1 : 0;
  out.execute = &execute_cluster_arrive;
}

// barrier.cluster.wait{.acquire}{.aligned}
void decode_cluster_wait(DecodeContext& context, Instr& out) {
  out.bytes = context.take("aligned") ? 1 : 0;
  context.expect_operands(0);
  context.take("acquire");
  out.execute = &execute_cluster_wait;
}

// {bar,barrier}{.cta}.{sync,arrive}{.aligned} barrier{, threads}. "bar" alone has always meant
// whole warps; "barrier" says so if it does.
template <BarrierMode mode, bool kAligned>
void decode_barrier(DecodeContext& context, Instr& out) {
  const bool aligned = context.take("aligned") || kAligned;
  context.take("cta");
  out.bytes = aligned ? 1 : 0;
  // An arrival that does not wait says how many threads are awaited.
  if (mode == BarrierMode::arrive || context.operands() != 1) context.expect_operands(2);
  out.variant = static_cast<std::uint8_t>(mode);
  out.a = context.source(0, Type::u32);
  if (context.operands() == 2) out.b = context.source(1, Type::u32);
  out.execute = &execute_barrier;
}

enum class Fence : std::uint8_t {
  none,           ///< orders nothing that is watched
  block,          ///< orders nothing that other blocks see
  wide,           ///< of the cluster, the GPU or the system
  async,          ///< between the generic and the asynchronous proxy
  mbarrier_init,  ///< lets other blocks use mbarriers
};

void execute_fence(Warp& warp, const Instr& instr, LaneMask active) {
  const auto kind = static_cast<Fence>(instr.variant);
  if (kind == Fence::async || kind == Fence::mbarrier_init) warp.block().mbarriers().publish();
  Observer* const observer = warp.block().cluster().observer();
  if (observer == nullptr) return;
  if (kind == Fence::block) observer->fence(warp, active, FenceKind::block);
  if (kind == Fence::wide) observer->fence(warp, active, FenceKind::generic);
  if (kind == Fence::async) observer->fence(warp, active, FenceKind::async);
  if (kind == Fence::mbarrier_init) observer->fence(warp, active, FenceKind::barrier_init);
}

void decode_fence(DecodeContext& context, Instr& out) {
  Fence kind = Fence::wide;
  bool of_global = false;
  bool acquires_map = false;
  if (context.take("proxy")) {
    // Tensor maps are read as each instruction begins, which makes an ordinary fence enough.
    const bool tensor_maps = context.take("tensormap::generic");
    if (!tensor_maps && context.take_one_of({"async", "async::generic"}).empty()) {
      context.fail("has a proxy that the emulator does not support");
    }
    if (!tensor_maps) kind = Fence::async;
    for (;;) {
      const std::string_view word =
          context.take_one_of({"global", "shared::cta", "shared::cluster", "acquire", "release",
                               "sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
      if (word.empty()) break;
      of_global |= word == "global";
      acquires_map |= tensor_maps && word == "acquire";
    }
  }
  if (context.take("mbarrier_init")) kind = Fence::mbarrier_init;
  context.take_one_of({"sc", "acq_rel", "acquire", "release"});
  context.take("release");
  const std::string_view scope = context.take_one_of({"cta", "cluster", "gpu", "sys", "gl"});
  // An address and a size follow what acquires for tensor maps.
  if (context.operands() != 0) {
    if (!acquires_map) context.expect_operands(0);
    context.expect_operands(2);
  }
  // Shared memory is what the asynchronous proxy is watched for.
  if (kind == Fence::async && of_global) kind = Fence::none;
  if (kind == Fence::wide && scope == "cta") kind = Fence::block;
  out.variant = static_cast<std::uint8_t>(kind);
  out.execute = &execute_fence;
}

void execute_sleep(Warp& warp, const Instr&, LaneMask) {
  warp.rest();
}

void decode_nanosleep(DecodeContext& context, Instr& out) {
  context.take_type();
  context.expect_operands(1);
  out.a = context.source(0, Type::u32);
  out.execute = &execute_sleep;
}

/// Programmatic launches: one emulated grid runs at a time, so the one before has always ended.
void decode_griddepcontrol(DecodeContext& context, Instr& out) {
  const std::string_view action = context.take_one_of({"wait", "launch_dependents"});
  if (action.empty()) context.fail("has no action");
  context.expect_operands(0);
  out.variant = action == "wait" ? 1 : 0;
  out.execute = [](Warp& warp, const Instr& instr, LaneMask active) {
    if (instr.variant == 1) warp.note_launch_wait(active);
  };
}

constexpr Traits kIssue{.work = Work::issue};
constexpr Traits kArrives{.work = Work::issue, .result = Result::none};
constexpr Traits kWaits{.work = Work::barrier, .result = Result::none};
constexpr Traits kPredicates{.slots = 0.5F};
constexpr TypeSet kLongBits{Type::b64};

constexpr Opcode kWarpOpcodes[] = {
    {"shfl", {}, &decode_shfl, Unit::shuffle, {.flow = Flow::chosen}},
    {"vote", {Type::pred}, &decode_vote, Unit::shuffle, kPredicates},
    {"vote", {}, &decode_vote, Unit::shuffle},
    {"activemask", {}, &decode_activemask, Unit::shuffle},
    {"match", kLongBits, &decode_match, Unit::shuffle, {.slots = kLongSlots}},
    {"match", {}, &decode_match, Unit::shuffle},
    {"redux", {}, &decode_redux, Unit::shuffle},
    {"elect", {}, &decode_elect, Unit::shuffle},
    {"bar.sync", {}, &decode_barrier<BarrierMode::sync, true>, Unit::barrier, kWaits},
    {"bar.arrive", {}, &decode_barrier<BarrierMode::arrive, true>, Unit::barrier, kArrives},
    {"bar.red", {}, &decode_barrier_reduction<true>, Unit::integer},
    {"bar.warp.sync", {}, &decode_lane_barrier, Unit::barrier, kArrives},
    {"barrier.sync", {}, &decode_barrier<BarrierMode::sync, false>, Unit::barrier, kWaits},
    {"barrier.arrive", {}, &decode_barrier<BarrierMode::arrive, false>, Unit::barrier, kArrives},
    {"barrier.red", {}, &decode_barrier_reduction<false>, Unit::integer},
    {"barrier.cluster.arrive", {}, &decode_cluster_arrive, Unit::barrier, kArrives},
    {"barrier.cluster.wait", {}, &decode_cluster_wait, Unit::barrier, kWaits},
    {"membar", {}, &decode_fence, Unit::barrier, kIssue},
    {"fence", {}, &decode_fence, Unit::barrier, kIssue},
    {"nanosleep", {}, &decode_nanosleep, Unit::control, {.result = Result::none}},
    {"griddepcontrol", {}, &decode_griddepcontrol, Unit::control},
};

}  // namespace

std::span<const Opcode> warp_opcodes() {
  return kWarpOpcodes;
}

}  // namespace kiln::emulated
