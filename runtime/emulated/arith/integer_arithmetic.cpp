// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/arith/integer_functions.hpp"
#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"

namespace kiln::emulated::integer {
namespace {

using ptx::Type;
using std::int16_t;
using std::int32_t;
using std::int64_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;

/// Two's complement makes one function of both signednesses.
template <class F>
Execute modular_binary(int bits) {
  return by_width(bits, execute_binary<F, uint16_t, uint16_t>,
                  execute_binary<F, uint32_t, uint32_t>, execute_binary<F, uint64_t, uint64_t>);
}

template <class F>
Execute ordered_binary(Type type) {
  if (is_signed(type)) {
    return by_width(ptx::bits_of(type), execute_binary<F, int16_t, int16_t>,
                    execute_binary<F, int32_t, int32_t>, execute_binary<F, int64_t, int64_t>);
  }
  return modular_binary<F>(ptx::bits_of(type));
}

// add.TYPE d, a, b with u16 to s64; add.sat.s32. sub likewise.
template <class F, class Saturated>
void decode_sum(DecodeContext& context, Instr& out) {
  const bool saturate = context.take("sat");
  const Type type = saturate ? take_type_of(context, {Type::s32}) : context.take_type();
  take_operands(context, out, 2, type);
  out.execute = saturate ? execute_binary<Saturated, uint32_t, uint32_t>
                         : modular_binary<F>(ptx::bits_of(type));
}

// add.{u16x2,s16x2} d, a, b.
void decode_pair_sum(DecodeContext& context, Instr& out) {
  take_operands(context, out, 2, Type::b32);
  out.execute = execute_binary<Add, uint16_t, uint16_t, uint16_t, 2>;
}

// div.TYPE d, a, b. The hardware has no divider: some twenty instructions, hence its unit.
// rem.TYPE d, a, b, with the sign of a.
template <class F>
void decode_quotient(DecodeContext& context, Instr& out) {
  const Type type = context.take_type();
  take_operands(context, out, 2, type);
  const int bits = ptx::bits_of(type);
  out.execute = is_signed(type) ? by_width(bits, execute_binary_each<F, int16_t, int16_t>,
                                           execute_binary_each<F, int32_t, int32_t>,
                                           execute_binary_each<F, int64_t, int64_t>)
                                : by_width(bits, execute_binary_each<F, uint16_t, uint16_t>,
                                           execute_binary_each<F, uint32_t, uint32_t>,
                                           execute_binary_each<F, uint64_t, uint64_t>);
}

// abs.TYPE d, a with s16, s32, s64; the smallest number stays as it is. neg likewise.
template <class F>
void decode_sign(DecodeContext& context, Instr& out) {
  const Type type = context.take_type();
  take_operands(context, out, 1, type);
  const int bits = ptx::bits_of(type);
  out.execute = by_width(bits, execute_unary<F, int16_t, int16_t>,
                         execute_unary<F, int32_t, int32_t>, execute_unary<F, int64_t, int64_t>);
}

// min.TYPE d, a, b with u16 to s64; min.relu.s32. max likewise.
template <class F>
void decode_choice(DecodeContext& context, Instr& out) {
  const bool relu = context.take("relu");
  const Type type = relu ? take_type_of(context, {Type::s32}) : context.take_type();
  take_operands(context, out, 2, type);
  out.execute = relu ? execute_binary<NotNegative<F>, int32_t, int32_t> : ordered_binary<F>(type);
}

// min.u16x2, min{.relu}.s16x2 d, a, b. max likewise.
template <class F, bool kSigned>
void decode_pair_choice(DecodeContext& context, Instr& out) {
  const bool relu = kSigned && context.take("relu");
  take_operands(context, out, 2, Type::b32);
  out.execute = relu      ? execute_binary<NotNegative<F>, int16_t, int16_t, int16_t, 2>
                : kSigned ? execute_binary<F, int16_t, int16_t, int16_t, 2>
                          : execute_binary<F, uint16_t, uint16_t, uint16_t, 2>;
}

// sad.TYPE d, a, b, c.
void decode_sad(DecodeContext& context, Instr& out) {
  const Type type = context.take_type();
  take_operands(context, out, 3, type);
  const int bits = ptx::bits_of(type);
  out.execute = is_signed(type) ? by_width(bits, execute_ternary<Sad, int16_t, int16_t>,
                                           execute_ternary<Sad, int32_t, int32_t>,
                                           execute_ternary<Sad, int64_t, int64_t>)
                                : by_width(bits, execute_ternary<Sad, uint16_t, uint16_t>,
                                           execute_ternary<Sad, uint32_t, uint32_t>,
                                           execute_ternary<Sad, uint64_t, uint64_t>);
}

constexpr TypeSet kShortSigned{Type::s16, Type::s32};
constexpr TypeSet kLongSigned{Type::s64};
constexpr Traits kChosen{.flow = Flow::chosen};
constexpr Traits kLongChosen{.slots = kLongSlots, .flow = Flow::chosen};
constexpr Traits kDifference{.flow = Flow::difference};
constexpr Traits kLongDifference{.slots = kLongSlots, .flow = Flow::difference};

constexpr Opcode kOpcodes[] = {
    {"abs", kShortSigned, decode_sign<Abs>, Unit::integer},
    {"abs", kLongSigned, decode_sign<Abs>, Unit::integer64, kLong},
    {"neg", kShortSigned, decode_sign<Neg>, Unit::integer},
    {"neg", kLongSigned, decode_sign<Neg>, Unit::integer64, kLong},
    {"add", kShortIntegers, decode_sum<Add, AddSaturated>, Unit::integer},
    // Half of the arithmetic on addresses goes into the offsets of loads and stores.
    {"add", kLongIntegers, decode_sum<Add, AddSaturated>, Unit::integer64},
    {"add.u16x2", {}, decode_pair_sum, Unit::integer},
    {"add.s16x2", {}, decode_pair_sum, Unit::integer},
    {"sub", kShortIntegers, decode_sum<Sub, SubSaturated>, Unit::integer, kDifference},
    {"sub", kLongIntegers, decode_sum<Sub, SubSaturated>, Unit::integer64, kLongDifference},
    {"div", kShortIntegers, decode_quotient<Div>, Unit::special, {.slots = 16.0F}},
    {"div", kLongIntegers, decode_quotient<Div>, Unit::special, {.slots = 60.0F}},
    {"rem", kShortIntegers, decode_quotient<Rem>, Unit::special, {.slots = 16.0F}},
    {"rem", kLongIntegers, decode_quotient<Rem>, Unit::special, {.slots = 60.0F}},
    {"min", kShortIntegers, decode_choice<Min>, Unit::integer, kChosen},
    {"min", kLongIntegers, decode_choice<Min>, Unit::integer64, kLongChosen},
    {"min.u16x2", {}, decode_pair_choice<Min, false>, Unit::integer, kChosen},
    {"min.s16x2", {}, decode_pair_choice<Min, true>, Unit::integer, kChosen},
    {"max", kShortIntegers, decode_choice<Max>, Unit::integer, kChosen},
    {"max", kLongIntegers, decode_choice<Max>, Unit::integer64, kLongChosen},
    {"max.u16x2", {}, decode_pair_choice<Max, false>, Unit::integer, kChosen},
    {"max.s16x2", {}, decode_pair_choice<Max, true>, Unit::integer, kChosen},
    {"sad", kShortIntegers, decode_sad, Unit::integer},
    {"sad", kLongIntegers, decode_sad, Unit::integer64, kLong},
};

}  // namespace
}  // namespace kiln::emulated::integer

namespace kiln::emulated {

std::span<const Opcode> integer_opcodes() {
  return integer::kOpcodes;
}

}  // namespace kiln::emulated
