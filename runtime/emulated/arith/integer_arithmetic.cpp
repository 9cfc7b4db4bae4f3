// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/arith/integer_decode.hpp"
#include "runtime/emulated/arith/integer_functions.hpp"
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

/// Some types of two 16-bit integers are known by name only.
bool take_pair(DecodeContext& context, bool* is_signed_pair) {
  *is_signed_pair = context.take("s16x2");
  return *is_signed_pair || context.take("u16x2");
}

Type take_any(DecodeContext& context) {
  return take_type_of(context, {Type::u16, Type::u32, Type::u64, Type::s16, Type::s32, Type::s64});
}

template <class F, class Saturated>
void decode_sum(DecodeContext& context, Instr& out) {
  const bool saturate = context.take("sat");
  const Type type = saturate ? take_type_of(context, {Type::s32}) : take_any(context);
  take_operands(context, out, 2, type);
  out.unit = integer_unit(ptx::bits_of(type));
  out.execute = saturate ? execute_binary<Saturated, uint32_t, uint32_t>
                         : modular_binary<F>(ptx::bits_of(type));
}

template <class F>
void decode_quotient(DecodeContext& context, Instr& out) {
  const Type type = take_any(context);
  take_operands(context, out, 2, type);
  out.unit = Unit::special;
  const int bits = ptx::bits_of(type);
  out.execute = is_signed(type) ? by_width(bits, execute_binary_each<F, int16_t, int16_t>,
                                           execute_binary_each<F, int32_t, int32_t>,
                                           execute_binary_each<F, int64_t, int64_t>)
                                : by_width(bits, execute_binary_each<F, uint16_t, uint16_t>,
                                           execute_binary_each<F, uint32_t, uint32_t>,
                                           execute_binary_each<F, uint64_t, uint64_t>);
}

template <class F>
void decode_sign(DecodeContext& context, Instr& out) {
  const Type type = take_type_of(context, {Type::s16, Type::s32, Type::s64});
  take_operands(context, out, 1, type);
  const int bits = ptx::bits_of(type);
  out.unit = integer_unit(bits);
  out.execute = by_width(bits, execute_unary<F, int16_t, int16_t>,
                         execute_unary<F, int32_t, int32_t>, execute_unary<F, int64_t, int64_t>);
}

template <class F>
void decode_choice(DecodeContext& context, Instr& out) {
  const bool relu = context.take("relu");
  bool signed_pair = false;
  if (take_pair(context, &signed_pair)) {
    if (relu && !signed_pair) context.fail(".relu needs a signed type");
    take_operands(context, out, 2, Type::b32);
    out.unit = Unit::integer;
    out.execute = relu          ? execute_binary<NotNegative<F>, int16_t, int16_t, int16_t, 2>
                  : signed_pair ? execute_binary<F, int16_t, int16_t, int16_t, 2>
                                : execute_binary<F, uint16_t, uint16_t, uint16_t, 2>;
    return;
  }
  const Type type = relu ? take_type_of(context, {Type::s32}) : take_any(context);
  take_operands(context, out, 2, type);
  out.unit = integer_unit(ptx::bits_of(type));
  out.execute = relu ? execute_binary<NotNegative<F>, int32_t, int32_t> : ordered_binary<F>(type);
}

}  // namespace

// add.TYPE d, a, b with u16 to s64; add.sat.s32; add.u16x2 and .s16x2.
void decode_add(DecodeContext& context, Instr& out) {
  bool signed_pair = false;
  if (take_pair(context, &signed_pair)) {
    take_operands(context, out, 2, Type::b32);
    out.unit = Unit::integer;
    out.execute = execute_binary<Add, uint16_t, uint16_t, uint16_t, 2>;
    return;
  }
  decode_sum<Add, AddSaturated>(context, out);
}

// sub.TYPE d, a, b with u16 to s64; sub.sat.s32.
void decode_sub(DecodeContext& context, Instr& out) {
  decode_sum<Sub, SubSaturated>(context, out);
}

// div.TYPE d, a, b. The hardware has no divider: some twenty instructions, hence its unit.
void decode_div(DecodeContext& context, Instr& out) {
  decode_quotient<Div>(context, out);
}

// rem.TYPE d, a, b, with the sign of a.
void decode_rem(DecodeContext& context, Instr& out) {
  decode_quotient<Rem>(context, out);
}

// abs.TYPE d, a with s16, s32, s64; the smallest number stays as it is.
void decode_abs(DecodeContext& context, Instr& out) {
  decode_sign<Abs>(context, out);
}

// neg.TYPE d, a with s16, s32, s64.
void decode_neg(DecodeContext& context, Instr& out) {
  decode_sign<Neg>(context, out);
}

// min.TYPE d, a, b with u16 to s64, u16x2, s16x2; min.relu with s32 and s16x2.
void decode_min(DecodeContext& context, Instr& out) {
  decode_choice<Min>(context, out);
}

// max, in the forms of min.
void decode_max(DecodeContext& context, Instr& out) {
  decode_choice<Max>(context, out);
}

// sad.TYPE d, a, b, c.
void decode_sad(DecodeContext& context, Instr& out) {
  const Type type = take_any(context);
  take_operands(context, out, 3, type);
  const int bits = ptx::bits_of(type);
  out.unit = integer_unit(bits);
  out.execute = is_signed(type) ? by_width(bits, execute_ternary<Sad, int16_t, int16_t>,
                                           execute_ternary<Sad, int32_t, int32_t>,
                                           execute_ternary<Sad, int64_t, int64_t>)
                                : by_width(bits, execute_ternary<Sad, uint16_t, uint16_t>,
                                           execute_ternary<Sad, uint32_t, uint32_t>,
                                           execute_ternary<Sad, uint64_t, uint64_t>);
}

}  // namespace kiln::emulated::integer
