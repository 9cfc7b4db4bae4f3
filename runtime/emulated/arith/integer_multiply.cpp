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
using std::int8_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

enum class Half { lo, hi, wide };

/// Which half of the product is wanted; the instruction must say.
Half take_half(DecodeContext& context, bool wide_allowed) {
  if (context.take("lo")) return Half::lo;
  if (context.take("hi")) return Half::hi;
  if (wide_allowed && context.take("wide")) return Half::wide;
  context.fail(wide_allowed ? "needs .lo, .hi or .wide" : "needs .lo or .hi");
}

Type take_factor(DecodeContext& context, Half half) {
  if (half == Half::wide) {
    return take_type_of(context, {Type::u16, Type::u32, Type::s16, Type::s32});
  }
  return take_type_of(context, {Type::u16, Type::u32, Type::u64, Type::s16, Type::s32, Type::s64});
}

Type twice(Type type) {
  switch (type) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    default:
      return Type::s64;
  }
}

template <class T>
using TwiceOf = typename Twice<T>::type;

Execute product_of(Half half, Type type) {
  const int bits = ptx::bits_of(type);
  switch (half) {
    case Half::lo:
      return by_width(bits, execute_binary<MulLo, uint16_t, uint16_t>,
                      execute_binary<MulLo, uint32_t, uint32_t>,
                      execute_binary<MulLo, uint64_t, uint64_t>);
    case Half::hi:
      return is_signed(type) ? by_width(bits, execute_binary<MulHi, int16_t, int16_t>,
                                        execute_binary<MulHi, int32_t, int32_t>,
                                        execute_binary<MulHi, int64_t, int64_t>)
                             : by_width(bits, execute_binary<MulHi, uint16_t, uint16_t>,
                                        execute_binary<MulHi, uint32_t, uint32_t>,
                                        execute_binary<MulHi, uint64_t, uint64_t>);
    case Half::wide:
      break;
  }
  if (is_signed(type)) {
    return bits == 16 ? execute_binary<MulWide, int32_t, int16_t>
                      : execute_binary<MulWide, int64_t, int32_t>;
  }
  return bits == 16 ? execute_binary<MulWide, uint32_t, uint16_t>
                    : execute_binary<MulWide, uint64_t, uint32_t>;
}

template <class Product, class T, class D = T>
constexpr Execute kMad = execute_ternary<Mad<Product>, D, T>;

Execute mad_of(Half half, Type type) {
  const int bits = ptx::bits_of(type);
  switch (half) {
    case Half::lo:
      return by_width(bits, kMad<MulLo, uint16_t>, kMad<MulLo, uint32_t>, kMad<MulLo, uint64_t>);
    case Half::hi:
      return is_signed(type)
                 ? by_width(bits, kMad<MulHi, int16_t>, kMad<MulHi, int32_t>, kMad<MulHi, int64_t>)
                 : by_width(bits, kMad<MulHi, uint16_t>, kMad<MulHi, uint32_t>,
                            kMad<MulHi, uint64_t>);
    case Half::wide:
      break;
  }
  if (is_signed(type)) {
    return bits == 16 ? kMad<MulWide, int16_t, int32_t> : kMad<MulWide, int32_t, int64_t>;
  }
  return bits == 16 ? kMad<MulWide, uint16_t, uint32_t> : kMad<MulWide, uint32_t, uint64_t>;
}

/// The operands of mul and mad: factors of one type, result and addend of another.
void take_product(DecodeContext& context, Instr& out, int sources, Type factor, Type result) {
  context.expect_operands(static_cast<std::size_t>(sources) + 1);
  out.d = context.destination(0, result);
  out.a = context.source(1, factor);
  out.b = context.source(2, factor);
  if (sources > 2) out.c = context.source(3, result);
  out.unit = Unit::multiply;
}

/// The types of dp4a and dp2a: of a, then of b.
struct DotTypes {
  bool a_signed;
  bool b_signed;
};
DotTypes take_dot(DecodeContext& context, Instr& out) {
  const Type a = take_type_of(context, {Type::u32, Type::s32});
  const Type b = take_type_of(context, {Type::u32, Type::s32});
  take_operands(context, out, 3, Type::b32);
  out.unit = Unit::multiply;
  return {is_signed(a), is_signed(b)};
}

template <class F>
constexpr Execute kDot = execute_ternary<F, uint32_t, uint32_t>;

template <bool kUpper>
Execute dp2a_of(DotTypes types) {
  if (types.a_signed) {
    return types.b_signed ? kDot<Dp2a<int16_t, int8_t, kUpper>>
                          : kDot<Dp2a<int16_t, uint8_t, kUpper>>;
  }
  return types.b_signed ? kDot<Dp2a<uint16_t, int8_t, kUpper>>
                        : kDot<Dp2a<uint16_t, uint8_t, kUpper>>;
}

}  // namespace

// mul.{lo,hi,wide}.TYPE d, a, b; .wide has a result of twice the width.
void decode_mul(DecodeContext& context, Instr& out) {
  const Half half = take_half(context, true);
  const Type type = take_factor(context, half);
  take_product(context, out, 2, type, half == Half::wide ? twice(type) : type);
  out.execute = product_of(half, type);
}

// mad.{lo,hi,wide}.TYPE d, a, b, c; mad.hi.sat.s32. With .wide, c is as wide as the result.
void decode_mad(DecodeContext& context, Instr& out) {
  const Half half = take_half(context, true);
  const bool saturate = context.take("sat");
  if (saturate && half != Half::hi) context.fail(".sat exists for .hi.s32 only");
  const Type type = saturate ? take_type_of(context, {Type::s32}) : take_factor(context, half);
  take_product(context, out, 3, type, half == Half::wide ? twice(type) : type);
  out.execute =
      saturate ? execute_ternary<MadSaturated<MulHi>, int32_t, int32_t> : mad_of(half, type);
}

// mul24.{lo,hi}.{u32,s32} d, a, b: bits 0 to 31, or 16 to 47, of the product.
void decode_mul24(DecodeContext& context, Instr& out) {
  const Half half = take_half(context, false);
  const Type type = take_type_of(context, {Type::u32, Type::s32});
  take_product(context, out, 2, type, type);
  if (half == Half::lo) {
    out.execute = is_signed(type) ? execute_binary<Mul24Lo, int32_t, int32_t>
                                  : execute_binary<Mul24Lo, uint32_t, uint32_t>;
  } else {
    out.execute = is_signed(type) ? execute_binary<Mul24Hi, int32_t, int32_t>
                                  : execute_binary<Mul24Hi, uint32_t, uint32_t>;
  }
}

// mad24.{lo,hi}.{u32,s32} d, a, b, c; mad24.hi.sat.s32.
void decode_mad24(DecodeContext& context, Instr& out) {
  const Half half = take_half(context, false);
  const bool saturate = context.take("sat");
  if (saturate && half != Half::hi) context.fail(".sat exists for .hi.s32 only");
  const Type type =
      saturate ? take_type_of(context, {Type::s32}) : take_type_of(context, {Type::u32, Type::s32});
  take_product(context, out, 3, type, type);
  if (saturate) {
    out.execute = execute_ternary<MadSaturated<Mul24Hi>, int32_t, int32_t>;
  } else if (half == Half::lo) {
    out.execute = is_signed(type) ? kMad<Mul24Lo, int32_t> : kMad<Mul24Lo, uint32_t>;
  } else {
    out.execute = is_signed(type) ? kMad<Mul24Hi, int32_t> : kMad<Mul24Hi, uint32_t>;
  }
}

// dp4a.ATYPE.BTYPE d, a, b, c with u32 or s32 each.
void decode_dp4a(DecodeContext& context, Instr& out) {
  const DotTypes types = take_dot(context, out);
  if (types.a_signed) {
    out.execute = types.b_signed ? kDot<Dp4a<int8_t, int8_t>> : kDot<Dp4a<int8_t, uint8_t>>;
  } else {
    out.execute = types.b_signed ? kDot<Dp4a<uint8_t, int8_t>> : kDot<Dp4a<uint8_t, uint8_t>>;
  }
}

// dp2a.{lo,hi}.ATYPE.BTYPE d, a, b, c.
void decode_dp2a(DecodeContext& context, Instr& out) {
  const bool upper = take_half(context, false) == Half::hi;
  const DotTypes types = take_dot(context, out);
  out.execute = upper ? dp2a_of<true>(types) : dp2a_of<false>(types);
}

}  // namespace kiln::emulated::integer
