// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What CUDA C++ generates for its mathematical functions and intrinsics: long sequences of ordinary
// instructions, whose results are the same on both devices, bit by bit, where none of them is an
// approximation.
#include <algorithm>
#include <cmath>
#include <random>
#include <type_traits>

#include "tests/gpu/emulator_fragments.hpp"

namespace kiln::testing {
namespace {

constexpr std::uint32_t kIntrinsicThreads = 256;

/// One kernel for all: result `i` of thread `t` is at out[256 * i + t]. u, v and w are its
/// numbers.
std::string source_of(const std::string& type, const std::vector<std::string>& expressions) {
  std::string source = R"(
#include <cuda_bf16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
extern "C" __global__ void k(const __grid_constant__ Args args) {
  typedef )" + type + R"( T;
  const T* const in = static_cast<const T*>(args.in[0]) + threadIdx.x;
  const T u = in[0], v = in[256], w = in[512];
  T* out = static_cast<T*>(args.out) + threadIdx.x;
  int place = 0;
)";
  for (const std::string& expression : expressions) {
    source += "  *out = " + expression + "; out += 256;\n";
  }
  return source + "  if (place == 12345) *out = in[1];\n}\n";
}

std::vector<std::string> calls(const std::vector<std::string>& names) {
  std::vector<std::string> expressions;
  for (const std::string& name : names) expressions.push_back(name + "(u)");
  return expressions;
}

class Intrinsics : public EmulatorPair {
 protected:
  std::optional<PairResult> results(const std::string& type, std::size_t bytes, const Bytes& in,
                                    const std::vector<std::string>& expressions) {
    PairRun run;
    run.source = source_of(type, expressions);
    run.geometry = {{1, 1, 1}, {kIntrinsicThreads, 1, 1}, {1, 1, 1}, 0};
    run.inputs = {in};
    run.out_bytes = expressions.size() * kIntrinsicThreads * bytes;
    return this->run(run);
  }
  /// The same bits; for NaNs, only that both are NaN.
  template <class T>
  void expect_same(const std::string& type, const Bytes& in,
                   const std::vector<std::string>& expressions, double bound = 0.0) {
    const auto result = results(type, sizeof(T), in, expressions);
    ASSERT_TRUE(result);
    const auto gpu = values_of<T>(result->gpu);
    const auto emulated = values_of<T>(result->emulated);
    for (std::size_t i = 0; i < gpu.size(); ++i) {
      const T a = gpu[i];
      const T b = emulated[i];
      if (std::memcmp(&a, &b, sizeof(T)) == 0) continue;
      if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(a) && std::isnan(b)) continue;
        if (std::abs(a - b) <= bound * std::abs(a)) continue;
      }
      ADD_FAILURE() << expressions[i / kIntrinsicThreads] << ", thread " << i % kIntrinsicThreads
                    << ": GPU " << a << ", emulated " << b;
    }
  }
};

/// Three numbers for each thread, between -3 and 3.
template <class T>
Bytes numbers() {
  std::mt19937_64 random(11);
  std::vector<T> values(3 * kIntrinsicThreads);
  for (T& value : values) {
    value = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-53 * 6.0 - 3.0);
  }
  return bytes_of(values);
}

/// The same of halves, or of pairs of them.
Bytes halves(Element type, std::size_t bytes) {
  return elements(type, 3 * kIntrinsicThreads * bytes, Values::real, 11);
}

TEST_F(Intrinsics, FunctionsOfDoubles) {
  auto expressions = calls(
      {"acosh", "asin",  "atan",      "atanh",   "cbrt",   "ceil", "cos",       "cosh",
       "cospi", "erf",   "erfc",      "erfcx",   "erfinv", "exp",  "exp10",     "exp2",
       "expm1", "fabs",  "floor",     "j0",      "lgamma", "log",  "log10",     "log1p",
       "log2",  "logb",  "nearbyint", "normcdf", "rcbrt",  "rint", "round",     "sin",
       "sinh",  "sinpi", "tan",       "tgamma",  "trunc",  "y1",   "__drcp_rz", "__ll2double_rd"});
  for (const char* const more : {"1.0 / u",
                                 "u / v",
                                 "sqrt(fabs(u))",
                                 "pow(fabs(u), v)",
                                 "atan2(u, v)",
                                 "fma(u, v, w)",
                                 "fdim(u, v)",
                                 "fmax(u, v)",
                                 "fmin(u, v)",
                                 "fmod(u, v)",
                                 "remainder(u, v)",
                                 "copysign(u, v)",
                                 "nextafter(u, v)",
                                 "ldexp(u, 5)",
                                 "scalbn(u, -1060)",
                                 "__dadd_ru(u, v)",
                                 "__dmul_rd(u, v)",
                                 "__fma_rz(u, v, w)",
                                 "__ddiv_ru(u, v)",
                                 "__dsqrt_rd(fabs(u))",
                                 "__dsub_rd(u, v)",
                                 "__double2ll_rd(u * 1e6)",
                                 "__double2float_rd(u)",
                                 "frexp(u, &place)",
                                 "ilogb(u)",
                                 "llrint(u)",
                                 "lround(u * 100)",
                                 "isfinite(u) + isnan(v) + signbit(u)",
                                 "__hiloint2double(__double2hiint(u), __double2loint(v))"}) {
    expressions.emplace_back(more);
  }
  expect_same<double>("double", numbers<double>(), expressions);
}

// Their first step is rsqrt.approx.ftz.f64, of which PTX promises no bits.
TEST_F(Intrinsics, FunctionsOfDoublesThatBeginWithAnApproximation) {
  expect_same<double>("double", numbers<double>(),
                      {"rsqrt(u)", "acos(u)", "asinh(u)", "tanh(u)", "hypot(u, v)", "rhypot(u, v)",
                       "norm3d(u, v, w)", "normcdfinv(u)", "erfcinv(u)"},
                      1e-15);
}

TEST_F(Intrinsics, FunctionsOfFloatsAndConversions) {
  expect_same<float>("float", numbers<float>(),
                     {"fmaf(u, v, w)",
                      "fmodf(u, v)",
                      "remainderf(u, v)",
                      "__fadd_rd(u, v)",
                      "__fmul_ru(u, v)",
                      "__fdiv_rn(u, v)",
                      "__fdiv_rz(u, v)",
                      "__fsqrt_ru(fabsf(u))",
                      "__frcp_rd(u)",
                      "__frsqrt_rn(fabsf(u))",
                      "nearbyintf(u)",
                      "rintf(u)",
                      "roundf(u)",
                      "truncf(u)",
                      "lroundf(u * 10)",
                      "llrintf(u * 10)",
                      "__half2float(__float2half_ru(u))",
                      "__half2float(__float2half_rz(u))",
                      "__bfloat162float(__float2bfloat16_rd(u))",
                      "fmaxf(fmaxf(u, v), w)",
                      "copysignf(u, v)",
                      "nextafterf(u, v)",
                      "fdimf(u, v)",
                      "ldexpf(u, -140)",
                      "ilogbf(u)",
                      "__saturatef(u)",
                      "float(__nv_fp8_e4m3(u))",
                      "float(__nv_fp8_e5m2(v))",
                      "float(__nv_fp8_e8m0(fabsf(u)))",
                      "float(__nv_fp6_e3m2(u))",
                      "float(__nv_fp6_e2m3(u))",
                      "float(__nv_fp4_e2m1(u))",
                      "__uint2float_rd(__float_as_uint(u))",
                      "__ll2float_ru(__float_as_int(u) * 123456789ll)",
                      "__float2int_rn(u * 1e9f)",
                      "__float2uint_ru(u * 1e9f)",
                      "__float2ll_rd(u * 1e18f)",
                      "__float2ull_rz(u * 1e19f)",
                      "u / v",
                      "1.0f / u",
                      "sqrtf(fabsf(u))",
                      "__fsub_rz(u, v)",
                      "__fmaf_ru(u, v, w)",
                      "frexpf(u, &place)",
                      "u * 1e-38f * v",
                      "u * 1e-30f * 1e-15f"});
}

TEST_F(Intrinsics, Halves) {
  expect_same<std::uint16_t>(
      "__half", halves(Element::f16, 2),
      {"__hadd(u, v)", "__hfma(u, v, w)", "__hdiv(u, v)", "__int2half_rd(__half2int_ru(u))",
       "__ull2half_rn(__half2ull_rz(__habs(u)))", "__short2half_ru(__half2short_rd(u))", "hrint(u)",
       "hsqrt(__habs(u))", "__hmax_nan(u, v)", "__hgt(u, v) ? u : w", "__hequ(u, v) ? u : w",
       "__hmin(u, v)", "__double2half((double)__half2float(u) * 1.00049)", "__hfma_sat(u, v, w)",
       "__hfma_relu(u, v, w)", "hceil(u)", "htrunc(u)", "__shfl_xor_sync(~0u, u, 3)"});
  expect_same<std::uint32_t>("__half2", halves(Element::f16, 4),
                             {"__hadd2(u, v)",
                              "__hsub2(u, v)",
                              "__hmul2(u, v)",
                              "__h2div(u, v)",
                              "__hadd2_sat(u, v)",
                              "__hfma2_sat(u, v, w)",
                              "__habs2(u)",
                              "__hneg2(u)",
                              "__hmax2(u, v)",
                              "__hmin2_nan(u, v)",
                              "__heq2(u, v)",
                              "__hltu2(u, v)",
                              "__hcmadd(u, v, w)",
                              "h2floor(u)",
                              "h2rint(u)",
                              "__lowhigh2highlow(u)",
                              "__hfma2_relu(u, v, w)",
                              "__hmul2_rn(u, v)",
                              "__float22half2_rn(__half22float2(u))",
                              "h2sqrt(__habs2(u))"});
  expect_same<std::uint32_t>(
      "__nv_bfloat162", halves(Element::bf16, 4),
      {"__hadd2(u, v)", "__hmul2(u, v)", "__hfma2(u, v, w)", "__hsub2(u, v)", "__hmax2(u, v)",
       "__h2div(u, v)", "__habs2(u)", "__hfma2_sat(u, v, w)", "__hcmadd(u, v, w)",
       "__hmin2_nan(u, v)", "__float22bfloat162_rn(__bfloat1622float2(u))", "h2rint(u)"});
}

/// An instruction on u, v and w, as an expression.
std::string instruction(const std::string& opcode) {
  return "[&] { u32 d; asm(\"" + opcode +
         " %0, %1, %2, %3;\" : \"=r\"(d) : \"r\"(u), \"r\"(v), "
         "\"r\"(w)); return d; }()";
}

TEST_F(Intrinsics, VideoInstructions) {
  std::vector<std::string> expressions;
  for (const std::string lanes : {"2", "4"}) {
    for (const std::string types : {".s32.s32.s32", ".u32.u32.u32", ".s32.u32.s32"}) {
      for (const std::string what : {"vadd", "vsub", "vabsdiff", "vmin", "vmax"}) {
        for (const std::string form : {"", ".sat", ".add"}) {
          expressions.push_back(instruction(what + lanes + types + form));
        }
      }
    }
    expressions.push_back(instruction("vavrg" + lanes + ".s32.s32.s32"));
    expressions.push_back(instruction("vavrg" + lanes + ".u32.u32.u32.add"));
    for (const std::string comparison : {".eq", ".lt", ".ge"}) {
      expressions.push_back(instruction("vset" + lanes + ".s32.s32" + comparison));
      expressions.push_back(instruction("vset" + lanes + ".u32.s32" + comparison + ".add"));
    }
  }
  const Bytes words =
      elements(Element::bits, 3 * kIntrinsicThreads * sizeof(std::uint64_t), Values::whole, 12);
  expect_same<std::uint32_t>("u32", words, expressions);
}

TEST_F(Intrinsics, Integers) {
  const Bytes words =
      elements(Element::bits, 3 * kIntrinsicThreads * sizeof(std::uint64_t), Values::whole, 12);
  expect_same<std::uint32_t>("u32", words,
                             {"__vaddus2(u, v)",
                              "__vsubss4(u, v)",
                              "__vmaxu2(u, v)",
                              "__vcmpgeu4(u, v)",
                              "__vavgs2(u, v)",
                              "__viaddmax_s32(u, v, w)",
                              "__viaddmin_u16x2(u, v, w)",
                              "__vimax3_s32(u, v, w)",
                              "__vimax_s16x2_relu(u, v)",
                              "__sad(u, v, w)",
                              "__usad(u, v, w)",
                              "__rhadd(u, v)",
                              "__uhadd(u, v)",
                              "__mulhi(u, v)",
                              "__mul24(u, v)",
                              "__funnelshift_lc(u, v, w)",
                              "__funnelshift_r(u, v, w)",
                              "__byte_perm(u, v, w)",
                              "__brev(u)",
                              "__ffs(u) + __fns(u, v & 31, (int)(w & 7) - 3)",
                              "u / (v | 1)",
                              "u % (v | 1)",
                              "(int)u / ((int)v | 1)",
                              "u / 7 + u % 10 + u / 641",
                              "__dp4a(u, v, w)",
                              "__dp2a_hi((int)u, (int)v, (int)w)",
                              "__popc(u) + __clz(v)",
                              "__reduce_min_sync(~0u, u)",
                              "__match_all_sync(~0u, u & 1, &place)",
                              "__shfl_up_sync(~0u, u, 3, 8)",
                              "(u32)((u64)u * v >> 17)",
                              "(short)u + (signed char)v",
                              "__vabsdiffs4(u, v) + __vsads2(u, v)",
                              "__vabsdiffu4(u, v)",
                              "__vsadu4(u, v)"});
  expect_same<std::uint64_t>(
      "u64", words,
      {"u / (v | 1)", "u % (v >> 20 | 1)", "(s64)u / ((s64)v | 1)", "__umul64hi(u, v)",
       "__mul64hi(u, v)", "__brevll(u)", "__clzll(u) + __popcll(v) + __ffsll(w)", "u * v + w",
       "u << (v & 63)", "(s64)u >> (v & 63)", "__shfl_down_sync(~0u, u, 7)",
       "__double2ull_rd(__ull2double_rz(u))", "(u64)(float)u", "u % 1000000007",
       "__match_any_sync(~0u, u & 3)", "u > v ? u - w : v - u"});
}

}  // namespace
}  // namespace kiln::testing
