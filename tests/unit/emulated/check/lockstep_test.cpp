// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What old kernels take for granted: that a warp runs in lockstep, and that arrays of a thread's
// own hold something.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/compile/register_note.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::found_only;
using test::kernel_text;
using test::PtxRunner;
using ::testing::HasSubstr;

/// Two steps of `s[t] += s[t + distance]`, with `between` after each step.
LaunchResult reduced(const std::string& kind, const std::string& between) {
  std::string body = R"(
    .shared .align 4 .b8 s[256];
    .reg .b32 %r<16>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, s;
    mad.lo.u32 %r3, %r1, 4, %r2;
    st.shared.u32 [%r3], %r1;
    st.shared.u32 [%r3+128], %r1;
    bar.sync 0;
)";
  for (const int distance : {64, 32}) {
    body += fmt::format(R"(
    ld.{0}.shared.u32 %r4, [%r3+{1}];
    ld.{0}.shared.u32 %r5, [%r3];
    add.u32 %r5, %r5, %r4;
    {2}
    st.{0}.shared.u32 [%r3], %r5;
    {2})",
                        kind, distance, between);
  }
  PtxRunner run(kernel_text(body + "\nret;", 0));
  return run.launch({1, 1, 1}, {32, 1, 1});
}

TEST(Lockstep, VolatileDoesNotOrderLanesOfAWarp) {
  const LaunchResult found = reduced("volatile", "");
  EXPECT_TRUE(found_only(found, Finding::race));
  ASSERT_FALSE(found.reports.empty());
  EXPECT_THAT(found.reports.front().text, HasSubstr("need not run in lockstep"));
  EXPECT_TRUE(findings(reduced("volatile", "bar.warp.sync 0xffffffff;")).empty());
}

TEST(Lockstep, ALaneMayWaitForAnotherThroughAVolatileFlag) {
  PtxRunner run(kernel_text(R"(
    .shared .align 4 .b8 flag[4];
    .reg .pred %p<4>; .reg .b32 %r<8>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, flag;
    mov.u32 %r3, 1;
    mov.u32 %r5, 0;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READY;
    st.shared.u32 [%r2], %r5;
  READY:
    bar.sync 0;
    @%p1 bra WAIT;
    st.volatile.shared.u32 [%r2], %r3;
  WAIT:
    ld.volatile.shared.u32 %r4, [%r2];
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra WAIT;
    ret;)",
                            0));
  run.launch_clean({1, 1, 1}, {32, 1, 1});
}

/// Each thread writes element `written` of its array of four and reads the one that p0 names.
LaunchResult local_read(const std::string& written, std::uint64_t read) {
  PtxRunner run(kernel_text(fmt::format(R"(
    .local .align 16 .b8 own[16];
    .reg .b32 %r<8>; .reg .b64 %rd<8>;
    mov.u64 %rd1, own;
    mov.u32 %r1, 7;
    {}
    ld.param.u64 %rd2, [p0];
    shl.b64 %rd2, %rd2, 2;
    add.s64 %rd2, %rd1, %rd2;
    ld.local.u32 %r2, [%rd2];
    ret;)",
                                        written),
                            1));
  return run.launch({1, 1, 1}, {64, 1, 1}, read);
}

TEST(LocalMemory, ReadsOfWhatNobodyWroteAreFound) {
  const std::string write = "st.local.u32 [%rd1+4], %r1;";
  EXPECT_TRUE(findings(local_read(write, 1)).empty());
  const LaunchResult found = local_read(write, 2);
  EXPECT_TRUE(found_only(found, Finding::uninitialised));
  ASSERT_FALSE(found.reports.empty());
  EXPECT_THAT(found.reports.front().text, HasSubstr("uninitialised local memory"));
  EXPECT_TRUE(found_only(local_read("", 0), Finding::uninitialised));
}

TEST(LocalMemory, CopiesMayHaveGapsBetweenMembers) {
  PtxRunner run(kernel_text(R"(
    .local .align 16 .b8 own[16];
    .reg .b32 %r<8>; .reg .b64 %rd<8>;
    mov.u64 %rd1, own;
    mov.u32 %r1, 7;
    st.local.u8 [%rd1], %r1;
    st.local.u32 [%rd1+8], %r1;
    ld.local.v2.u64 {%rd2, %rd3}, [%rd1];
    ret;)",
                            0));
  run.launch_clean({1, 1, 1}, {32, 1, 1});
}

/// One warp changes its registers, of which it has 168.
LaunchResult registers_changed(const std::string& change) {
  PtxRunner run(kernel_text("setmaxnreg." + change + ".sync.aligned.u32 96; ret;", 0) +
                register_note({{"k", 168}}));
  return run.launch({1, 1, 1}, {128, 1, 1});
}

TEST(Registers, WarpCannotRaiseThemToFewer) {
  const LaunchResult found = registers_changed("inc");
  ASSERT_TRUE(found.fault);
  EXPECT_EQ(found.fault->finding, Finding::invalid_operand);
  EXPECT_THAT(found.fault->text,
              HasSubstr("cannot raise the number of registers per thread from 168 to 96"));
  EXPECT_TRUE(findings(registers_changed("dec")).empty());
}

}  // namespace
}  // namespace kiln::emulated
