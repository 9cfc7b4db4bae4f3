// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <span>

#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/arith/float_decode.hpp"
#include "runtime/emulated/arith/float_functions.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"

namespace kiln::emulated {
namespace floats {
namespace {

using ptx::Type;

template <class F>
Execute single_of(bool flush) {
  return flush ? execute_unary_each<Single<F, true>, float, float>
               : execute_unary_each<Single<F, false>, float, float>;
}
template <class F>
Execute quick_single_of(bool flush) {
  return flush ? execute_unary<Single<F, true>, float, float>
               : execute_unary<Single<F, false>, float, float>;
}

/// The functions that exist as .approx{.ftz}.f32.
template <float (*function)(float)>
void decode_approx(DecodeContext& context, Instr& out) {
  if (!context.take("approx")) context.fail("needs .approx");
  const bool flush = context.take("ftz");
  take_operands(context, out, 1, take_type_of(context, {Type::f32}));
  out.unit = Unit::special;
  out.execute = single_of<Call<float, function>>(flush);
}

/// rcp.approx.ftz.f64 and rsqrt.approx.f64.
template <double (*function)(double)>
void take_approx_f64(DecodeContext& context, Instr& out) {
  static_cast<void>(take_type_of(context, {Type::f64}));
  take_operands(context, out, 1, Type::f64);
  out.unit = Unit::fp64;
  out.execute = execute_unary_each<Call<double, function>, double, double>;
}

bool is_f64(const DecodeContext& context) {
  return !context.left().empty() && context.left().back() == "f64";
}

/// rsqrt.approx.ftz.f64 takes subnormals for zeros; its results never are.
double flushed_rsqrt(double x) {
  return approx_rsqrt(std::fabs(x) < 0x1p-1022 ? std::copysign(0.0, x) : x);
}

/// rcp and sqrt: a rounding is given.
template <class F>
void decode_exact(DecodeContext& context, Instr& out) {
  const std::string_view rounding = context.take_one_of({"rn", "rz", "rm", "rp"});
  if (rounding.empty()) context.fail("needs .approx or a rounding");
  const bool flush = context.take("ftz");
  const Type type =
      flush ? take_type_of(context, {Type::f32}) : take_type_of(context, {Type::f32, Type::f64});
  take_operands(context, out, 1, type);
  out.unit = type == Type::f64 ? Unit::fp64 : Unit::special;
  const Execute plain =
      type == Type::f64 ? execute_unary<F, double, double> : quick_single_of<F>(flush);
  set_rounded(context, out, plain, rounding);
}

}  // namespace

// rcp.approx{.ftz}.f32, rcp.ROUNDING{.ftz}.f32 and .f64, rcp.approx.ftz.f64 d, a.
void decode_rcp(DecodeContext& context, Instr& out) {
  if (!context.take("approx")) return decode_exact<Rcp>(context, out);
  const bool flush = context.take("ftz");
  if (is_f64(context)) {
    if (!flush) context.fail("exists as rcp.approx.ftz.f64 only");
    return take_approx_f64<approx_rcp>(context, out);
  }
  take_operands(context, out, 1, take_type_of(context, {Type::f32}));
  out.unit = Unit::special;
  out.execute = quick_single_of<Rcp>(flush);
}

// sqrt.approx{.ftz}.f32, sqrt.ROUNDING{.ftz}.f32 and .f64 d, a.
void decode_sqrt(DecodeContext& context, Instr& out) {
  if (!context.take("approx")) return decode_exact<Sqrt>(context, out);
  const bool flush = context.take("ftz");
  take_operands(context, out, 1, take_type_of(context, {Type::f32}));
  out.unit = Unit::special;
  out.execute = quick_single_of<Sqrt>(flush);
}

// rsqrt.approx{.ftz}.f32 and .f64 d, a.
void decode_rsqrt(DecodeContext& context, Instr& out) {
  if (!is_f64(context)) return decode_approx<approx_rsqrt>(context, out);
  if (!context.take("approx")) context.fail("needs .approx");
  if (context.take("ftz")) return take_approx_f64<flushed_rsqrt>(context, out);
  take_approx_f64<approx_rsqrt>(context, out);
}

// ex2.approx{.ftz}.f32 d, a, and on halves.
void decode_ex2(DecodeContext& context, Instr& out) {
  if (works_on_halves(context)) return decode_halves(context, out, HalfOperation::ex2);
  decode_approx<approx_ex2>(context, out);
}

// tanh.approx.f32 d, a, and on halves.
void decode_tanh(DecodeContext& context, Instr& out) {
  if (works_on_halves(context)) return decode_halves(context, out, HalfOperation::tanh);
  if (!context.take("approx")) context.fail("needs .approx");
  take_operands(context, out, 1, take_type_of(context, {Type::f32}));
  out.unit = Unit::special;
  out.execute = single_of<Call<float, approx_tanh>>(false);
}

}  // namespace floats

namespace {

/// The names that integers do not share; integer_opcodes() has the others.
constexpr Opcode kOpcodes[] = {
    {"copysign", floats::decode_copysign},
    {"cos", floats::decode_approx<approx_cos>},
    {"ex2", floats::decode_ex2},
    {"fma", floats::decode_fma},
    {"lg2", floats::decode_approx<approx_lg2>},
    {"rcp", floats::decode_rcp},
    {"rsqrt", floats::decode_rsqrt},
    {"sin", floats::decode_approx<approx_sin>},
    {"sqrt", floats::decode_sqrt},
    {"tanh", floats::decode_tanh},
    {"testp", floats::decode_testp},
};

}  // namespace

std::span<const Opcode> float_opcodes() {
  return kOpcodes;
}

}  // namespace kiln::emulated
