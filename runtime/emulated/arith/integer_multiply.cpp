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
using std::int8_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

enum class Half { lo, hi, wide };

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
}

/// The types of dp4a and dp2a: of a, then of b.
struct DotTypes {
  bool a_signed;
  bool b_signed;
};
DotTypes take_dot(DecodeContext& context, Instr& out) {
  const Type a = context.take_type();
  const Type b = take_type_of(context, {Type::u32, Type::s32});
  take_operands(context, out, 3, Type::b32);
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

// mul.{lo,hi,wide}.TYPE d, a, b; .wide has a result of twice the width.
template <Half half>
void decode_mul(DecodeContext& context, Instr& out) {
  const Type type = context.take_type();
  take_product(context, out, 2, type, half == Half::wide ? twice(type) : type);
  out.execute = product_of(half, type);
}

// mad.{lo,hi,wide}.TYPE d, a, b, c; mad.hi.sat.s32. With .wide, c is as wide as the result.
template <Half half>
void decode_mad(DecodeContext& context, Instr& out) {
  const bool saturate = half == Half::hi && context.take("sat");
  const Type type = saturate ? take_type_of(context, {Type::s32}) : context.take_type();
  take_product(context, out, 3, type, half == Half::wide ? twice(type) : type);
  out.execute =
      saturate ? execute_ternary<MadSaturated<MulHi>, int32_t, int32_t> : mad_of(half, type);
}

// mul24.{lo,hi}.{u32,s32} d, a, b: bits 0 to 31, or 16 to 47, of the product.
template <Half half>
void decode_mul24(DecodeContext& context, Instr& out) {
  const Type type = context.take_type();
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
template <Half half>
void decode_mad24(DecodeContext& context, Instr& out) {
  const bool saturate = half == Half::hi && context.take("sat");
  const Type type = saturate ? take_type_of(context, {Type::s32}) : context.take_type();
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
template <bool kUpper>
void decode_dp2a(DecodeContext& context, Instr& out) {
  out.execute = dp2a_of<kUpper>(take_dot(context, out));
}

/// Those on signed 64 bits, which indices are made of, become more than those on unsigned ones.
constexpr Traits kIndices{.slots = 4.0F};
constexpr TypeSet kUnsignedLong{Type::u64};
constexpr TypeSet kSignedLong{Type::s64};

constexpr Opcode kOpcodes[] = {
    {"mul.lo", kShortIntegers, decode_mul<Half::lo>, Unit::multiply},
    {"mul.lo", kUnsignedLong, decode_mul<Half::lo>, Unit::multiply, kLong},
    {"mul.lo", kSignedLong, decode_mul<Half::lo>, Unit::multiply, kIndices},
    {"mul.hi", kShortIntegers, decode_mul<Half::hi>, Unit::multiply},
    {"mul.hi", kLongIntegers, decode_mul<Half::hi>, Unit::multiply, kLong},
    {"mul.wide", kShortIntegers, decode_mul<Half::wide>, Unit::multiply},
    {"mad.lo", kShortIntegers, decode_mad<Half::lo>, Unit::multiply},
    {"mad.lo", kUnsignedLong, decode_mad<Half::lo>, Unit::multiply, kLong},
    {"mad.lo", kSignedLong, decode_mad<Half::lo>, Unit::multiply, kIndices},
    {"mad.hi", kShortIntegers, decode_mad<Half::hi>, Unit::multiply},
    {"mad.hi", kLongIntegers, decode_mad<Half::hi>, Unit::multiply, kLong},
    {"mad.wide", kShortIntegers, decode_mad<Half::wide>, Unit::multiply},
    {"mul24.lo", kWords, decode_mul24<Half::lo>, Unit::multiply},
    {"mul24.hi", kWords, decode_mul24<Half::hi>, Unit::multiply},
    {"mad24.lo", kWords, decode_mad24<Half::lo>, Unit::multiply},
    {"mad24.hi", kWords, decode_mad24<Half::hi>, Unit::multiply},
    {"dp4a", kWords, decode_dp4a, Unit::multiply},
    {"dp2a.lo", kWords, decode_dp2a<false>, Unit::multiply},
    {"dp2a.hi", kWords, decode_dp2a<true>, Unit::multiply},
};

}  // namespace
}  // namespace kiln::emulated::integer

namespace kiln::emulated {

std::span<const Opcode> multiply_opcodes() {
  return integer::kOpcodes;
}

}  // namespace kiln::emulated
