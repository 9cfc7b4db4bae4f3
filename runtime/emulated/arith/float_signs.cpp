// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstdint>

#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/arith/float_decode.hpp"
#include "runtime/emulated/arith/float_functions.hpp"
#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"

namespace kiln::emulated::floats {
namespace {

using ptx::Type;

/// .ftz, which f64 has not.
Type take_flushed_type(DecodeContext& context, bool flush) {
  return flush ? take_type_of(context, {Type::f32}) : take_type_of(context, {Type::f32, Type::f64});
}

// abs{.ftz}.f32 and .f64 d, a; neg likewise.
template <class F>
void decode_sign(DecodeContext& context, Instr& out) {
  const bool flush = context.take("ftz");
  const Type type = take_flushed_type(context, flush);
  take_operands(context, out, 1, type);
  out.execute = type == Type::f64 ? execute_unary<F, double, double>
                : flush           ? execute_unary<Flushed<F>, float, float>
                                  : execute_unary<F, float, float>;
}

constexpr std::uint8_t kFlush = 1;
constexpr std::uint8_t kMagnitudes = 2;  ///< .abs
constexpr std::uint8_t kXorSign = 4;

/// min and max with .abs, .xorsign.abs or a third operand.
template <class F>
void execute_rare_choice(Warp& warp, const Instr& instr, LaneMask active) {
  for_active(active, [&](int lane) {
    const auto load = [&](std::uint32_t row) {
      const auto value = get<float>(warp.row(row), lane);
      return (instr.variant & kFlush) != 0 ? flush_subnormal(value) : value;
    };
    const auto magnitude = [&](float value) {
      return (instr.variant & kMagnitudes) != 0 ? Abs::of(value) : value;
    };
    const float a = load(instr.a);
    const float b = load(instr.b);
    float result = F::of(magnitude(a), magnitude(b));
    if (instr.c != kNoRow) result = F::of(result, magnitude(load(instr.c)));
    if ((instr.variant & kXorSign) != 0 && !std::isnan(result)) {
      result = std::signbit(a) != std::signbit(b) ? Neg::of(result) : result;
    }
    put<float>(warp.row(instr.d), lane, canonical(result));
  });
}

template <bool kMaximum, bool kNanWins>
Execute choice_of(bool flush) {
  using F = Choose<kMaximum, kNanWins>;
  return flush ? execute_binary<Single<F, true>, float, float>
               : execute_binary<Single<F, false>, float, float>;
}

// min{.ftz}{.NaN}{.xorsign.abs}.f32 d, a, b; min{.ftz}{.NaN}{.abs}.f32 d, a, b, c; min.f64. max
// likewise.
template <bool kMaximum>
void decode_choice(DecodeContext& context, Instr& out) {
  const bool flush = context.take("ftz");
  const bool nan_wins = context.take("NaN");
  const bool xor_sign = context.take("xorsign");
  const bool magnitudes = context.take("abs");
  if (xor_sign && !magnitudes) context.fail(".xorsign needs .abs");
  const Type type = take_flushed_type(context, flush || nan_wins || magnitudes);
  const int sources = type == Type::f32 && !xor_sign && context.operands() == 4 ? 3 : 2;
  take_operands(context, out, sources, type);
  if (type == Type::f64) {
    out.execute = execute_binary<Choose<kMaximum>, double, double>;
  } else if (magnitudes || sources == 3) {
    out.variant = static_cast<std::uint8_t>(
        (flush ? kFlush : 0U) | (magnitudes ? kMagnitudes : 0U) | (xor_sign ? kXorSign : 0U));
    out.execute = nan_wins ? execute_rare_choice<Choose<kMaximum, true>>
                           : execute_rare_choice<Choose<kMaximum, false>>;
  } else {
    out.execute = nan_wins ? choice_of<kMaximum, true>(flush) : choice_of<kMaximum, false>(flush);
  }
}

enum class Property : std::uint8_t { finite, infinite, number, notanumber, normal, subnormal };

bool has_property(Property property, int kind) {
  switch (property) {
    case Property::finite:
      return kind != FP_NAN && kind != FP_INFINITE;
    case Property::infinite:
      return kind == FP_INFINITE;
    case Property::number:
      return kind != FP_NAN;
    case Property::notanumber:
      return kind == FP_NAN;
    case Property::normal:  // zeros are normal to testp
      return kind == FP_NORMAL || kind == FP_ZERO;
    case Property::subnormal:
      break;
  }
  return kind == FP_SUBNORMAL;
}

template <class T>
void execute_testp(Warp& warp, const Instr& instr, LaneMask active) {
  LaneMask mask = 0;
  for_active(active, [&](int lane) {
    const int kind = std::fpclassify(get<T>(warp.row(instr.a), lane));
    if (has_property(static_cast<Property>(instr.variant), kind)) mask |= kLaneBit[lane];
  });
  warp.set_predicate(instr.d, mask, active);
}

// copysign.{f32,f64} d, a, b: the sign of a.
void decode_copysign(DecodeContext& context, Instr& out) {
  const Type type = context.take_type();
  take_operands(context, out, 2, type);
  out.execute = type == Type::f64 ? execute_binary<CopySign, double, double>
                                  : execute_binary<CopySign, float, float>;
}

// testp.PROPERTY.{f32,f64} p, a.
void decode_testp(DecodeContext& context, Instr& out) {
  constexpr std::string_view kNames[] = {"finite",     "infinite", "number",
                                         "notanumber", "normal",   "subnormal"};
  const std::string_view name = context.take_next();
  std::uint8_t property = 0;
  while (property < std::size(kNames) && kNames[property] != name) ++property;
  if (property == std::size(kNames))
    context.fail(
        "tests for an unknown property; the properties are finite, infinite, number, notanumber, "
        "normal and subnormal");
  const Type type = context.take_type();
  context.expect_operands(2);
  out.d = context.destination(0, Type::pred);
  out.a = context.source(1, type);
  out.variant = property;
  out.execute = type == Type::f64 ? execute_testp<double> : execute_testp<float>;
}

constexpr Traits kChosen{.flow = Flow::chosen};

constexpr Opcode kOpcodes[] = {
    {"abs", kSingle, decode_sign<Abs>, Unit::fp32},
    {"abs", kDouble, decode_sign<Abs>, Unit::fp64},
    {"neg", kSingle, decode_sign<Neg>, Unit::fp32},
    {"neg", kDouble, decode_sign<Neg>, Unit::fp64},
    {"min", kSingle, decode_choice<false>, Unit::fp32, kChosen},
    {"min", kDouble, decode_choice<false>, Unit::fp64, kChosen},
    {"max", kSingle, decode_choice<true>, Unit::fp32, kChosen},
    {"max", kDouble, decode_choice<true>, Unit::fp64, kChosen},
    {"copysign", kSingle, decode_copysign, Unit::fp32},
    {"copysign", kDouble, decode_copysign, Unit::fp64},
    {"testp", kSingle, decode_testp, Unit::fp32},
    {"testp", kDouble, decode_testp, Unit::fp64},
};

}  // namespace
}  // namespace kiln::emulated::floats

namespace kiln::emulated {

std::span<const Opcode> sign_opcodes() {
  return floats::kOpcodes;
}

}  // namespace kiln::emulated
