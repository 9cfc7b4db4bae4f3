// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Which accesses leave the shared array that their address is computed from.
#include "runtime/emulated/decode/address_bases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::kernel_text;
using test::PtxRunner;
using ::testing::HasSubstr;

/// 32 threads with two arrays of a word for each, both written; %r2 and %r3 are their addresses,
/// %r4 is four times the thread, %p1 is always true, and %r9 is 128, out of memory.
LaunchResult with_arrays(const std::string& body) {
  PtxRunner run(kernel_text(R"(
    .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
    .shared .align 4 .b8 _ZZ1kE5first[128];
    .shared .align 4 .b8 _ZZ1kE6second_0[128];
    .local .align 8 .b8 kept[16];
    ld.param.u64 %rd1, [p0];
    ld.global.u32 %r9, [%rd1];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, _ZZ1kE5first;
    mov.u32 %r3, _ZZ1kE6second_0;
    shl.b32 %r4, %r1, 2;
    add.u32 %r5, %r2, %r4;
    st.shared.u32 [%r5], %r1;
    add.u32 %r6, %r3, %r4;
    st.shared.u32 [%r6], %r1;
    setp.ge.u32 %p1, %r1, 0;
    bar.sync 0;
  )" + body + "\nret;",
                            1));
  return run.launch({1, 1, 1}, {32, 1, 1}, run.buffer(std::vector<std::uint32_t>{128}));
}

const std::vector<Finding> kNoFindings;
const std::vector<Finding> kOutside{Finding::out_of_bounds};

TEST(AddressBases, AnOverflowIsNamed) {
  const LaunchResult result = with_arrays("ld.shared.u32 %r7, [%r5+4];");
  EXPECT_EQ(findings(result), kOutside);
  ASSERT_EQ(result.reports.size(), 1U);
  EXPECT_EQ(result.reports.front().times, 1U) << "that of the last lane";
  EXPECT_THAT(
      result.reports.front().text,
      HasSubstr("reads 4 bytes outside an array in shared memory: the access starts at byte 128 of "
                "first, 4-byte element 32; the array has 128 bytes. The accessed bytes belong "
                "to second"));
  EXPECT_EQ(findings(with_arrays("st.shared.u32 [%r6+-4], %r1;")), kOutside);
  EXPECT_EQ(findings(with_arrays("ld.shared.u32 %r7, [_ZZ1kE5first+128];")), kOutside);
}

TEST(AddressBases, NumbersComeFromAnywhere) {
  EXPECT_EQ(findings(with_arrays("add.u32 %r7, %r2, %r9; ld.shared.u32 %r8, [%r7];")), kOutside);
  EXPECT_EQ(findings(with_arrays("add.u32 %r7, %r9, %r5; ld.shared.u32 %r8, [%r7+-128];")),
            kNoFindings);
  // A pointer that a loop moves on.
  const std::string loop =
      "mov.u32 %r7, %r2; AGAIN: ld.shared.u32 %r8, [%r7]; add.u32 %r7, %r7, 4;"
      "sub.u32 %r10, %r7, %r2; setp.lt.u32 %p2, %r10, ";
  EXPECT_EQ(findings(with_arrays(loop + "128; @%p2 bra AGAIN;")), kNoFindings);
  EXPECT_EQ(findings(with_arrays(loop + "132; @%p2 bra AGAIN;")), kOutside);
}

TEST(AddressBases, ADistanceWithinAnArrayIsANumber) {
  // How far a pointer is into the first array is an index into whatever memory names.
  const std::string pointer = "st.local.u32 [kept], %r3; ld.local.u32 %r8, [kept];";
  EXPECT_EQ(findings(with_arrays(pointer + "sub.u32 %r7, %r5, %r2; add.u32 %r10, %r8, %r7;"
                                           "ld.shared.u32 %r11, [%r10];")),
            kNoFindings);
  EXPECT_EQ(findings(with_arrays("sub.u32 %r7, %r6, %r3; add.u32 %r8, %r2, %r7;"
                                 "ld.shared.u32 %r10, [%r8+4];")),
            kOutside)
      << "an index into the first one";
  // A number out of memory may be taken from an address.
  EXPECT_EQ(findings(with_arrays("sub.u32 %r7, %r3, %r9; ld.shared.u32 %r8, [%r7];")), kOutside);
}

TEST(AddressBases, AddressesThatMayBeOfEitherAreLetBe) {
  // Chosen, from one register that holds one and then the other, by their distance, by memory.
  for (const char* body :
       {"selp.b32 %r7, %r3, %r2, %p1; ld.shared.u32 %r8, [%r7+124];",
        "mov.u32 %r7, %r2; @%p1 mov.u32 %r7, %r3; ld.shared.u32 %r8, [%r7];",
        "sub.u32 %r7, %r3, %r2; add.u32 %r7, %r2, %r7; ld.shared.u32 %r8, [%r7];",
        "st.local.u32 [kept], %r3; mov.u32 %r7, %r2; @%p1 ld.local.u32 %r7, [kept];"
        "ld.shared.u32 %r8, [%r7];"}) {
    EXPECT_EQ(findings(with_arrays(body)), kNoFindings) << body;
  }
}

TEST(AddressBases, RacesNameTheArray) {
  const LaunchResult result = with_arrays(
      "xor.b32 %r7, %r6, 4; st.shared.u32 [%r6], %r1;"
      "ld.shared.u32 %r8, [%r7];");
  EXPECT_EQ(findings(result), std::vector<Finding>{Finding::race});
  ASSERT_EQ(result.reports.size(), 1U);
  EXPECT_THAT(result.reports.front().text, HasSubstr("(byte 4 of second, 4-byte element 1)"));
}

TEST(AddressBases, PlainNamesOfVariables) {
  EXPECT_EQ(plain_variable_name("_ZZ4sumsE5parts"), "parts");
  EXPECT_EQ(plain_variable_name("_ZZ4gemmILi2EEvPfE4tile_0"), "tile");
  EXPECT_EQ(plain_variable_name("_ZN4kiln4ringE"), "ring");
  EXPECT_EQ(plain_variable_name("data"), "data");
  EXPECT_EQ(plain_variable_name("_ZZE"), "_ZZE");
}

}  // namespace
}  // namespace kiln::emulated
