// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Calls through pointers: every lane goes to the function that its own pointer means.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::kernel_text;
using test::PtxRunner;
using ::testing::HasSubstr;

constexpr const char* kFunctions = R"(
.func (.param .b32 r) add_seven(.param .b32 x) { .reg .b32 t;
  ld.param.b32 t, [x]; add.u32 t, t, 7; st.param.b32 [r], t; ret; }
.func (.param .b32 r) times_three(.param .b32 x) { .reg .b32 t;
  ld.param.b32 t, [x]; mul.lo.u32 t, t, 3; st.param.b32 [r], t; ret; }
.func (.param .b32 r) of_two(.param .b32 x, .param .b32 y) { ret; }
.func (.param .b32 r) by_itself(.param .b32 x) { .reg .b64 p; .reg .b32 t;
  mov.u64 p, by_itself;
  type: .callprototype (.param .b32 _) _ (.param .b32 _);
  call (r), p, (x), type; ret; }
.global .align 8 .u64 table[3] = {add_seven, times_three, of_two};
)";

/// Lane i calls what `choose` leaves in %rd3 for 10 + i; its result, or 1000 where it does not
/// call.
std::string calling(const std::string& choose, const std::string& guard = "") {
  return kernel_text(R"(
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
    mov.u32 %r1, %tid.x;
    add.u32 %r2, %r1, 10;
    and.b32 %r4, %r1, 1;
    setp.ne.u32 %p1, %r4, 0;
)" + choose + R"(
    mov.u32 %r3, 1000;
    { .param .b32 given; .param .b32 got;
      st.param.b32 [given], %r2;
      st.param.b32 [got], %r3;
      type: .callprototype (.param .b32 _) _ (.param .b32 _);
)" + guard + R"( call (got), %rd3, (given), type;
      ld.param.b32 %r3, [got]; }
    ld.param.u64 %rd1, [p0];
    mad.wide.u32 %rd1, %r1, 4, %rd1;
    st.global.u32 [%rd1], %r3;
    ret;
)",
                     1, kFunctions);
}

std::vector<std::uint32_t> results(const std::string& text) {
  PtxRunner run(text);
  const auto out = run.fresh_buffer(32 * 4);
  run.launch_clean({1, 1, 1}, {32, 1, 1}, out);
  return run.read<std::uint32_t>(out, 32);
}

TEST(FunctionCalls, PointersInRegistersMayDifferBetweenLanes) {
  const auto values = results(calling(
      "mov.u64 %rd1, add_seven; mov.u64 %rd2, times_three; selp.b64 %rd3, %rd1, %rd2, %p1;"));
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(values[i], i % 2 != 0 ? 10 + i + 7 : (10 + i) * 3) << i;
  }
}

TEST(FunctionCalls, TablesHoldPointersAsThoseOfVirtualFunctionsDo) {
  const auto values =
      results(calling("mul.wide.u32 %rd1, %r4, 8; mov.u64 %rd2, table; add.u64 %rd2, %rd2, %rd1;\n"
                      "ld.global.u64 %rd3, [%rd2];"));
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(values[i], i % 2 != 0 ? (10 + i) * 3 : 10 + i + 7) << i;
  }
}

TEST(FunctionCalls, GuardsKeepLanesOut) {
  const auto values = results(calling("mov.u64 %rd3, times_three;", "@!%p1"));
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(values[i], i % 2 != 0 ? 1000 : (10 + i) * 3) << i;
  }
}

TEST(FunctionCalls, WhatIsNoFunctionOfThatKindIsReported) {
  for (const char* choose : {"mov.u64 %rd3, 0;", "mov.u64 %rd3, of_two;",
                             "mov.u64 %rd3, by_itself;", "mov.u64 %rd3, table;"}) {
    PtxRunner run(calling(choose));
    const auto result = run.launch({1, 1, 1}, {32, 1, 1}, run.fresh_buffer(32 * 4));
    ASSERT_EQ(findings(result), std::vector<Finding>{Finding::invalid_operand}) << choose;
    EXPECT_THAT(result.fault->text, HasSubstr("no function with these parameters and results"));
  }
}

TEST(FunctionCalls, FunctionsAreNoData) {
  PtxRunner run(
      kernel_text(".reg .b32 %r<2>; .reg .b64 %rd<4>; mov.u64 %rd1, add_seven;\n"
                  "ld.global.u32 %r1, [%rd1]; ret;",
                  1, kFunctions));
  const auto result = run.launch({1, 1, 1}, {32, 1, 1}, run.fresh_buffer(4));
  EXPECT_EQ(findings(result), std::vector<Finding>{Finding::out_of_bounds});
}

}  // namespace
}  // namespace kiln::emulated
