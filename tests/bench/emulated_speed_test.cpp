// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// How fast the emulated GPU is: lane instructions a second on ordinary arithmetic, and a whole
// matrix multiplication. Counts the processor time of one thread, which other programs on the
// machine change little, and takes the best of a few runs.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/emulated/arith/small_floats.hpp"
#include "runtime/emulated/device/emulated_device.hpp"
#include "templates/catalog.hpp"
#include "templates/kernels/common/gemm_args.cuh"
#include "templates/launch/launch_planner.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/render/renderer.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln {
namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The repetitions of a loop body, in full warps that never diverge.
constexpr int kRepetitions = 2000;
constexpr int kThreads = 256;
constexpr int kTurns = 5;
constexpr double kLeastLanesPerSecond = 50e6;

/// A kernel that runs `body` again and again; p0 is a buffer of one 32-bit word for each thread.
std::string loop_of(const std::string& body) {
  return emulated::test::kernel_text(R"(
    .reg .pred %p<4>; .reg .b32 %r<16>; .reg .f32 %f<16>; .reg .b64 %rd<8>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [p0];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd2, %rd1, %rd2;
    mov.u32 %r2, 0;
    mov.u32 %r3, %r1;
    add.u32 %r4, %r1, 7;
    cvt.rn.f32.u32 %f1, %r1;
    mov.f32 %f2, 0f3F7FF000;
    mov.f32 %f3, 0f3F000000;
    mov.f32 %f4, 0f00000000;
  LOOP:
)" + body + R"(
    add.s32 %r2, %r2, 1;
    setp.lt.s32 %p1, %r2, )" + std::to_string(kRepetitions) +
                                         R"(;
    @%p1 bra LOOP;
    cvt.rzi.s32.f32 %r5, %f1;
    add.s32 %r3, %r3, %r5;
    st.global.u32 [%rd2], %r3;
    ret;
)",
                                     1);
}

void expect_fast(const std::string& what, const std::string& body) {
  emulated::test::PtxRunner run(loop_of(body), "k", false);
  const auto words = run.buffer(std::vector<std::uint32_t>(kThreads, 3));
  double best = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    const double begin = thread_seconds();
    const emulated::LaunchResult result = run.launch({1, 1, 1}, {kThreads, 1, 1}, words);
    const double seconds = thread_seconds() - begin;
    ASSERT_FALSE(result.fault) << result.fault->describe();
    ASSERT_GT(result.instructions, std::uint64_t{kRepetitions} * kThreads / 32);
    best = std::max(best, static_cast<double>(result.instructions) * 32 / seconds);
  }
  fmt::print("{}: {:.0f} million lane instructions a second\n", what, best / 1e6);
  EXPECT_GE(best, kLeastLanesPerSecond) << what;
}

TEST(EmulatedSpeed, OrdinaryArithmetic) {
  expect_fast("integers", R"(
    mad.lo.s32 %r3, %r3, %r4, %r2;
    xor.b32 %r6, %r3, %r4;
    shl.b32 %r7, %r6, 3;
    add.s32 %r3, %r3, %r7;
    and.b32 %r8, %r3, 65535;
    sub.s32 %r3, %r8, %r6;
  )");
  expect_fast("f32", R"(
    fma.rn.f32 %f1, %f1, %f2, %f3;
    fma.rn.f32 %f4, %f4, %f2, %f1;
    mul.f32 %f5, %f4, %f3;
    add.f32 %f1, %f1, %f5;
    fma.rn.f32 %f1, %f1, %f3, %f4;
  )");
  expect_fast("integers, f32, comparisons and loads", R"(
    ld.global.u32 %r6, [%rd2];
    add.s32 %r7, %r6, %r2;
    cvt.rn.f32.s32 %f5, %r7;
    fma.rn.f32 %f1, %f5, %f3, %f1;
    setp.gt.s32 %p2, %r7, 1000;
    selp.b32 %r8, %r6, %r7, %p2;
    mad.lo.s32 %r3, %r8, %r4, %r3;
    fma.rn.f32 %f1, %f1, %f2, %f3;
    shr.u32 %r9, %r3, 5;
    xor.b32 %r3, %r3, %r9;
  )");
}

TEST(EmulatedSpeed, AMatrixMultiplicationOfTensorCores) {
  std::unique_ptr<Compiler> compiler;
  try {
    compiler = make_nvrtc_compiler();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  constexpr int kSide = 256;
  constexpr double kMostSeconds = 5.0;
  EmulationOptions options;
  options.host_threads = 1;
  EmulatedDevice device("h200", options);
  const DeviceLimits& limits = device.info().limits;
  const KernelTemplate& kernel = Catalog::builtin().at("gemm_wmma");
  const Problem problem = to_problem(Gemm::of(DType::f16, kSide, kSide, kSide));
  const Config config = kernel.space(problem, limits).default_config().value();
  const RenderedKernel rendered = render(Catalog::builtin(), kernel, config, problem, limits);
  CompileRequest request;
  request.source = rendered.text;
  request.name_expressions = rendered.name_expressions;
  request.arch = limits.arch;
  request.code = CodeKind::ptx;
  const CompileResult compiled = compiler->compile(request);
  ASSERT_TRUE(compiled.ok) << compiled.log;
  DeviceStatus status;
  const auto module = device.load(compiled.cubin, compiled.lowered_names, status);
  ASSERT_TRUE(status.ok()) << status.message;
  GemmArgs args{};
  const auto matrix = [&] {
    const DevicePtr at = device.allocate(kSide * kSide * 2);
    device.fill(at, 0x3c, kSide * kSide * 2);  // 1.059
    return reinterpret_cast<void*>(at);
  };
  args.a = matrix();
  args.b = matrix();
  args.d = matrix();
  args.lda = args.ldb = args.ldc = args.ldd = kSide;
  args.alpha = 1.0;
  args.m = args.n = args.k = kSide;
  const LaunchGeometry geometry = LaunchPlanner(kernel, problem, limits).geometry(config).front();
  double seconds = kMostSeconds;
  for (int turn = 0; turn < kTurns; ++turn) {
    const double begin = thread_seconds();
    status = device.launch({module->functions().front(), geometry, &args}, nullptr);
    seconds = std::min(seconds, thread_seconds() - begin);
    ASSERT_TRUE(status.ok()) << status.message;
  }
  // All 65536 elements are the same sum of 256 products of 1.0586.
  std::vector<std::uint16_t> d(kSide * kSide);
  device.copy_to_host(d.data(), reinterpret_cast<DevicePtr>(args.d), kSide * kSide * 2);
  for (const std::uint16_t element : d) ASSERT_EQ(emulated::f32_of_f16(element), 287.0F);
  fmt::print("gemm_wmma, f16, {0} x {0} x {0}: {1:.2f} s\n", kSide, seconds);
  EXPECT_LT(seconds, kMostSeconds);
}

}  // namespace
}  // namespace kiln
