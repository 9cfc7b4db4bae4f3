// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/launch/argument_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace kiln {
namespace {

using Source = ArgumentPatch::Source;

template <class Number>
Number number_at(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  Number number{};
  EXPECT_LE(at + sizeof(number), bytes.size());
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

std::vector<std::uint8_t> filled(const ArgumentPlan& plan, const ArgumentValues& values) {
  std::vector<std::uint8_t> bytes(plan.image.size(), 0xee);
  fill_argument(plan, values, bytes.data());
  return bytes;
}

TEST(ArgumentPlan, KnowsTheSizesOfNumbers) {
  EXPECT_EQ(size_bytes(NumberType::s32), sizeof(int));
  EXPECT_EQ(size_bytes(NumberType::u32), sizeof(unsigned));
  EXPECT_EQ(size_bytes(NumberType::s64), sizeof(long long));
  EXPECT_EQ(size_bytes(NumberType::u64), sizeof(unsigned long long));
  EXPECT_EQ(size_bytes(NumberType::f32), sizeof(float));
  EXPECT_EQ(size_bytes(NumberType::f64), sizeof(double));
}

TEST(ArgumentPlan, AddressesComeFromWhereTheirPatchesSay) {
  ArgumentPlan plan;
  plan.image.assign(48, 0);
  plan.image[40] = 7;
  plan.patches = {{Source::operand, NumberType::f64, 1, 0, 0},
                  {Source::float64, NumberType::f64, 0, 8, 0},
                  {Source::magnitude, NumberType::f64, 1, 16, 0},
                  {Source::workspace, NumberType::f64, 0, 24, 256}};
  const std::vector<std::uintptr_t> operands{0x1000, 0x2000}, wide{0x3000, 0x4000},
      magnitudes{0, 0x5000};
  ArgumentValues values{operands, wide, magnitudes, {}, 0x6000};
  auto bytes = filled(plan, values);
  EXPECT_EQ(number_at<std::uint64_t>(bytes, 0), 0x2000U);
  EXPECT_EQ(number_at<std::uint64_t>(bytes, 8), 0x3000U);
  EXPECT_EQ(number_at<std::uint64_t>(bytes, 16), 0x5000U);
  EXPECT_EQ(number_at<std::uint64_t>(bytes, 24), 0x6100U);
  EXPECT_EQ(number_at<std::uint64_t>(bytes, 32), 0U);
  EXPECT_EQ(bytes[40], 7) << "the image is copied";
  values.workspace = 0;
  EXPECT_EQ(number_at<std::uint64_t>(filled(plan, values), 24), 0U) << "null, wherever in it";
}

TEST(ArgumentPlan, CheckersGetWhatWasBeforeAndTheirVerdict) {
  ArgumentPlan plan;
  plan.image.assign(24, 0);
  plan.patches = {{Source::before, NumberType::f64, 1, 0, 0},
                  {Source::verdict, NumberType::f64, 0, 8, 0},
                  {Source::verdict, NumberType::f64, 1, 16, 0}};
  const std::vector<std::uintptr_t> before{0x1000, 0x2000};
  ArgumentValues values;
  values.before = before;
  values.verdict = 0x3000;
  const auto bytes = filled(plan, values);
  EXPECT_EQ(number_at<std::uint64_t>(bytes, 0), 0x2000U);
  EXPECT_EQ(number_at<std::uint64_t>(bytes, 8), 0x3000U) << "wrong";
  EXPECT_EQ(number_at<std::uint64_t>(bytes, 16), 0x3008U) << "first_wrong";
}

TEST(ArgumentPlan, ScalarsAreConvertedToTheirType) {
  const auto converted = [](Scalar value, NumberType type) {
    ArgumentPlan plan;
    plan.image.assign(8, 0);
    plan.patches = {{Source::scalar, type, 0, 0, 0}};
    const std::vector<Scalar> scalars{value};
    ArgumentValues values;
    values.scalars = scalars;
    return filled(plan, values);
  };
  EXPECT_EQ(number_at<std::int32_t>(converted(-3.0, NumberType::s32), 0), -3);
  EXPECT_EQ(number_at<std::uint32_t>(converted(4294967295.0, NumberType::u32), 0), 4294967295U);
  EXPECT_EQ(number_at<std::int64_t>(converted(-9007199254740992.0, NumberType::s64), 0),
            -9007199254740992);
  EXPECT_EQ(number_at<std::uint64_t>(converted(9007199254740992.0, NumberType::u64), 0),
            9007199254740992U);
  EXPECT_EQ(number_at<float>(converted(0.1, NumberType::f32), 0), 0.1F);
  EXPECT_EQ(number_at<double>(converted(0.1, NumberType::f64), 0), 0.1);
  // Of four bytes no more than these are written.
  EXPECT_EQ(number_at<std::uint32_t>(converted(-1.0, NumberType::s32), 4), 0U);
}

/// What a kernel that takes a `type` gets for a scalar, which the operation declares as `declared`
/// if that is another one.
template <class Number>
Number passed(Scalar value, NumberType type, std::optional<NumberType> declared = std::nullopt) {
  ArgumentPlan plan;
  plan.image.assign(8, 0);
  plan.patches = {{Source::scalar, type, 0, 0, 0, declared}};
  const std::vector<Scalar> scalars{value};
  ArgumentValues values;
  values.scalars = scalars;
  return number_at<Number>(filled(plan, values), 0);
}

TEST(ArgumentPlan, KernelsGetEvery64BitIntegerExactly) {
  for (const std::uint64_t number :
       {std::uint64_t{0}, std::uint64_t{9007199254740993}, std::uint64_t{0x7fffffffffffffff},
        std::uint64_t{0x8000000000000000}, std::uint64_t{0x8000000000000001},
        std::uint64_t{0x9e3779b97f4a7c15}, std::uint64_t{0xfffffffffffffffe},
        std::uint64_t{0xffffffffffffffff}}) {
    EXPECT_EQ(passed<std::uint64_t>(number, NumberType::u64), number);
  }
  for (const std::int64_t number :
       {std::int64_t{-1}, std::int64_t{9007199254740993}, std::int64_t{-9007199254740993},
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::min() + 1,
        std::numeric_limits<std::int64_t>::max() - 1, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(passed<std::int64_t>(number, NumberType::s64), number);
    EXPECT_EQ(passed<std::int64_t>(number, NumberType::s64, NumberType::s32),
              std::clamp<std::int64_t>(number, -2147483648, 2147483647));
  }
}

TEST(ArgumentPlan, A64BitIntegerIsRoundedOnceToAnotherType) {
  // Just above the middle of two floats, where the nearest double lies.
  constexpr std::uint64_t kAboveTie = 0x8000008000000001;
  EXPECT_EQ(passed<float>(kAboveTie, NumberType::f32, NumberType::u64), 0x8.00001p60F);
  EXPECT_EQ(passed<float>(kAboveTie - 1, NumberType::f32, NumberType::u64), 0x8p60F);
  EXPECT_EQ(passed<double>(kAboveTie, NumberType::f64, NumberType::u64), 0x8.000008p60);
  EXPECT_EQ(passed<double>(std::uint64_t{0xffffffffffffffff}, NumberType::f64, NumberType::u64),
            0x1p64);
  constexpr std::uint64_t kAboveShortTie = 0x8080000000000001;
  EXPECT_EQ(passed<std::uint16_t>(kAboveShortTie, NumberType::bf16, NumberType::u64), 0x5f01);
  EXPECT_EQ(passed<std::uint16_t>(kAboveShortTie - 1, NumberType::bf16, NumberType::u64), 0x5f00);
  EXPECT_EQ(passed<std::uint16_t>(kAboveShortTie, NumberType::f16, NumberType::u64), 0x7c00);
}

TEST(ArgumentPlan, ShortScalarsTakeAsManyBytesAsTheirTypes) {
  const auto stored = [](NumberType type, double value) {
    std::vector<std::uint8_t> bytes(4, 0xee);
    store_number(type, value, bytes.data());
    for (std::size_t i = size_bytes(type); i < bytes.size(); ++i) EXPECT_EQ(bytes[i], 0xee);
    return size_bytes(type) == 1 ? bytes[0] : number_at<std::uint16_t>(bytes, 0);
  };
  EXPECT_EQ(stored(NumberType::boolean, 1.0), 1);
  EXPECT_EQ(stored(NumberType::boolean, 0.0), 0);
  EXPECT_EQ(stored(NumberType::s8, -2.0), 0xfe);
  EXPECT_EQ(stored(NumberType::u8, 255.0), 0xff);
  EXPECT_EQ(stored(NumberType::s16, -2.0), 0xfffe);
  EXPECT_EQ(stored(NumberType::u16, 65535.0), 0xffff);
  EXPECT_EQ(stored(NumberType::f16, 1.0), 0x3c00);
  EXPECT_EQ(stored(NumberType::f16, -0.1), 0xae66);
  EXPECT_EQ(stored(NumberType::f16, 65504.0), 0x7bff);
  EXPECT_EQ(stored(NumberType::f16, 65520.0), 0x7c00) << "beyond the last number is infinity";
  EXPECT_EQ(stored(NumberType::f16, 0x1p-24), 0x0001);
  EXPECT_EQ(stored(NumberType::f16, 0x1p-25), 0x0000) << "a tie goes to the even one";
  EXPECT_EQ(stored(NumberType::f16, 0x1.8p-24), 0x0002);
  EXPECT_EQ(stored(NumberType::f16, 1.0 + 0x1p-11), 0x3c00);
  EXPECT_EQ(stored(NumberType::f16, 1.0 + 0x3p-11), 0x3c02);
  EXPECT_EQ(stored(NumberType::f16, 2.0 - 0x1p-11), 0x4000) << "rounding reaches the next power";
  EXPECT_EQ(stored(NumberType::bf16, 1.0 / 3.0), 0x3eab);
  EXPECT_EQ(stored(NumberType::bf16, -3.0), 0xc040);
  EXPECT_EQ(stored(NumberType::bf16, std::nan("")) & 0x7fff, 0x7fc0);
}

TEST(ArgumentPlan, AConvertedScalarIsRoundedToItsOwnTypeFirst) {
  ArgumentPlan plan;
  plan.image.assign(8, 0);
  plan.patches = {{Source::scalar, NumberType::f32, 0, 0, 0, NumberType::f16},
                  {Source::scalar, NumberType::f32, 0, 4, 0}};
  const std::vector<Scalar> scalars{0.1};
  ArgumentValues values;
  values.scalars = scalars;
  const auto bytes = filled(plan, values);
  EXPECT_EQ(number_at<float>(bytes, 0), 0x1.998p-4F) << "what a kernel that takes a half gets";
  EXPECT_EQ(number_at<float>(bytes, 4), 0.1F);
}

TEST(ArgumentPlan, NumbersOfATypeHaveItsRange) {
  EXPECT_TRUE(range_of(NumberType::boolean).has(1.0));
  EXPECT_FALSE(range_of(NumberType::boolean).has(2.0));
  EXPECT_FALSE(range_of(NumberType::boolean).has(0.5));
  EXPECT_TRUE(range_of(NumberType::s8).has(-128.0));
  EXPECT_FALSE(range_of(NumberType::u8).has(-1.0));
  EXPECT_FALSE(range_of(NumberType::s16).has(32768.0));
  EXPECT_TRUE(range_of(NumberType::f16).has(-65504.0));
  EXPECT_FALSE(range_of(NumberType::f16).has(65505.0));
  EXPECT_FALSE(range_of(NumberType::s64).has(9223372036854775808.0));
  EXPECT_FALSE(range_of(NumberType::s64).has(std::uint64_t{0x8000000000000001}));
  EXPECT_TRUE(range_of(NumberType::s64).has(std::numeric_limits<std::int64_t>::max()));
  EXPECT_TRUE(range_of(NumberType::s64).has(std::numeric_limits<std::int64_t>::min()));
  EXPECT_TRUE(range_of(NumberType::u64).has(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_FALSE(range_of(NumberType::u64).has(-9007199254740993));
  EXPECT_FALSE(range_of(NumberType::u64).has(18446744073709551616.0));
  EXPECT_FALSE(range_of(NumberType::u32).has(std::uint64_t{0xffffffffffffffff}));
  EXPECT_FALSE(range_of(NumberType::f16).has(std::uint64_t{0xffffffffffffffff}));
  EXPECT_TRUE(range_of(NumberType::f32).has(std::uint64_t{0xffffffffffffffff}));
  for (const std::string& name : number_type_names()) {
    EXPECT_EQ(to_string(parse_number_type(name).value()), name);
  }
  EXPECT_EQ(parse_number_type("f8"), std::nullopt);
}

TEST(ArgumentPlan, AScalarBeyondItsTypeBecomesTheNearest) {
  const auto converted = [](Scalar value, NumberType type) {
    ArgumentPlan plan;
    plan.image.assign(8, 0);
    plan.patches = {{Source::scalar, type, 0, 0, 0}};
    const std::vector<Scalar> scalars{value};
    ArgumentValues values;
    values.scalars = scalars;
    return number_at<std::uint64_t>(filled(plan, values), 0);
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(converted(1e10, NumberType::s32), 0x7fffffffU);
  EXPECT_EQ(converted(-1e10, NumberType::s32), 0x80000000U);
  EXPECT_EQ(converted(-1.0, NumberType::u32), 0U);
  EXPECT_EQ(converted(kInfinity, NumberType::u64), 0xffffffffffffffffU);
  EXPECT_EQ(converted(9223372036854775808.0, NumberType::s64), 0x7fffffffffffffffU);
  EXPECT_EQ(converted(-kInfinity, NumberType::s64), 0x8000000000000000U);
  EXPECT_EQ(converted(std::nan(""), NumberType::s64), 0U);
}

TEST(ArgumentPlan, OneWithoutParametersTouchesNothing) {
  fill_argument({}, {}, nullptr);
}

}  // namespace
}  // namespace kiln
