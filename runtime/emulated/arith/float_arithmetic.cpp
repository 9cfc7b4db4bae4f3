// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/arith/float_decode.hpp"
#include "runtime/emulated/arith/float_functions.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"

namespace kiln::emulated::floats {
namespace {

using ptx::Type;

struct Modifiers {
  std::string_view rounding;
  bool flush = false;
  bool saturate = false;
};

Modifiers take_modifiers(DecodeContext& context) {
  Modifiers modifiers;
  modifiers.rounding = context.take_one_of({"rn", "rz", "rm", "rp"});
  modifiers.flush = context.take("ftz");
  modifiers.saturate = context.take("sat");
  return modifiers;
}

Type take_wide_type(DecodeContext& context, const Modifiers& modifiers) {
  const Type type = take_type_of(context, {Type::f32, Type::f64});
  if (type == Type::f64 && (modifiers.flush || modifiers.saturate)) {
    context.fail(".ftz and .sat do not exist for .f64");
  }
  return type;
}

Unit unit_of(Type type) {
  return type == Type::f64 ? Unit::fp64 : Unit::fp32;
}

template <class F>
Execute single_of(const Modifiers& modifiers) {
  if (modifiers.saturate) {
    return modifiers.flush ? execute_binary<Single<F, true, true>, float, float>
                           : execute_binary<Single<F, false, true>, float, float>;
  }
  return modifiers.flush ? execute_binary<Single<F, true>, float, float>
                         : execute_binary<Single<F, false>, float, float>;
}
template <class F>
Execute binary_of(Type type, const Modifiers& modifiers) {
  return type == Type::f64 ? execute_binary<F, double, double> : single_of<F>(modifiers);
}

template <class F>
void decode_binary(DecodeContext& context, Instr& out, HalfOperation for_halves) {
  if (works_on_halves(context)) return decode_halves(context, out, for_halves);
  const Modifiers modifiers = take_modifiers(context);
  const Type type = take_wide_type(context, modifiers);
  take_operands(context, out, 2, type);
  out.unit = unit_of(type);
  set_rounded(context, out, binary_of<F>(type, modifiers), modifiers.rounding);
}

template <bool kFlush, bool kSaturate>
void execute_fma_f32(Warp& warp, const Instr& instr, LaneMask active) {
  alignas(64) float a[kLanes];
  alignas(64) float b[kLanes];
  alignas(64) float c[kLanes];
  std::memcpy(a, warp.row(instr.a), sizeof a);
  std::memcpy(b, warp.row(instr.b), sizeof b);
  std::memcpy(c, warp.row(instr.c), sizeof c);
  if constexpr (kFlush) {
    for (int i = 0; i < kLanes; ++i) {
      a[i] = flush_subnormal(a[i]);
      b[i] = flush_subnormal(b[i]);
      c[i] = flush_subnormal(c[i]);
    }
  }
  alignas(64) float d[kLanes];
  fma_f32(a, b, c, d);
  for (int i = 0; i < kLanes; ++i) {
    if constexpr (kFlush) {
      const bool below =
          flushes_least_normal(double{a[i]} * double{b[i]}, c[i], d[i], 0x1p-126, 24);
      d[i] = below ? std::copysign(0.0F, d[i]) : flush_subnormal(d[i]);
    }
    if constexpr (kSaturate) d[i] = saturate_unit(d[i]);
  }
  store_lanes<4>(warp.row(instr.d), reinterpret_cast<const std::byte*>(d), active);
}

Execute fma_of(Type type, const Modifiers& modifiers) {
  if (type == Type::f64) return execute_ternary_each<Fma, double, double>;
  if (modifiers.saturate) {
    return modifiers.flush ? execute_fma_f32<true, true> : execute_fma_f32<false, true>;
  }
  return modifiers.flush ? execute_fma_f32<true, false> : execute_fma_f32<false, false>;
}

struct RoundedExecute {
  Execute plain = nullptr;
  Rounding rounding = Rounding::nearest_even;
};

/// The rounding of the host is set around a call through a pointer that the compiler cannot see
/// through, so that no arithmetic moves out of it.
void execute_rounded(Warp& warp, const Instr& instr, LaneMask active) {
  const auto& rounded = *static_cast<const RoundedExecute*>(instr.detail);
  const RoundingScope scope(rounded.rounding);
  rounded.plain(warp, instr, active);
}

}  // namespace

void set_rounded(DecodeContext& context, Instr& out, Execute plain, std::string_view rounding) {
  out.execute = plain;
  if (rounding.empty() || rounding == "rn") return;
  RoundedExecute rounded;
  rounded.plain = plain;
  rounded.rounding = rounding == "rz"   ? Rounding::toward_zero
                     : rounding == "rm" ? Rounding::down
                                        : Rounding::up;
  out.detail = context.keep(rounded);
  out.execute = execute_rounded;
}

// add{.ROUNDING}{.ftz}{.sat}.f32 and .f64 d, a, b; sub and mul likewise.
void decode_add(DecodeContext& context, Instr& out) {
  decode_binary<Add>(context, out, HalfOperation::add);
}

void decode_sub(DecodeContext& context, Instr& out) {
  decode_binary<Sub>(context, out, HalfOperation::sub);
}

void decode_mul(DecodeContext& context, Instr& out) {
  decode_binary<Mul>(context, out, HalfOperation::mul);
}

// fma.ROUNDING{.ftz}{.sat}.f32 and .f64 d, a, b, c.
void decode_fma(DecodeContext& context, Instr& out) {
  if (works_on_halves(context)) return decode_halves(context, out, HalfOperation::fma);
  const Modifiers modifiers = take_modifiers(context);
  const Type type = take_wide_type(context, modifiers);
  take_operands(context, out, 3, type);
  out.unit = unit_of(type);
  set_rounded(context, out, fma_of(type, modifiers), modifiers.rounding);
}

// div.{approx,full}{.ftz}.f32, div.ROUNDING{.ftz}.f32 and .f64 d, a, b.
void decode_div(DecodeContext& context, Instr& out) {
  const bool approx = context.take("approx");
  const bool full = !approx && context.take("full");
  Modifiers modifiers;
  if (!approx && !full) {
    modifiers.rounding = context.take_one_of({"rn", "rz", "rm", "rp"});
    if (modifiers.rounding.empty()) context.fail("needs .approx, .full or a rounding");
  }
  modifiers.flush = context.take("ftz");
  const Type type = take_wide_type(context, modifiers);
  if (type == Type::f64 && (approx || full)) context.fail("exists for .f32 only");
  take_operands(context, out, 2, type);
  out.unit = type == Type::f64 ? Unit::fp64 : Unit::special;
  set_rounded(context, out,
              approx ? single_of<DivApprox>(modifiers) : binary_of<Div>(type, modifiers),
              modifiers.rounding);
}

}  // namespace kiln::emulated::floats
