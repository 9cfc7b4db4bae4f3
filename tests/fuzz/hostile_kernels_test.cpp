// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Kernels that would never end, and kernels of absurd shape: time limits hold, memory is not
// exhausted, and each is refused or stopped with a reason.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "kiln/error.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::kernel_text;
using test::PtxRunner;

constexpr double kTimeout = 0.3;
/// What a busy machine may add, or a sanitizer.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kSlack = 20.0;
#else
constexpr double kSlack = 2.0;
#endif

/// Runs a body of p0 (a buffer of zeros) with a short time limit; what ended it.
std::optional<Finding> ended_by(const std::string& body, Extent grid, Extent block,
                                Extent cluster = {}) {
  PtxRunner run(
      kernel_text(".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;\n"
                  ".shared .align 8 .b64 barrier;\n"
                  "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x;\n" +
                      body,
                  1));
  run.timeout_s = kTimeout;
  run.cluster = cluster;
  const auto begin = std::chrono::steady_clock::now();
  const LaunchResult result =
      run.launch(grid, block, run.buffer(std::vector<std::uint32_t>(1024, 0)));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(taken.count(), kTimeout + kSlack);
  return result.fault ? std::optional(result.fault->finding) : std::nullopt;
}

TEST(EndlessKernels, PlainLoops) {
  EXPECT_EQ(ended_by("L: bra L;", {1, 1, 1}, {32, 1, 1}), Finding::timed_out);
  EXPECT_EQ(ended_by("L: add.u32 %r2, %r2, 1; bra L;", {1, 1, 1}, {1024, 1, 1}),
            Finding::timed_out);
  EXPECT_EQ(ended_by("L: bra L;", {1000000, 1, 1}, {1024, 1, 1}), Finding::timed_out);
}

TEST(EndlessKernels, LanesThatPartInTheLoop) {
  EXPECT_EQ(ended_by(R"(
    L: and.b32 %r2, %r1, 7; setp.eq.u32 %p1, %r2, 3; @%p1 bra M;
    add.u32 %r1, %r1, 1; bra L;
    M: add.u32 %r1, %r1, 5; bra L;)",
                     {1, 1, 1}, {64, 1, 1}),
            Finding::timed_out);
}

TEST(EndlessKernels, SlowInstructions) {
  // Each takes as long as thousands of others.
  EXPECT_EQ(ended_by(R"(
    .reg .f32 %f<4>; .shared .align 1024 .b8 tile[16384];
    mov.u32 %r2, tile; shr.u32 %r2, %r2, 4; cvt.u64.u32 %rd2, %r2;
    or.b64 %rd2, %rd2, 4611686293305360384;
    mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
    L: wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16
        {%f0, %f1, %f2, %f3}, %rd2, %rd2, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    bra L;)",
                     {4, 1, 1}, {128, 1, 1}),
            Finding::timed_out);
}

TEST(EndlessKernels, AtBarriers) {
  // One warp never arrives, but runs.
  EXPECT_EQ(
      ended_by("setp.lt.u32 %p1, %r1, 32; L: @%p1 bra L; bar.sync 0; ret;", {3, 1, 1}, {128, 1, 1}),
      Finding::timed_out);
  // All warps synchronise over and over.
  EXPECT_EQ(ended_by("L: bar.sync 0; bra L;", {2, 1, 1}, {256, 1, 1}), Finding::timed_out);
  EXPECT_EQ(ended_by("L: barrier.cluster.arrive; barrier.cluster.wait; bra L;", {4, 1, 1},
                     {64, 1, 1}, {2, 1, 1}),
            Finding::timed_out);
  // An mbarrier that never completes.
  EXPECT_EQ(ended_by(R"(
    mov.u32 %r2, barrier; setp.ne.u32 %p1, %r1, 0;
    @!%p1 mbarrier.init.shared.b64 [%r2], 1;
    bar.sync 0;
    L: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
    @!%p2 bra L; ret;)",
                     {5000, 1, 1}, {128, 1, 1}),
            Finding::deadlock);
}

TEST(EndlessKernels, OnMemory) {
  // A lock that is never free, a flag that is never set.
  EXPECT_EQ(ended_by("L: atom.global.cas.b32 %r2, [%rd1], 1, 1; setp.ne.u32 %p1, %r2, 1;\n"
                     "@%p1 bra L; ret;",
                     {300, 1, 1}, {32, 1, 1}),
            Finding::timed_out);
  EXPECT_EQ(ended_by("L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p1, %r2, 0;\n"
                     "@%p1 bra L; ret;",
                     {300, 1, 1}, {256, 1, 1}),
            Finding::timed_out);
}

TEST(EndlessKernels, Asleep) {
  EXPECT_EQ(ended_by("L: nanosleep.u32 100; bra L;", {2, 1, 1}, {64, 1, 1}), Finding::timed_out);
}

TEST(EndlessKernels, WarpsBehindOnesThatSpinAreHeard) {
  // The last of 32 warps sets the flag that the others spin on.
  PtxRunner run(kernel_text(R"(
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 992; @%p1 bra SET;
    L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra L; ret;
    SET: st.volatile.global.u32 [%rd1], 1; ret;)",
                            1));
  const LaunchResult result =
      run.launch({1, 1, 1}, {1024, 1, 1}, run.buffer(std::vector<std::uint32_t>(1, 0)));
  EXPECT_FALSE(result.fault) << result.fault->describe();
}

TEST(AbsurdShapes, GridsThatNoTimeSufficesFor) {
  EXPECT_EQ(ended_by("ret;", {2147483647, 65535, 65535}, {32, 1, 1}), Finding::timed_out);
  EXPECT_EQ(ended_by("bar.sync 0; ret;", {2147483647, 1, 1}, {1024, 1, 1}), Finding::timed_out);
  EXPECT_EQ(ended_by("ret;", {1, 1, 1}, {65535, 65535, 65535}), Finding::invalid_operand);
  EXPECT_EQ(ended_by("ret;", {0, 1, 1}, {32, 1, 1}), Finding::invalid_operand);
  EXPECT_EQ(ended_by("ret;", {3, 1, 1}, {32, 1, 1}, {2, 1, 1}), Finding::invalid_operand);
  EXPECT_EQ(ended_by("ret;", {4096, 1, 1}, {32, 1, 1}, {4096, 1, 1}), Finding::invalid_operand);
  EXPECT_EQ(ended_by("ret;", {4, 1, 1}, {32, 1, 1}, {0, 1, 1}), Finding::invalid_operand);
}

/// The text of the error with which a module is refused.
std::string refusal(const std::string& text, const std::string& kernel = "k") {
  GlobalMemory memory(std::int64_t{1} << 26);
  try {
    const EmulatedModule module(text, {kernel}, memory);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    return error.what();
  }
  ADD_FAILURE() << "it was accepted";
  return {};
}

void expect_refused(const std::string& text, const std::string& because) {
  const std::string message = refusal(text);
  EXPECT_NE(message.find(because), std::string::npos) << message;
}

TEST(AbsurdShapes, Variables) {
  for (const char* bytes : {"1000000000", "4294967296"}) {
    expect_refused(
        kernel_text(fmt::format(".reg .b32 %r<2>; .shared .b8 x[{}]; mov.u32 %r1, x; ret;", bytes),
                    0),
        "bytes of shared memory");
  }
  expect_refused(kernel_text(".reg .b32 %r<2>; .local .b8 x[100000000]; mov.u32 %r1, x; ret;", 0),
                 "bytes of local memory");
  expect_refused(
      ".version 9.0 .target sm_90a .address_size 64\n"
      ".visible .entry k(.param .b8 p[100000]) { ret; }",
      "bytes of parameters");
  expect_refused(kernel_text("ret;", 0, ".global .b8 x[100000000000];"), "bytes left");
  expect_refused(kernel_text("ret;", 0, ".global .b8 x[10000000][10000000];"), "2^40 bytes");
}

TEST(AbsurdShapes, Registers) {
  // Declared, they cost nothing; only those that are used do.
  PtxRunner run(kernel_text(".reg .b32 %r<2000000000>; mov.u32 %r1999999999, 5; ret;", 0));
  run.launch_clean({1, 1, 1}, {32, 1, 1});
  std::string body = ".reg .b64 %rd<1000000>;\n";
  for (int i = 0; i < 200000; ++i) body += fmt::format("mov.u64 %rd{}, 1;\n", i);
  expect_refused(kernel_text(body + "ret;", 0), "too large");
}

TEST(AbsurdShapes, Nesting) {
  const std::string deep(100000, '{');
  const std::string parentheses(100000, '(');
  const std::string too_deep = "deeper";
  expect_refused(kernel_text(deep, 0), "64 nested scopes");
  expect_refused(kernel_text("ret;", 0, ".global .u32 x = " + parentheses + "1;"), too_deep);
  expect_refused(kernel_text("ret;", 0, ".global .u32 x[1] = " + deep + "1;"), too_deep);
  expect_refused(kernel_text("call f; ret;", 0, ".func f() { call f; ret; }"), "recursive");
}

TEST(AbsurdShapes, CallsThatDoubleAtEachLevel) {
  for (const std::string leaf : {"", "ret; "}) {
    std::string functions = fmt::format(".func f0() {{ {} }}\n", leaf);
    for (int i = 1; i < 60; ++i) {
      functions += fmt::format(".func f{0}() {{ call f{1}; call f{1}; {2}}}\n", i, i - 1, leaf);
    }
    expect_refused(kernel_text("call f59; ret;", 0, functions), "too large");
  }
}

}  // namespace
}  // namespace kiln::emulated
