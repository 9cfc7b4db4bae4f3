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

#include "runtime/emulated/cluster.hpp"
#include "runtime/emulated/decoder.hpp"
#include "runtime/emulated/warp.hpp"

namespace kiln::emulated {
namespace {

using ptx::Type;

bool has(LaneMask mask, int lane) {
  return (mask >> lane & 1U) != 0;
}

/// The member mask of a .sync instruction, one value for all lanes. Waits for the members; false
/// while they are not all here.
bool gather_members(Warp& warp, const Instr& instr, std::uint32_t row, LaneMask active,
                    LaneMask& members) {
  members = get<std::uint32_t>(warp.row(row), std::countr_zero(active));
  if ((members & active) != active) {
    warp.fail(instr, active & ~members, Finding::invalid_operand,
              fmt::format("is executed by lanes {:08x}, but its mask is {:08x}", active, members));
  }
  if (!warp.gather(instr, members)) return false;
  if (const LaneMask missing = members & warp.live() & ~active; missing != 0) {
    warp.fail(instr, missing, Finding::divergent,
              fmt::format("lanes {:08x} are in its mask but skip it", missing));
  }
  return true;
}

enum class Shuffle : std::uint8_t { up, down, bfly, idx };

void execute_shuffle(Warp& warp, const Instr& instr, LaneMask active) {
  LaneMask members = kAllLanes;
  if (instr.e != kNoRow && !gather_members(warp, instr, instr.e, active, members)) return;
  const auto mode = static_cast<Shuffle>(instr.variant);
  std::uint32_t result[kLanes];
  LaneMask inside = 0;
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
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
    if (!has(active, from)) {
      warp.report(instr, LaneMask{1} << lane, Finding::invalid_operand,
                  fmt::format("reads lane {}, which does not take part", from));
    }
    result[lane] = get<std::uint32_t>(warp.row(instr.a), from);
  }
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    put(warp.row(instr.d), lane, result[lane]);
  }
  if (instr.target != 0) warp.set_predicate(instr.rows[0], inside, active);
}

void decode_shfl(DecodeContext& context, Instr& out) {
  const bool sync = context.take("sync");
  const std::string_view mode = context.take_one_of({"up", "down", "bfly", "idx"});
  if (mode.empty()) context.fail("has no mode");
  out.variant = static_cast<std::uint8_t>(mode == "up"     ? Shuffle::up
                                          : mode == "down" ? Shuffle::down
                                          : mode == "bfly" ? Shuffle::bfly
                                                           : Shuffle::idx);
  const Type type = context.take_type();
  context.expect_operands(sync ? 5 : 4);
  const auto& result = context.operand(0);
  if (result.kind == ptx::Operand::Kind::pair) {
    out.d = context.destination(result.elements[0], type);
    context.set_rows(out, {context.predicate(result.elements[1])});
    out.target = 1;
  } else {
    out.d = context.destination(result, type);
  }
  out.a = context.source(1, type);
  out.b = context.source(2, Type::b32);
  out.c = context.source(3, Type::b32);
  if (sync) out.e = context.source(4, Type::b32);
  out.unit = Unit::shuffle;
  out.execute = &execute_shuffle;
}

enum class Vote : std::uint8_t { all, any, uni, ballot };

void execute_vote(Warp& warp, const Instr& instr, LaneMask active) {
  LaneMask members = kAllLanes;
  if (instr.e != kNoRow && !gather_members(warp, instr, instr.e, active, members)) return;
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
      for (LaneMask left = active; left != 0; left &= left - 1) {
        put(warp.row(instr.d), std::countr_zero(left), votes);
      }
      break;
  }
}

void decode_vote(DecodeContext& context, Instr& out) {
  const bool sync = context.take("sync");
  const std::string_view mode = context.take_one_of({"all", "any", "uni", "ballot"});
  const Type type = context.take_type();
  if (mode.empty()) context.fail("has no mode");
  const bool ballot = mode == "ballot";
  if (ballot != (type == Type::b32)) context.fail("has the wrong type for its mode");
  context.expect_operands(sync ? 3 : 2);
  out.variant = static_cast<std::uint8_t>(mode == "all"   ? Vote::all
                                          : mode == "any" ? Vote::any
                                          : mode == "uni" ? Vote::uni
                                                          : Vote::ballot);
  out.d = ballot ? context.destination(0, type) : context.predicate(context.operand(0));
  bool negated = false;
  out.a = context.predicate(context.operand(1), &negated);
  out.bytes = negated ? 1 : 0;
  if (sync) out.e = context.source(2, Type::b32);
  out.unit = Unit::shuffle;
  out.execute = &execute_vote;
}

void execute_activemask(Warp& warp, const Instr& instr, LaneMask active) {
  for (LaneMask left = active; left != 0; left &= left - 1) {
    put(warp.row(instr.d), std::countr_zero(left), active);
  }
}

void decode_activemask(DecodeContext& context, Instr& out) {
  const Type type = context.take_type();
  context.expect_operands(1);
  out.d = context.destination(0, type);
  out.unit = Unit::shuffle;
  out.execute = &execute_activemask;
}

template <class T>
void execute_match(Warp& warp, const Instr& instr, LaneMask active) {
  LaneMask members = kAllLanes;
  if (!gather_members(warp, instr, instr.e, active, members)) return;
  LaneMask all_equal = kAllLanes;
  const T first = get<T>(warp.row(instr.a), std::countr_zero(active));
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const T own = get<T>(warp.row(instr.a), lane);
    if (own != first) all_equal = 0;
    LaneMask same = 0;
    for (LaneMask others = active; others != 0; others &= others - 1) {
      const int other = std::countr_zero(others);
      if (get<T>(warp.row(instr.a), other) == own) same |= LaneMask{1} << other;
    }
    if (instr.variant == 0) put(warp.row(instr.d), lane, same);
  }
  if (instr.variant == 0) return;
  for (LaneMask left = active; left != 0; left &= left - 1) {
    put(warp.row(instr.d), std::countr_zero(left), all_equal & active);
  }
  if (instr.b != kNoRow) warp.set_predicate(instr.b, all_equal, active);
}

void decode_match(DecodeContext& context, Instr& out) {
  const std::string_view mode = context.take_one_of({"any", "all"});
  if (!context.take("sync") || mode.empty()) context.fail("is known as match.any/all.sync only");
  const Type type = context.take_type();
  context.expect_operands(3);
  out.variant = mode == "all" ? 1 : 0;
  const auto& result = context.operand(0);
  if (result.kind == ptx::Operand::Kind::pair) {
    out.d = context.destination(result.elements[0], Type::b32);
    out.b = context.predicate(result.elements[1]);
  } else {
    out.d = context.destination(result, Type::b32);
  }
  out.a = context.source(1, type);
  out.e = context.source(2, Type::b32);
  out.unit = Unit::shuffle;
  out.execute =
      lane_bytes(type) == 8 ? &execute_match<std::uint64_t> : &execute_match<std::uint32_t>;
}

enum class Reduction : std::uint8_t { add, min_u, max_u, min_s, max_s, bit_and, bit_or, bit_xor };

void execute_redux(Warp& warp, const Instr& instr, LaneMask active) {
  LaneMask members = kAllLanes;
  if (!gather_members(warp, instr, instr.e, active, members)) return;
  std::uint32_t sum = get<std::uint32_t>(warp.row(instr.a), std::countr_zero(active));
  for (LaneMask left = active & (active - 1); left != 0; left &= left - 1) {
    const auto value = get<std::uint32_t>(warp.row(instr.a), std::countr_zero(left));
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
  }
  for (LaneMask left = active; left != 0; left &= left - 1) {
    put(warp.row(instr.d), std::countr_zero(left), sum);
  }
}

void decode_redux(DecodeContext& context, Instr& out) {
  if (!context.take("sync")) context.fail("is known as redux.sync only");
  const std::string name(context.take_one_of({"add", "min", "max", "and", "or", "xor"}));
  const Type type = context.take_type();
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
  context.expect_operands(3);
  out.variant = static_cast<std::uint8_t>(reduction);
  out.d = context.destination(0, type);
  out.a = context.source(1, type);
  out.e = context.source(2, Type::b32);
  out.unit = Unit::shuffle;
  out.execute = &execute_redux;
}

void execute_elect(Warp& warp, const Instr& instr, LaneMask active) {
  LaneMask members = kAllLanes;
  if (!gather_members(warp, instr, instr.e, active, members)) return;
  const auto leader = static_cast<std::uint32_t>(std::countr_zero(active));
  for (LaneMask left = active; left != 0; left &= left - 1) {
    put(warp.row(instr.d), std::countr_zero(left), leader);
  }
  warp.set_predicate(instr.b, LaneMask{1} << leader, active);
}

void decode_elect(DecodeContext& context, Instr& out) {
  if (!context.take("sync")) context.fail("is known as elect.sync only");
  context.expect_operands(2);
  const auto& result = context.operand(0);
  if (result.kind != ptx::Operand::Kind::pair) context.fail("needs a result and a predicate");
  out.d = context.destination(result.elements[0], Type::b32);
  out.b = context.predicate(result.elements[1]);
  out.e = context.source(1, Type::b32);
  out.unit = Unit::shuffle;
  out.execute = &execute_elect;
}

// ---- barriers of a block ----

enum class BarrierMode : std::uint8_t { sync, arrive, reduce_count, reduce_and, reduce_or };

void execute_barrier(Warp& warp, const Instr& instr, LaneMask active) {
  // .aligned means that the whole warp comes together. Without it groups come by themselves.
  if (instr.bytes != 0) {
    if (!warp.gather_all(instr, active)) return;
  } else if (active != warp.together()) {
    warp.fail(instr, active, Finding::unsupported, "is guarded within a group of lanes");
  }
  const int first = std::countr_zero(active);
  const auto barrier = get<std::uint32_t>(warp.row(instr.a), first);
  const std::uint32_t threads =
      instr.b == kNoRow ? 0 : get<std::uint32_t>(warp.row(instr.b), first);
  if (barrier > 15) {
    warp.fail(instr, active, Finding::invalid_operand,
              fmt::format("names barrier {}, but there are 16", barrier));
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
  const auto barrier =
      static_cast<int>(get<std::uint32_t>(warp.row(instr.a), std::countr_zero(active)));
  const std::uint32_t votes = warp.block().votes(barrier);
  const LaneMask all = votes == warp.block().voters(barrier) ? kAllLanes : 0;
  switch (static_cast<BarrierMode>(instr.variant)) {
    case BarrierMode::reduce_and:
      warp.set_predicate(instr.d, all, active);
      break;
    case BarrierMode::reduce_or:
      warp.set_predicate(instr.d, votes != 0 ? kAllLanes : 0, active);
      break;
    default:
      for (LaneMask left = active; left != 0; left &= left - 1) {
        put(warp.row(instr.d), std::countr_zero(left), votes);
      }
  }
}

void decode_barrier_reduction(DecodeContext& context, Instr& out, bool aligned) {
  const std::string_view what = context.take_one_of({"popc", "and", "or"});
  if (what.empty()) context.fail("has no operation");
  const Type type = context.take_type();
  const std::size_t last = context.operands() - 1;
  if (last != 2 && last != 3) context.fail("has an odd number of operands");
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
  context.emit_before(arrive);
  out.variant = arrive.variant;
  out.a = arrive.a;
  out.d = type == Type::pred ? context.predicate(context.operand(0)) : context.destination(0, type);
  out.execute = &execute_barrier_result;
}

void execute_lane_barrier(Warp& warp, const Instr& instr, LaneMask active) {
  const auto members = get<std::uint32_t>(warp.row(instr.a), std::countr_zero(active));
  if (Observer* observer = warp.block().cluster().observer()) observer->warp_sync(warp, members);
  warp.sync_lanes(members);
}

void execute_cluster_arrive(Warp& warp, const Instr& instr, LaneMask active) {
  if (instr.bytes != 0 && !warp.gather_all(instr, active)) return;
  warp.block().cluster().cluster_arrive(warp, active);
}

void execute_cluster_wait(Warp& warp, const Instr& instr, LaneMask active) {
  if (instr.bytes != 0 && !warp.gather_all(instr, active)) return;
  warp.block().cluster().cluster_wait(warp);
}

void decode_barrier(DecodeContext& context, Instr& out) {
  const bool warp_wide = context.take("warp");
  const bool cluster = context.take("cluster");
  const std::string_view what = context.take_one_of({"sync", "arrive", "red", "wait"});
  // "bar" alone has always meant whole warps; "barrier" says so if it does.
  const bool aligned = context.take("aligned") || context.in().parts.front() == "bar";
  out.unit = Unit::barrier;
  if (warp_wide) {
    context.expect_operands(1);
    out.a = context.source(0, Type::b32);
    out.execute = &execute_lane_barrier;
    return;
  }
  out.bytes = aligned ? 1 : 0;
  if (cluster) {
    context.expect_operands(0);
    context.take_one_of({"release", "relaxed", "acquire"});
    out.execute = what == "arrive" ? &execute_cluster_arrive : &execute_cluster_wait;
    return;
  }
  context.take("cta");
  if (what == "red") {
    decode_barrier_reduction(context, out, aligned);
    return;
  }
  out.variant =
      static_cast<std::uint8_t>(what == "arrive" ? BarrierMode::arrive : BarrierMode::sync);
  out.a = context.source(0, Type::u32);
  if (context.operands() > 1) out.b = context.source(1, Type::u32);
  out.execute = &execute_barrier;
}

enum class Fence : std::uint8_t { ordinary, async, mbarrier_init };

void execute_fence(Warp& warp, const Instr& instr, LaneMask active) {
  const auto kind = static_cast<Fence>(instr.variant);
  if (kind != Fence::ordinary) warp.block().mbarriers().publish();
  if (Observer* observer = warp.block().cluster().observer()) {
    observer->fence(warp, active, kind == Fence::async ? Proxy::async : Proxy::generic);
  }
}

void decode_fence(DecodeContext& context, Instr& out) {
  const bool proxy = context.take("proxy");
  if (proxy) {
    // Tensor maps are read as each instruction begins, which makes an ordinary fence enough.
    const bool tensor_maps = context.take("tensormap::generic");
    if (!tensor_maps && context.take_one_of({"async", "async::generic"}).empty()) {
      context.fail("is for a proxy that the emulator does not know");
    }
    if (!tensor_maps) out.variant = static_cast<std::uint8_t>(Fence::async);
    while (!context
                .take_one_of({"global", "shared::cta", "shared::cluster", "acquire", "release",
                              "sync_restrict::shared::cta", "sync_restrict::shared::cluster"})
                .empty()) {
    }
  }
  if (context.take("mbarrier_init")) {
    out.variant = static_cast<std::uint8_t>(Fence::mbarrier_init);
  }
  context.take_one_of({"sc", "acq_rel", "acquire", "release"});
  context.take("release");
  context.take_one_of({"cta", "cluster", "gpu", "sys", "gl"});
  out.unit = Unit::barrier;
  out.execute = &execute_fence;
}

void execute_sleep(Warp& warp, const Instr&, LaneMask) {
  warp.yield();
}

void decode_nanosleep(DecodeContext& context, Instr& out) {
  context.take_type();
  context.expect_operands(1);
  out.a = context.source(0, Type::u32);
  out.unit = Unit::control;
  out.execute = &execute_sleep;
}

/// Programmatic launches: one emulated grid runs at a time, so the one before has always ended.
void decode_griddepcontrol(DecodeContext& context, Instr& out) {
  if (context.take_one_of({"wait", "launch_dependents"}).empty()) context.fail("has no action");
  out.unit = Unit::control;
  out.execute = [](Warp&, const Instr&, LaneMask) {};
}

constexpr Opcode kOpcodes[] = {
    {"shfl", &decode_shfl},
    {"vote", &decode_vote},
    {"activemask", &decode_activemask},
    {"match", &decode_match},
    {"redux", &decode_redux},
    {"elect", &decode_elect},
    {"bar", &decode_barrier},
    {"barrier", &decode_barrier},
    {"membar", &decode_fence},
    {"fence", &decode_fence},
    {"nanosleep", &decode_nanosleep},
    {"griddepcontrol", &decode_griddepcontrol},
};

}  // namespace

std::span<const Opcode> warp_opcodes() {
  return kOpcodes;
}

}  // namespace kiln::emulated
