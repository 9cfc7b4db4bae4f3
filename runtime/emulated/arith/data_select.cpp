// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <span>

#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/arith/small_floats.hpp"
#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"

namespace kiln::emulated {
namespace data {
namespace {

using ptx::Type;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;

template <class Word>
void execute_selp(Warp& warp, const Instr& instr, LaneMask active) {
  const LaneMask choice = warp.predicate(instr.c) ^ (instr.variant != 0 ? kAllLanes : 0U);
  const std::byte* a = warp.row(instr.a);
  const std::byte* b = warp.row(instr.b);
  alignas(64) Word out[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const Word if_true = get<Word>(a, i);
    const Word if_false = get<Word>(b, i);
    out[i] = (choice & kLaneBit[i]) != 0 ? if_true : if_false;
  }
  store_lanes<sizeof(Word)>(warp.row(instr.d), reinterpret_cast<const std::byte*>(out), active);
}

/// c >= 0 ? a : b, which is false for NaN and true for -0.
template <class C, bool kFlush>
struct SelectBySign {
  template <class T>
  static T of(T a, T b, C c) {
    if constexpr (kFlush) c = flush_subnormal(c);
    return c >= C{0} ? a : b;
  }
};

template <class C, bool kFlush>
Execute slct_of(int bits) {
  using F = SelectBySign<C, kFlush>;
  return by_width(bits, execute_ternary<F, uint16_t, uint16_t, uint16_t, C>,
                  execute_ternary<F, uint32_t, uint32_t, uint32_t, C>,
                  execute_ternary<F, uint64_t, uint64_t, uint64_t, C>);
}

// ---- predicates ----

enum class Logic : std::uint8_t { conjunction, disjunction, difference, negation };

constexpr std::uint8_t kNegatesA = 1;
constexpr std::uint8_t kNegatesB = 2;

template <Logic logic>
void execute_logic(Warp& warp, const Instr& instr, LaneMask active) {
  const LaneMask a = warp.predicate(instr.a) ^ ((instr.variant & kNegatesA) != 0 ? kAllLanes : 0U);
  if constexpr (logic == Logic::negation) {
    warp.set_predicate(instr.d, ~a, active);
  } else {
    const LaneMask b =
        warp.predicate(instr.b) ^ ((instr.variant & kNegatesB) != 0 ? kAllLanes : 0U);
    const LaneMask value = logic == Logic::conjunction   ? a & b
                           : logic == Logic::disjunction ? a | b
                                                         : a ^ b;
    warp.set_predicate(instr.d, value, active);
  }
}

// and.pred p, a, b; or, xor and not likewise.
template <Logic logic>
void decode_logic(DecodeContext& context, Instr& out) {
  static_cast<void>(context.take_type());
  constexpr bool kBinary = logic != Logic::negation;
  context.expect_operands(kBinary ? 3 : 2);
  out.d = context.destination(0, Type::pred);
  bool negated = false;
  out.a = context.predicate(context.operand(1), &negated);
  unsigned negations = negated ? kNegatesA : 0U;
  if constexpr (kBinary) {
    out.b = context.predicate(context.operand(2), &negated);
    negations |= negated ? kNegatesB : 0U;
  }
  out.variant = static_cast<std::uint8_t>(negations);
  out.execute = execute_logic<logic>;
}

// selp.TYPE d, a, b, p.
void decode_selp(DecodeContext& context, Instr& out) {
  const Type type = context.take_type();
  context.expect_operands(4);
  out.d = context.destination(0, type);
  out.a = context.source(1, type);
  out.b = context.source(2, type);
  bool negated = false;
  out.c = context.predicate(context.operand(3), &negated);
  out.variant = negated ? 1 : 0;
  out.execute = by_width(ptx::bits_of(type), execute_selp<uint16_t>, execute_selp<uint32_t>,
                         execute_selp<uint64_t>);
}

// slct{.ftz}.TYPE.{s32,f32} d, a, b, c.
void decode_slct(DecodeContext& context, Instr& out) {
  const bool flush = context.take("ftz");
  const Type type = context.take_type();
  const Type sign = take_type_of(context, {Type::s32, Type::f32});
  if (flush && sign != Type::f32) context.fail(".ftz needs .f32");
  context.expect_operands(4);
  out.d = context.destination(0, type);
  out.a = context.source(1, type);
  out.b = context.source(2, type);
  out.c = context.source(3, sign);
  const int bits = ptx::bits_of(type);
  if (sign == Type::f32) out.unit = Unit::fp32;
  out.execute = sign == Type::s32 ? slct_of<std::int32_t, false>(bits)
                : flush           ? slct_of<float, true>(bits)
                                  : slct_of<float, false>(bits);
}

/// Half of the logic on predicates goes into what uses them.
constexpr Traits kPredicates{.slots = 0.5F};
constexpr Traits kChosen{.flow = Flow::chosen};
constexpr Traits kLongChosen{.slots = kLongSlots, .flow = Flow::chosen};
constexpr TypeSet kTruth{Type::pred};
constexpr TypeSet kShort = kShortBits | kShortIntegers | kSingle;
constexpr TypeSet kLongs = kLongBits | kLongIntegers;

constexpr Opcode kOpcodes[] = {
    {"and", kTruth, decode_logic<Logic::conjunction>, Unit::integer, kPredicates},
    {"or", kTruth, decode_logic<Logic::disjunction>, Unit::integer, kPredicates},
    {"xor", kTruth, decode_logic<Logic::difference>, Unit::integer, kPredicates},
    {"not", kTruth, decode_logic<Logic::negation>, Unit::integer, kPredicates},
    {"selp", kShort, decode_selp, Unit::integer, kChosen},
    {"selp", kLongs, decode_selp, Unit::integer64, kLongChosen},
    {"selp", kDouble, decode_selp, Unit::integer64, kChosen},
    {"slct", kShort, decode_slct, Unit::integer, kChosen},
    {"slct", kLongs, decode_slct, Unit::integer64, kLongChosen},
    {"slct", kDouble, decode_slct, Unit::integer64, kChosen},
};

}  // namespace
}  // namespace data

std::span<const Opcode> select_opcodes() {
  return data::kOpcodes;
}

}  // namespace kiln::emulated
