// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "runtime/emulated/arith/convert_decode.hpp"
#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"

namespace kiln::emulated::converts {
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

/// From a register of type A to one of type D by way of the types of the instruction.
template <class D, class To, class From>
struct CastInteger {
  template <class A>
  static D of(A a) {
    return static_cast<D>(static_cast<To>(static_cast<From>(a)));
  }
};
/// Integer to floating point, rounded to nearest as the host does.
template <class D>
struct CastNumber {
  template <class A>
  static D of(A a) {
    return static_cast<D>(a);
  }
};
struct NarrowToF32 {
  static float of(double a) { return canonical(static_cast<float>(a)); }
};
struct WidenToF64 {
  static double of(float a) { return static_cast<double>(canonical(a)); }
};
struct F16ToF32 {
  static float of(uint16_t a) { return f32_of_f16(a); }
};
struct Bf16ToF32 {
  static float of(uint16_t a) { return canonical(f32_of_bf16(a)); }
};
struct F32ToF16 {
  static uint16_t of(float a) { return f16_of_f32(a); }
};
struct F32ToBf16 {
  static uint16_t of(float a) { return bf16_of_f32(a); }
};
/// .s32.f32 in all roundings. The limits come by choice and not by conversion, which would be
/// undefined.
template <Rounding rounding>
struct RoundToS32 {
  static int32_t of(float a) {
    const bool inside = a >= -0x1p31F && a < 0x1p31F;
    const int32_t limit = a > 0 ? INT32_MAX : a == a ? INT32_MIN : 0;
    const float number = inside ? a : 0.0F;
    auto value = static_cast<int32_t>(number);
    const auto whole = static_cast<float>(value);
    if constexpr (rounding == Rounding::down) value -= whole > number ? 1 : 0;
    if constexpr (rounding == Rounding::up) value += whole < number ? 1 : 0;
    if constexpr (rounding == Rounding::nearest_even) {
      // The distance is exact, and not zero only for numbers with few bits before the point.
      const float rest = number - whole;
      const int32_t odd = value & 1;
      value += (rest > 0.5F) | ((rest == 0.5F) & (odd != 0)) ? 1 : 0;
      value -= (rest < -0.5F) | ((rest == -0.5F) & (odd != 0)) ? 1 : 0;
    }
    return inside ? value : limit;
  }
};
struct Tf32Away {
  static uint32_t of(float a) { return tf32_of_f32(a); }
};

Execute round_to_s32(Rounding rounding) {
  switch (rounding) {
    case Rounding::toward_zero:
      return execute_unary<RoundToS32<Rounding::toward_zero>, int32_t, float>;
    case Rounding::down:
      return execute_unary<RoundToS32<Rounding::down>, int32_t, float>;
    case Rounding::up:
      return execute_unary<RoundToS32<Rounding::up>, int32_t, float>;
    default:
      return execute_unary<RoundToS32<Rounding::nearest_even>, int32_t, float>;
  }
}

struct Quick {
  Type to;
  int to_bytes;
  Type from;
  int from_bytes;
  Execute execute;
};

template <class D, class To, class From, class A>
constexpr Execute kCast = execute_unary<CastInteger<D, To, From>, D, A>;

// Without .sat only the narrower type's signedness matters, and the wider one's if a register is
// wider still, which is left to the general form.
constexpr Quick kIntegers[] = {
    {Type::u16, 2, Type::u8, 2, kCast<uint16_t, uint16_t, uint8_t, uint16_t>},
    {Type::s16, 2, Type::s8, 2, kCast<uint16_t, int16_t, int8_t, uint16_t>},
    {Type::u32, 4, Type::u8, 2, kCast<uint32_t, uint32_t, uint8_t, uint16_t>},
    {Type::u32, 4, Type::u8, 4, kCast<uint32_t, uint32_t, uint8_t, uint32_t>},
    {Type::s32, 4, Type::s8, 2, kCast<uint32_t, int32_t, int8_t, uint16_t>},
    {Type::s32, 4, Type::s8, 4, kCast<uint32_t, int32_t, int8_t, uint32_t>},
    {Type::u32, 4, Type::u16, 2, kCast<uint32_t, uint32_t, uint16_t, uint16_t>},
    {Type::s32, 4, Type::s16, 2, kCast<uint32_t, int32_t, int16_t, uint16_t>},
    {Type::u64, 8, Type::u16, 2, kCast<uint64_t, uint64_t, uint16_t, uint16_t>},
    {Type::s64, 8, Type::s16, 2, kCast<uint64_t, int64_t, int16_t, uint16_t>},
    {Type::u64, 8, Type::u32, 4, kCast<uint64_t, uint64_t, uint32_t, uint32_t>},
    {Type::s64, 8, Type::s32, 4, kCast<uint64_t, int64_t, int32_t, uint32_t>},
    {Type::u16, 2, Type::u32, 4, kCast<uint16_t, uint16_t, uint32_t, uint32_t>},
    {Type::u16, 2, Type::u64, 8, kCast<uint16_t, uint16_t, uint64_t, uint64_t>},
    {Type::u32, 4, Type::u64, 8, kCast<uint32_t, uint32_t, uint64_t, uint64_t>},
};

constexpr Quick kNumbers[] = {
    {Type::f32, 4, Type::u8, 2,
     execute_unary<CastInteger<float, int32_t, uint8_t>, float, uint16_t>},
    {Type::f32, 4, Type::s8, 2,
     execute_unary<CastInteger<float, int32_t, int8_t>, float, uint16_t>},
    {Type::f32, 4, Type::u16, 2, execute_unary<CastNumber<float>, float, uint16_t>},
    {Type::f32, 4, Type::s16, 2, execute_unary<CastNumber<float>, float, int16_t>},
    {Type::f32, 4, Type::u32, 4, execute_unary<CastNumber<float>, float, uint32_t>},
    {Type::f32, 4, Type::s32, 4, execute_unary<CastNumber<float>, float, int32_t>},
    {Type::f32, 4, Type::u64, 8, execute_unary<CastNumber<float>, float, uint64_t>},
    {Type::f32, 4, Type::s64, 8, execute_unary<CastNumber<float>, float, int64_t>},
    {Type::f64, 8, Type::u32, 4, execute_unary<CastNumber<double>, double, uint32_t>},
    {Type::f64, 8, Type::s32, 4, execute_unary<CastNumber<double>, double, int32_t>},
    {Type::f64, 8, Type::u64, 8, execute_unary<CastNumber<double>, double, uint64_t>},
    {Type::f64, 8, Type::s64, 8, execute_unary<CastNumber<double>, double, int64_t>},
    {Type::f64, 8, Type::f32, 4, execute_unary<WidenToF64, double, float>},
    {Type::f32, 4, Type::f64, 8, execute_unary<NarrowToF32, float, double>},
    {Type::f32, 4, Type::f16, 2, execute_unary<F16ToF32, float, uint16_t>},
    {Type::f32, 4, Type::bf16, 2, execute_unary<Bf16ToF32, float, uint16_t>},
    {Type::f16, 2, Type::f32, 4, execute_unary<F32ToF16, uint16_t, float>},
    {Type::bf16, 2, Type::f32, 4, execute_unary<F32ToBf16, uint16_t, float>},
};

/// Truncation to n bits is the same for both signednesses.
Type unsigned_of(Type type) {
  switch (type) {
    case Type::s16:
      return Type::u16;
    case Type::s32:
      return Type::u32;
    case Type::s64:
      return Type::u64;
    default:
      return type;
  }
}

template <std::size_t count>
Execute find(const Quick (&forms)[count], Type to, int to_bytes, Type from, int from_bytes) {
  for (const Quick& form : forms) {
    if (form.to == to && form.from == from && form.to_bytes == to_bytes &&
        form.from_bytes == from_bytes) {
      return form.execute;
    }
  }
  return nullptr;
}

}  // namespace

Execute quick_form(const Conversion& conversion, int to_bytes, int from_bytes) {
  if (conversion.flush || conversion.saturate || conversion.saturate_finite || conversion.relu) {
    return nullptr;
  }
  if (conversion.from == Type::f32 && to_bytes == 4 && from_bytes == 4) {
    if (conversion.to == Type::s32) return round_to_s32(conversion.rounding);
    const bool away = conversion.rounding == Rounding::nearest_away;
    if (conversion.to == Type::tf32 && away) return execute_unary<Tf32Away, uint32_t, float>;
  }
  if (conversion.integral || conversion.rounding != Rounding::nearest_even) return nullptr;
  if (const Execute number = find(kNumbers, conversion.to, to_bytes, conversion.from, from_bytes)) {
    return number;
  }
  if (!is_integer(conversion.to) || !is_integer(conversion.from)) return nullptr;
  const int to_bits = ptx::bits_of(conversion.to);
  const int from_bits = ptx::bits_of(conversion.from);
  Type to = conversion.to;
  Type from = conversion.from;
  if (to_bits < from_bits) {
    // Truncated: no matter how.
    to = unsigned_of(to);
    from = unsigned_of(from);
  } else if (to_bits == 8 * to_bytes) {
    // Extended as the source says: give the result the same signedness to find the form.
    to = unsigned_of(to);
    if (is_signed(from)) to = to_bits == 16 ? Type::s16 : to_bits == 32 ? Type::s32 : Type::s64;
  }
  return find(kIntegers, to, to_bytes, from, from_bytes);
}

}  // namespace kiln::emulated::converts
