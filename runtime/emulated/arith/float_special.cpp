// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <span>

#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/arith/float_decode.hpp"
#include "runtime/emulated/arith/float_functions.hpp"
#include "runtime/emulated/decode/opcode.hpp"
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

// {sin,cos,lg2,ex2,rsqrt}.approx{.ftz}.f32 d, a.
template <float (*function)(float)>
void decode_approx(DecodeContext& context, Instr& out) {
  const bool flush = context.take("ftz");
  take_operands(context, out, 1, context.take_type());
  out.execute = single_of<Call<float, function>>(flush);
}

// rcp.approx{.ftz}.f32 and sqrt.approx{.ftz}.f32 d, a: the exact results, which are as good.
template <class F>
void decode_quick(DecodeContext& context, Instr& out) {
  const bool flush = context.take("ftz");
  take_operands(context, out, 1, context.take_type());
  out.execute = quick_single_of<F>(flush);
}

// rcp.approx.ftz.f64, rsqrt.approx.f64 and rsqrt.approx.ftz.f64 d, a.
template <double (*function)(double)>
void decode_approx_f64(DecodeContext& context, Instr& out) {
  take_operands(context, out, 1, context.take_type());
  out.execute = execute_unary_each<Call<double, function>, double, double>;
}

/// rsqrt.approx.ftz.f64 takes subnormals for zeros; its results never are.
double flushed_rsqrt(double x) {
  return approx_rsqrt(std::fabs(x) < 0x1p-1022 ? std::copysign(0.0, x) : x);
}

template <class F>
void take_exact(DecodeContext& context, Instr& out, std::string_view rounding) {
  const bool flush = context.take("ftz");
  const Type type = flush ? take_type_of(context, {Type::f32}) : context.take_type();
  take_operands(context, out, 1, type);
  const Execute plain =
      type == Type::f64 ? execute_unary<F, double, double> : quick_single_of<F>(flush);
  set_rounded(context, out, plain, rounding);
}

// rcp.rn{.ftz}.f32 and .f64 d, a; sqrt likewise.
template <class F>
void decode_nearest(DecodeContext& context, Instr& out) {
  take_exact<F>(context, out, "rn");
}

// rcp.{rz,rm,rp}{.ftz}.f32 and .f64 d, a; sqrt likewise.
template <class F>
void decode_directed(DecodeContext& context, Instr& out) {
  const std::string_view rounding = context.take_one_of({"rz", "rm", "rp"});
  if (rounding.empty()) context.fail("needs .approx or a rounding modifier");
  take_exact<F>(context, out, rounding);
}

// tanh.approx.f32 d, a.
void decode_tanh(DecodeContext& context, Instr& out) {
  take_operands(context, out, 1, context.take_type());
  out.execute = single_of<Call<float, approx_tanh>>(false);
}

/// A first guess and steps that improve it.
constexpr Traits kIterated{.slots = 10.0F};

constexpr Opcode kOpcodes[] = {
    {"cos.approx", kSingle, decode_approx<approx_cos>, Unit::special},
    {"ex2.approx", kSingle, decode_approx<approx_ex2>, Unit::special},
    {"lg2.approx", kSingle, decode_approx<approx_lg2>, Unit::special},
    {"sin.approx", kSingle, decode_approx<approx_sin>, Unit::special},
    {"tanh.approx", kSingle, decode_tanh, Unit::special},
    {"rsqrt.approx", kSingle, decode_approx<approx_rsqrt>, Unit::special},
    {"rsqrt.approx", kDouble, decode_approx_f64<approx_rsqrt>, Unit::fp64},
    {"rsqrt.approx.ftz", kDouble, decode_approx_f64<flushed_rsqrt>, Unit::fp64},
    {"rcp.approx", kSingle, decode_quick<Rcp>, Unit::special},
    {"rcp.approx.ftz", kDouble, decode_approx_f64<approx_rcp>, Unit::fp64},
    {"rcp.rn", kSingle, decode_nearest<Rcp>, Unit::special, kIterated},
    {"rcp.rn", kDouble, decode_nearest<Rcp>, Unit::fp64, kIterated},
    {"rcp", kSingle, decode_directed<Rcp>, Unit::special},
    {"rcp", kDouble, decode_directed<Rcp>, Unit::fp64},
    {"sqrt.approx", kSingle, decode_quick<Sqrt>, Unit::special},
    {"sqrt.rn", kSingle, decode_nearest<Sqrt>, Unit::special, kIterated},
    {"sqrt.rn", kDouble, decode_nearest<Sqrt>, Unit::fp64, kIterated},
    {"sqrt", kSingle, decode_directed<Sqrt>, Unit::special},
    {"sqrt", kDouble, decode_directed<Sqrt>, Unit::fp64},
};

}  // namespace
}  // namespace floats

std::span<const Opcode> special_opcodes() {
  return floats::kOpcodes;
}

}  // namespace kiln::emulated
