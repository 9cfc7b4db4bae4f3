// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include "runtime/emulated/ptx/ptx_constant.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <string>

#include "tests/unit/templates/expect_error.hpp"

namespace kiln::ptx {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Constant constant_of(std::string_view text) {
  Lexer lexer(text);
  const Constant value = read_constant(lexer);
  EXPECT_TRUE(lexer.at_end()) << text << " was not read to its end";
  return value;
}

std::int64_t integer_of(std::string_view text) {
  const Constant value = constant_of(text);
  EXPECT_FALSE(value.real) << text;
  return value.as_signed();
}

double real_of(std::string_view text) {
  const Constant value = constant_of(text);
  EXPECT_TRUE(value.real) << text;
  return std::bit_cast<double>(value.bits);
}

std::string refusal_of(const std::string& text) {
  return test::error_text(ErrorKind::device, [&] { (void)constant_of(text); });
}

TEST(PtxConstant, IntegersComeInFourBasesAndMayBeUnsigned) {
  EXPECT_EQ(integer_of("0"), 0);
  EXPECT_EQ(integer_of("42"), 42);
  EXPECT_EQ(integer_of("0x7fFF"), 0x7fff);
  EXPECT_EQ(integer_of("0XFF00"), 0xff00);
  EXPECT_EQ(integer_of("017"), 15);
  EXPECT_EQ(integer_of("0b1011"), 11);
  EXPECT_EQ(integer_of("WARP_SZ"), 32);
  EXPECT_FALSE(constant_of("42").is_unsigned);
  EXPECT_TRUE(constant_of("42U").is_unsigned);
  EXPECT_TRUE(constant_of("0xFFU").is_unsigned);
}

TEST(PtxConstant, AnIntegerBeyondTheSignedOnesIsUnsigned) {
  EXPECT_FALSE(constant_of("9223372036854775807").is_unsigned);
  EXPECT_TRUE(constant_of("9223372036854775808").is_unsigned);
  EXPECT_EQ(integer_of("18446744073709551615"), -1);
  EXPECT_EQ(integer_of("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  for (const char* number : {"18446744073709551616", "0x10000000000000000"}) {
    EXPECT_THAT(refusal_of(number), HasSubstr("this integer does not fit into 64 bits")) << number;
  }
}

TEST(PtxConstant, RealsAreExact) {
  EXPECT_EQ(real_of("0f3F800000"), 1.0);
  EXPECT_EQ(real_of("0F00000001"), 0x1p-149);
  EXPECT_EQ(real_of("0d3FB999999999999A"), 0.1);
  EXPECT_EQ(real_of("1.5"), 1.5);
  EXPECT_EQ(real_of("2.e3"), 2000.0);
  EXPECT_EQ(real_of("1e-3"), 1e-3);
  EXPECT_EQ(real_of("-0f40000000"), -2.0);
}

TEST(PtxConstant, ANanKeepsItsPayload) {
  // A signalling one, whose top bit of the payload is clear.
  EXPECT_EQ(constant_of("0f7F800001").bits, 0x7ff0000020000000U);
  EXPECT_EQ(constant_of("0fFFC00000").bits, 0xfff8000000000000U);
  EXPECT_EQ(constant_of("0fFF800000").bits, 0xfff0000000000000U);
  EXPECT_EQ(constant_of("0d7FF0000000000001").bits, 0x7ff0000000000001U);
}

TEST(PtxConstant, OperatorsBindAsInC) {
  EXPECT_EQ(integer_of("(1+2)*4"), 12);
  EXPECT_EQ(integer_of("1+2*4"), 9);
  EXPECT_EQ(integer_of("10-3-2"), 5);
  EXPECT_EQ(integer_of("1<<4|3"), 19);
  EXPECT_EQ(integer_of("6&3^1"), 3);
  EXPECT_EQ(integer_of("-7/2"), -3);
  EXPECT_EQ(integer_of("-7%4"), -3);
  EXPECT_EQ(integer_of("~0"), -1);
  EXPECT_EQ(integer_of("!0 + !5"), 1);
  EXPECT_EQ(integer_of("1 < 2 == 1 && 3 != 4"), 1);
  EXPECT_EQ(integer_of("0 || 2 >= 3"), 0);
  EXPECT_EQ(integer_of("1 ? 0 ? 3 : 4 : 5"), 4);
  EXPECT_EQ(integer_of("-8 >> 1"), -4);
  EXPECT_EQ(integer_of("1 << 64"), 0);
  EXPECT_EQ(integer_of("-1 >> 99"), -1);
  EXPECT_EQ(real_of("1.5 * 2 - 0.5"), 2.5);
  EXPECT_EQ(integer_of("1.5 < 2.0"), 1);
}

TEST(PtxConstant, TypesDecideHowIntegersDivideAndCompare) {
  EXPECT_EQ(integer_of("-1 < 1"), 1);
  EXPECT_EQ(integer_of("-1 < 1U"), 0);
  EXPECT_EQ(integer_of("(.u64)-1 > 1"), 1);
  EXPECT_EQ(integer_of("(.s64)0xFFFFFFFFFFFFFFFF < 0"), 1);
  EXPECT_EQ(integer_of("-2U >> 63"), 1);
  EXPECT_EQ(integer_of("-1 / 2U"), std::numeric_limits<std::int64_t>::max());
}

TEST(PtxConstant, NothingOverflowsInTheHost) {
  const std::string lowest = "(.s64)0x8000000000000000";
  EXPECT_EQ(integer_of(lowest + " / -1"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(integer_of(lowest + " % -1"), 0);
  EXPECT_EQ(integer_of("-(" + lowest + ")"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(integer_of("9223372036854775807 + 1"), std::numeric_limits<std::int64_t>::min());
}

TEST(PtxConstant, FaultsNameTheirPlace) {
  EXPECT_EQ(refusal_of("1 / 0"), "PTX:1:3: a division by zero");
  EXPECT_THAT(refusal_of("1.0 / 0.0"), AllOf(StartsWith("PTX:1:5: "), HasSubstr("zero")));
  EXPECT_EQ(refusal_of("1.0 << 2"),
            "PTX:1:5: the operator '<<' does not accept floating-point numbers");
  EXPECT_THAT(refusal_of("~1.0"), ::testing::StartsWith("PTX:1:1: the operator '~' "));
  EXPECT_EQ(refusal_of("(.f32)1"), "PTX:1:2: a constant can be cast only to .s64 or .u64");
  EXPECT_EQ(refusal_of("(1"), "PTX:1:3: expected ')', not the end of the text");
  EXPECT_EQ(refusal_of("2 +\n  ;"), "PTX:2:3: expected a constant, not ';'");
  EXPECT_THAT(refusal_of("0f3F8"), HasSubstr("begins with 0f must have 8 hexadecimal digits"));
  EXPECT_THAT(refusal_of("0d3F800000"), HasSubstr("begins with 0d must have 16"));
  EXPECT_THAT(refusal_of("0x"), HasSubstr("has no digits"));
  for (const char* number : {"089", "12ab"}) {
    EXPECT_THAT(refusal_of(number), HasSubstr("invalid letters or digits follow")) << number;
  }
  for (const char* number : {"1e999", "1.2.3"}) {
    EXPECT_THAT(refusal_of(number), HasSubstr("this floating-point number is malformed")) << number;
  }
}

TEST(PtxConstant, NestingHasALimit) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '(') + "7" + std::string(depth, ')');
  };
  EXPECT_EQ(integer_of(nested(60)), 7);
  std::string conditions;
  for (int i = 0; i < 1000; ++i) conditions += "1?1:";
  for (const std::string& deep : {nested(70), std::string(100000, '-') + "1", conditions + "1"}) {
    EXPECT_THAT(refusal_of(deep), HasSubstr("brackets or operators nest deeper than 64"))
        << deep.substr(0, 5);
  }
}

}  // namespace
}  // namespace kiln::ptx
