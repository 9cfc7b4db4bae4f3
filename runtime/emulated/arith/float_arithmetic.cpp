// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/arith/float_decode.hpp"
#include "runtime/emulated/arith/float_functions.hpp"
#include "runtime/emulated/decode/opcode.hpp"
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

void expect_single(DecodeContext& context, Type type, const Modifiers& modifiers) {
  if (type == Type::f64 && (modifiers.flush || modifiers.saturate)) {
    context.fail(".ftz and .sat do not exist for .f64");
  }
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

namespace {

// add{.ROUNDING}{.ftz}{.sat}.f32 and .f64 d, a, b; sub and mul likewise.
template <class F>
void decode_binary(DecodeContext& context, Instr& out) {
  const Modifiers modifiers = take_modifiers(context);
  const Type type = context.take_type();
  expect_single(context, type, modifiers);
  take_operands(context, out, 2, type);
  set_rounded(context, out, binary_of<F>(type, modifiers), modifiers.rounding);
}

// fma.ROUNDING{.ftz}{.sat}.f32 and .f64 d, a, b, c; mad is the same.
void decode_fma(DecodeContext& context, Instr& out) {
  const Modifiers modifiers = take_modifiers(context);
  const Type type = context.take_type();
  expect_single(context, type, modifiers);
  take_operands(context, out, 3, type);
  set_rounded(context, out, fma_of(type, modifiers), modifiers.rounding);
}

// div.ROUNDING{.ftz}.f32 and .f64 d, a, b.
void decode_div(DecodeContext& context, Instr& out) {
  Modifiers modifiers;
  modifiers.rounding = context.take_one_of({"rn", "rz", "rm", "rp"});
  if (modifiers.rounding.empty()) context.fail("needs .approx, .full or a rounding modifier");
  modifiers.flush = context.take("ftz");
  const Type type = context.take_type();
  expect_single(context, type, modifiers);
  take_operands(context, out, 2, type);
  set_rounded(context, out, binary_of<Div>(type, modifiers), modifiers.rounding);
}

// div.approx{.ftz}.f32 and div.full{.ftz}.f32 d, a, b.
template <class F>
void decode_quick_div(DecodeContext& context, Instr& out) {
  Modifiers modifiers;
  modifiers.flush = context.take("ftz");
  take_operands(context, out, 2, context.take_type());
  out.execute = single_of<F>(modifiers);
}

constexpr Traits kDifference{.flow = Flow::difference};

constexpr Opcode kOpcodes[] = {
    {"add", kSingle, decode_binary<Add>, Unit::fp32},
    {"add", kDouble, decode_binary<Add>, Unit::fp64},
    {"sub", kSingle, decode_binary<Sub>, Unit::fp32, kDifference},
    {"sub", kDouble, decode_binary<Sub>, Unit::fp64, kDifference},
    {"mul", kSingle, decode_binary<Mul>, Unit::fp32},
    {"mul", kDouble, decode_binary<Mul>, Unit::fp64},
    {"fma", kSingle, decode_fma, Unit::fp32},
    {"fma", kDouble, decode_fma, Unit::fp64},
    {"mad", kSingle, decode_fma, Unit::fp32},
    {"mad", kDouble, decode_fma, Unit::fp64},
    {"div.approx", kSingle, decode_quick_div<DivApprox>, Unit::special, {.slots = 2.0F}},
    {"div.full", kSingle, decode_quick_div<Div>, Unit::special, {.slots = 16.0F}},
    {"div", kSingle, decode_div, Unit::special, {.slots = 16.0F}},
    {"div", kDouble, decode_div, Unit::fp64, {.slots = 60.0F}},
};

}  // namespace
}  // namespace kiln::emulated::floats

namespace kiln::emulated {

std::span<const Opcode> float_opcodes() {
  return floats::kOpcodes;
}

}  // namespace kiln::emulated
