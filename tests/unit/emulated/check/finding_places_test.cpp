// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Findings say in which array, and at which element of it, they were made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/emulated/decode/report.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::kernel_text;
using test::PtxRunner;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kStatic = ".shared .align 16 .b8 _ZZ1kE4tile[2048];";

/// What is found first in a block of one thread: %rd1 is the address of 8 words, %r1 that of `tile`
/// and %r2 is 1.
std::string found_in(const std::string& variables, const std::string& body,
                     std::uint32_t smem_bytes = 0, const std::string& array = "_ZZ1kE4tile") {
  PtxRunner run(kernel_text(R"(
    .reg .pred %p<2>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .f32 %f<4>;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r2, 1;
    mov.u32 %r1, )" + array + ";\n" +
                                body + "\nret;",
                            1, variables));
  run.smem_bytes = smem_bytes;
  const LaunchResult result =
      run.launch({1, 1, 1}, {1, 1, 1}, run.buffer(std::vector<std::uint32_t>(8, 0)));
  if (result.fault) return result.fault->text;
  return result.reports.empty() ? "nothing" : result.reports.front().text;
}

TEST(FindingPlaces, AreElementsOfAStaticArray) {
  EXPECT_THAT(found_in(kStatic, "ld.shared.u32 %r3, [%r1+1080];"),
              HasSubstr("(byte 1080 of tile, 4-byte element 270)"));
  EXPECT_THAT(found_in(kStatic, "ld.shared.v4.f32 {%f0, %f1, %f2, %f3}, [%r1+64];"),
              HasSubstr("(byte 64 of tile, 4-byte element 16)"))
      << "elements of a vector, not vectors";
  EXPECT_THAT(found_in(kStatic, "ld.shared.u8 %r3, [%r1+3];"), HasSubstr("(byte 3 of tile)"));
}

TEST(FindingPlaces, AVariableOfOneElementIsJustNamed) {
  EXPECT_THAT(
      found_in(".shared .align 4 .u32 _ZZ1kE4done;", "ld.shared.u32 %r3, [%r1];", 0, "_ZZ1kE4done"),
      HasSubstr("uninitialised shared memory (done)"));
}

TEST(FindingPlaces, AreElementsOfDynamicSharedMemory) {
  // Behind 16 static bytes.
  const std::string dynamic =
      ".shared .align 16 .b8 _ZZ1kE4flag[16]; .extern .shared .align 16 .b8 ring[];";
  EXPECT_THAT(found_in(dynamic, "ld.shared.u32 %r3, [%r1+8];", 64, "ring"),
              HasSubstr("(byte 8 of ring, 4-byte element 2)"));
  // Two names of the same bytes.
  EXPECT_THAT(
      found_in(".extern .shared .align 16 .b8 ring[]; .extern .shared .align 16 .b8 sums[];",
               "mov.u32 %r4, sums; ld.shared.u32 %r3, [%r1+8];", 64, "ring"),
      HasSubstr("(offset 8)"));
}

TEST(FindingPlaces, OutsideOfAllSharedMemoryTheArrayIsNamed) {
  EXPECT_THAT(found_in(kStatic, "st.shared.u32 [%r1+2048], %r2;"), HasSubstr("byte 2048 of tile"));
  EXPECT_THAT(found_in(kStatic, "st.shared.u32 [%r1+-4], %r2;"),
              HasSubstr("at byte -4 of tile, 4-byte element -1,"));
  EXPECT_THAT(
      found_in(".extern .shared .align 16 .b8 ring[];", "st.shared.u32 [%r1+64], %r2;", 64, "ring"),
      HasSubstr("at byte 64 of ring, 4-byte element 16, but the array has only 64 bytes"));
  // Of two arrays, the one that the address is computed from.
  EXPECT_THAT(found_in(std::string(kStatic) + ".shared .align 4 .b8 _ZZ1kE4last[64];",
                       "mov.u32 %r4, _ZZ1kE4last; st.shared.u32 [%r4+72], %r2;"),
              HasSubstr("byte 72 of last"));
}

TEST(FindingPlaces, MisalignedAccessesNameTheArray) {
  EXPECT_THAT(found_in(kStatic, "st.shared.v2.u32 [%r1+20], {%r2, %r2};"),
              HasSubstr("writes 8 bytes at byte 20 of tile, 4-byte element 5; the address is not "
                        "a multiple of 8"));
  EXPECT_THAT(
      found_in(kStatic, "st.global.v2.u32 [%rd1+12], {%r2, %r2};"),
      AllOf(HasSubstr("byte 12 of"), HasSubstr("32 bytes"), HasSubstr("4-byte element 3;")));
}

TEST(FindingPlaces, RacesInGlobalMemoryNameTheElement) {
  PtxRunner run(kernel_text(R"(
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %ctaid.x;
    st.global.u32 [%rd1+8], %r1;
    ret;)",
                            1));
  const LaunchResult result =
      run.launch({2, 1, 1}, {1, 1, 1}, run.buffer(std::vector<std::uint32_t>(8, 0)));
  ASSERT_EQ(result.reports.size(), 1U);
  EXPECT_THAT(result.reports.front().text,
              HasSubstr("(byte 8 of an allocation of 32 bytes, 4-byte element 2)"));
}

}  // namespace
}  // namespace kiln::emulated
