// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Values of scalars, and how they are written and read.
#include "templates/operation/scalar_text.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::int64_t kLeastSigned = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMostSigned = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kMostUnsigned = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kFirstWithoutDouble = 9007199254740993;  // 2^53 + 1

static_assert(std::is_trivially_copyable_v<Scalar> && sizeof(Scalar) == 16);
static_assert(!std::is_convertible_v<const char*, Scalar>, "a pointer is no bool here");

TEST(Scalar, EqualNumbersAreEqualHoweverTheyWereMade) {
  EXPECT_EQ(Scalar{}, 0);
  EXPECT_EQ(Scalar(true), 1.0F);
  EXPECT_EQ(Scalar(std::int8_t{-3}), -3.0);
  EXPECT_EQ(Scalar('a'), 97U);
  EXPECT_EQ(Scalar(-0.0), 0);
  EXPECT_EQ(Scalar(kMostSigned), static_cast<std::uint64_t>(kMostSigned));
  EXPECT_EQ(Scalar(kLeastSigned), -0x1p63);
  EXPECT_EQ(Scalar(std::uint64_t{1} << 60), 0x1p60);
  EXPECT_NE(Scalar(kFirstWithoutDouble), static_cast<double>(kFirstWithoutDouble));
  EXPECT_NE(Scalar(kMostUnsigned), 0x1p64);
  EXPECT_NE(Scalar(kMostUnsigned), kMostUnsigned - 1);
  EXPECT_NE(Scalar(kMostUnsigned), -1) << "the same bits, another number";
  EXPECT_NE(Scalar(kLeastSigned + 1), kLeastSigned);
  EXPECT_NE(Scalar(std::nan("")), std::nan(""));
}

TEST(Scalar, TheNearestDoubleIsKnown) {
  EXPECT_EQ(Scalar(0.125).as_double(), 0.125);
  EXPECT_EQ(Scalar(kFirstWithoutDouble).as_double(), 0x1p53);
  EXPECT_EQ(Scalar(kMostUnsigned).as_double(), 0x1p64);
  EXPECT_EQ(Scalar(kLeastSigned + 1).as_double(), -0x1p63);
}

TEST(ScalarText, NumbersThatDoublesHaveAreWrittenAsDoubles) {
  EXPECT_EQ(scalar_text(1.0), "1");
  EXPECT_EQ(scalar_text(0.1), "0.1");
  EXPECT_EQ(scalar_text(-0.0), "-0");
  EXPECT_EQ(scalar_text(1e16), "1e+16");
  EXPECT_EQ(scalar_text(std::int64_t{10000000000000000}), "1e+16");
  EXPECT_EQ(scalar_text(std::uint64_t{9007199254740992}), "9007199254740992");
}

TEST(ScalarText, OtherIntegersAreWrittenWithAllDigits) {
  EXPECT_EQ(scalar_text(kFirstWithoutDouble), "9007199254740993");
  EXPECT_EQ(scalar_text(std::uint64_t{0x9e3779b97f4a7c15}), "11400714819323198485");
  EXPECT_EQ(scalar_text(kMostUnsigned), "18446744073709551615");
  EXPECT_EQ(scalar_text(kMostSigned), "9223372036854775807");
  EXPECT_EQ(scalar_text(kLeastSigned + 1), "-9223372036854775807");
}

TEST(ScalarText, IntegersOf64BitsAreReadExactly) {
  const auto read = [](std::string_view text) {
    return read_scalar(NumberType::u64, text).value();
  };
  EXPECT_EQ(read("9007199254740993"), kFirstWithoutDouble);
  EXPECT_EQ(read("18446744073709551615"), kMostUnsigned);
  EXPECT_EQ(read("0x9E3779B97F4A7C15"), std::uint64_t{0x9e3779b97f4a7c15});
  EXPECT_EQ(read("0Xffffffffffffffff"), kMostUnsigned);
  EXPECT_EQ(read("-9223372036854775808"), kLeastSigned);
  EXPECT_EQ(read("-0x8000000000000000"), kLeastSigned);
  EXPECT_EQ(read("-9223372036854775807"), kLeastSigned + 1);
  EXPECT_EQ(read("1e18"), std::uint64_t{1000000000000000000});
  EXPECT_EQ(read("007"), 7);
}

TEST(ScalarText, OtherNumbersAreReadAsDoubles) {
  const auto read = [](std::string_view text) {
    return read_scalar(NumberType::f32, text).value();
  };
  EXPECT_EQ(read("-2.5"), -2.5);
  EXPECT_EQ(read("1e-300"), 1e-300);
  EXPECT_TRUE(std::signbit(read("-0").as_double()));
  EXPECT_EQ(read("18446744073709551616"), 0x1p64);
  EXPECT_EQ(read("0x10000000000000000"), 0x1p64);
  EXPECT_EQ(read("-0x10000000000000000"), -0x1p64);
  EXPECT_TRUE(std::isinf(read("inf").as_double()));
}

TEST(ScalarText, WhatIsNoNumberIsNotRead) {
  for (const std::string text : {"", "-", "--1", "+1", "1x", "0x", "0x-1", "0xg", "0x1p3", "1 ",
                                 " 1", "one", "1e999", "0x1.8", "1,5"}) {
    EXPECT_EQ(read_scalar(NumberType::u64, text), std::nullopt) << text;
  }
  EXPECT_EQ(read_scalar(NumberType::boolean, "true"), Scalar(1));
  EXPECT_EQ(read_scalar(NumberType::boolean, "false"), Scalar(0));
  EXPECT_EQ(read_scalar(NumberType::s32, "true"), std::nullopt);
}

/// Why the type has no such value, as text says it.
std::string why_not(NumberType type, const std::string& text) {
  return why_not_of_type(type, read_scalar(type, text).value(), text);
}

TEST(ScalarText, TypesHaveTheirWholeRangeAndNoMore) {
  EXPECT_EQ(why_not(NumberType::u64, "18446744073709551615"), "");
  EXPECT_EQ(why_not(NumberType::u64, "0xffffffffffffffff"), "");
  EXPECT_EQ(why_not(NumberType::u64, "1e19"), "");
  EXPECT_EQ(why_not(NumberType::s64, "9223372036854775807"), "");
  EXPECT_EQ(why_not(NumberType::s64, "-9223372036854775808"), "");
  EXPECT_EQ(why_not(NumberType::f32, "9007199254740993"), "") << "it is rounded";
  EXPECT_EQ(why_not(NumberType::f64, "-9223372036854775809"), "");
  EXPECT_EQ(why_not(NumberType::u64, "18446744073709551616"),
            "18446744073709551616 is outside the range of u64 (0 to 2^64 - 1)");
  EXPECT_THAT(why_not(NumberType::u64, "0x10000000000000000"), HasSubstr("0 to 2^64 - 1"));
  EXPECT_THAT(why_not(NumberType::u64, "-1"), AllOf(StartsWith("-1 "), HasSubstr("0 to 2^64 - 1")));
  EXPECT_THAT(why_not(NumberType::u64, "-9007199254740993"), HasSubstr("0 to 2^64 - 1"));
  EXPECT_THAT(why_not(NumberType::s64, "9223372036854775808"),
              AllOf(StartsWith("9223372036854775808 "), HasSubstr("s64 (-2^63 to 2^63 - 1)")));
  EXPECT_THAT(why_not(NumberType::s64, "-9223372036854775809"),
              AllOf(StartsWith("-9223372036854775809 "), HasSubstr("s64 (-2^63 to 2^63 - 1)")));
  EXPECT_THAT(why_not(NumberType::s64, "-0x8000000000000001"), HasSubstr("-2^63 to 2^63 - 1"));
  EXPECT_THAT(why_not(NumberType::s64, "9223372036854775809"), HasSubstr("-2^63 to 2^63 - 1"));
  EXPECT_THAT(why_not(NumberType::u32, "9007199254740993"), HasSubstr("0 to 42949672"));
  EXPECT_THAT(why_not(NumberType::u64, "0.5"),
              HasSubstr("0.5 is not an integer, but u64 is an integer type"));
  EXPECT_THAT(why_not_of_type(NumberType::s64, kMostUnsigned),
              AllOf(HasSubstr("18446744073709551615 "), HasSubstr("-2^63")));
  EXPECT_THAT(why_not_of_type(NumberType::u64, 0x1p64), HasSubstr("1.8446744073709552e+19 is"));
}

RC_GTEST_PROP(ScalarText, AnyUnsignedIntegerComesBack, (std::uint64_t number)) {
  const auto back = read_scalar(NumberType::u64, scalar_text(number));
  RC_ASSERT(back == Scalar(number));
}

RC_GTEST_PROP(ScalarText, AnySignedIntegerComesBack, (std::int64_t number)) {
  const auto back = read_scalar(NumberType::s64, scalar_text(number));
  RC_ASSERT(back == Scalar(number));
}

RC_GTEST_PROP(ScalarText, AnyDoubleComesBack, (double number)) {
  const auto back = read_scalar(NumberType::f64, scalar_text(number));
  RC_ASSERT(back == Scalar(number));
}

RC_GTEST_PROP(ScalarText, ReadingAnyTextNeverThrows, (const std::string& text)) {
  for (const NumberType type : {NumberType::boolean, NumberType::s64, NumberType::f32}) {
    const auto value = read_scalar(type, text);
    if (value) static_cast<void>(why_not_of_type(type, *value, text));
  }
}

}  // namespace
}  // namespace kiln
