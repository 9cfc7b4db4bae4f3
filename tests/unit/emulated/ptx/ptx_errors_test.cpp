// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/unit/emulated/ptx_samples.hpp"

namespace kiln::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string repeated(std::size_t times, std::string_view text) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(PtxErrors, ATextThatIsNoPtx) {
  EXPECT_THAT(refusal(""), AllOf(StartsWith("PTX:1:1: "), HasSubstr("'.version'")));
  EXPECT_THAT(refusal("\x7f"
                      "ELF"),
              HasSubstr("PTX:1:1: PTX does not allow the byte 0x7f"));
  EXPECT_THAT(refusal("\n\n  \xc3\xa4"), AllOf(StartsWith("PTX:3:3: "), HasSubstr("0xc3")));
  EXPECT_THAT(refusal(".version 9"), HasSubstr("expected a version, not '9'"));
  EXPECT_THAT(refusal(".version 9e1"), HasSubstr("a version consists of two integers"));
  EXPECT_THAT(refusal(".version 9.0 .address_size 64"), HasSubstr("a .target directive"));
  EXPECT_THAT(refusal(".version 9.0 .target sm_90 .address_size 32"),
              HasSubstr("only 64-bit addresses"));
  EXPECT_THAT(refusal(".version 9.0 /* never\nended"), HasSubstr("PTX:1:14: this comment"));
  EXPECT_THAT(refusal(".version 9.0 .file 1 \"a\n\""), HasSubstr("PTX:1:22: this string"));
}

TEST(PtxErrors, LongNamesAreShortened) {
  const std::string message = declaration_refusal(std::string(5000, 'x') + ";");
  EXPECT_THAT(message, HasSubstr("xxx...'"));
  EXPECT_LT(message.size(), 150U);
}

TEST(PtxErrors, NestingHasALimit) {
  EXPECT_NO_THROW((void)read_kernel(repeated(60, "{") + "ret;" + repeated(60, "}")));
  EXPECT_THAT(kernel_refusal(repeated(70, "{") + "ret;" + repeated(70, "}")),
              HasSubstr("exceeds the limit of 64 nested scopes"));
  for (const std::string& message :
       {kernel_refusal("mov.b32 " + repeated(1000, "{")),
        kernel_refusal("ld.b32 " + repeated(1000, "[%rd1, ")),
        declaration_refusal(".global .u8 a[2] = " + repeated(1000, "{"))}) {
    EXPECT_THAT(message, HasSubstr("deeper"));
  }
}

TEST(PtxErrors, TooMuchTextIsRefused) {
  EXPECT_THAT(refusal(std::string((std::size_t{64} << 20U) + 1, ' ')), HasSubstr("at most"));
}

// Each would take minutes if its cost grew with the square of the text.
TEST(PtxErrors, CostIsLinearInTheText) {
  constexpr std::size_t kMany = 40000;
  const auto start = std::chrono::steady_clock::now();
  std::string registers;
  std::string names;
  std::string labels;
  for (std::size_t i = 0; i < kMany; ++i) {
    const std::string number = std::to_string(i);
    registers += ".reg .b32 r" + number + "x<2>; mov.u32 r" + number + "x1, 0;\n";
    names += ".reg .b32 v" + number + "; mov.u32 v" + number + ", 0;\n";
    labels += "bra L" + std::to_string(kMany - 1 - i) + "; L" + number + ":\n";
  }
  EXPECT_EQ(read_kernel(registers).registers.size(), kMany);
  EXPECT_EQ(read_kernel(names).registers.size(), kMany);
  EXPECT_EQ(read_kernel(labels).body.size(), kMany);
  EXPECT_EQ(read_kernel(".reg .b32 huge<2147483647>; mov.u32 huge2147483646, 0;").registers.size(),
            1U);
  // One large table that many functions name.
  std::string functions = ".global .u8 table[100000] = {" + repeated(99999, "1,") + "1};";
  for (int i = 0; i < 2000; ++i) {
    functions += ".func f" + std::to_string(i) + "() { .reg .b64 r; mov.u64 r, table; }\n";
  }
  EXPECT_EQ(read_declarations(functions).functions.size(), 2000U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

}  // namespace
}  // namespace kiln::test
