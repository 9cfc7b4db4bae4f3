// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What operands are filled with, and how results are compared.
#include "tuner/verify/support_kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "common/verify_check.cuh"
#include "common/verify_math.cuh"
#include "tests/support/host_element.hpp"
#include "tests/unit/tuner/planted_kernels.hpp"
#include "tuner/verify/workload.hpp"

namespace kiln::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr std::int64_t kLeast64 = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost64 = std::numeric_limits<std::int64_t>::max();
constexpr std::array kFloats{DType::f16, DType::bf16, DType::tf32, DType::f32,
                             DType::f64, DType::e4m3, DType::e5m2};
constexpr std::array kIntegers{DType::s8,  DType::u8,  DType::s32, DType::s4,  DType::u4,
                               DType::s16, DType::u16, DType::u32, DType::s64, DType::u64};
constexpr std::array kBits{DType::b1, DType::b1_xor};

class SupportKernelsTest : public ::testing::Test {
 protected:
  /// The values of a matrix that is filled, in the order of memory; what is between rows and
  /// behind them must be as it should.
  std::vector<double> filled(DType type, int distribution, std::int64_t low = 0,
                             std::int64_t high = 0, std::uint64_t seed = 3) {
    const auto kind = static_cast<ElementKind>(type);
    const int bytes = element_bytes(kind);
    const std::int64_t elements = (rows_ - 1) * ld_ + cols_;
    std::vector<std::uint8_t> memory(static_cast<std::size_t>((elements + 1) * bytes), 0x5A);
    FillArgs args{};
    args.data = memory.data();
    args.rows = rows_;
    args.cols = cols_;
    args.ld = ld_;
    args.seed = seed;
    args.dtype = static_cast<int>(type);
    args.distribution = distribution;
    args.lo = low;
    args.hi = high;
    kernels_.fill_random(args);
    std::vector<double> values;
    for (std::int64_t i = 0; i < elements; ++i) {
      const std::uint64_t bits = load_bits(memory.data(), i, bytes);
      if (i % ld_ >= cols_) {
        EXPECT_EQ(bits, poison_bits(kind)) << to_string(type);
        continue;
      }
      for (int j = 0; j < packed_values(kind); ++j) {
        values.push_back(decode(bits >> j * value_bits(kind), kind));
      }
    }
    EXPECT_THAT(std::vector(memory.end() - bytes, memory.end()), Each(0x5A)) << to_string(type);
    return values;
  }

  std::int64_t rows_ = 50, cols_ = 400, ld_ = 403;
  FakeDevice device_;
  MemoryLedger ledger_{device_, 1 << 20};
  SupportKernels kernels_{ledger_, planted_setup(planted_cases()).support};
};

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value / static_cast<double>(values.size());
  return sum;
}
double least_of(const std::vector<double>& values) {
  return *std::ranges::min_element(values);
}
double most_of(const std::vector<double>& values) {
  return *std::ranges::max_element(values);
}
double greatest_of(DType type) {
  return integer_greatest(static_cast<ElementKind>(type));
}

TEST_F(SupportKernelsTest, UniformFloatsAreAtLeastZeroAndBelowOne) {
  for (const DType type : kFloats) {
    const auto values = filled(type, kFillUniform);
    EXPECT_GE(least_of(values), 0.0) << to_string(type);
    EXPECT_LT(least_of(values), 0.01) << to_string(type);
    EXPECT_LT(most_of(values), 1.0) << to_string(type);
    EXPECT_GE(most_of(values), 0.875) << to_string(type);
    EXPECT_NEAR(mean_of(values), 0.5, 0.03) << to_string(type);
  }
}

TEST_F(SupportKernelsTest, PositiveFloatsAreFarFromZero) {
  for (const DType type : kFloats) {
    const auto values = filled(type, kFillPositive);
    EXPECT_GE(least_of(values), 0.0625) << to_string(type);
    EXPECT_LE(most_of(values), 1.0625) << to_string(type);
    EXPECT_GE(most_of(values), 0.875) << to_string(type);
    EXPECT_NEAR(mean_of(values), 0.5625, 0.03) << to_string(type);
  }
}

// But for the least of signed ones, which has no absolute value.
TEST_F(SupportKernelsTest, UniformIntegersAreAllThatThereAre) {
  for (const DType type : kIntegers) {
    const auto values = filled(type, kFillUniform);
    const bool has_sign = is_signed_integer(static_cast<ElementKind>(type));
    const double most = greatest_of(type);
    const double least = has_sign ? -most : 0.0;
    EXPECT_GE(least_of(values), least) << to_string(type);
    EXPECT_LE(most_of(values), most) << to_string(type);
    EXPECT_NEAR(least_of(values), least, most / 100) << to_string(type);
    EXPECT_NEAR(most_of(values), most, most / 100) << to_string(type);
    EXPECT_NEAR(mean_of(values), (least + most) / 2, most / 50) << to_string(type);
  }
}

TEST_F(SupportKernelsTest, PositiveIntegersBeginAtOne) {
  for (const DType type : kIntegers) {
    const auto values = filled(type, kFillPositive);
    EXPECT_GE(least_of(values), 1.0) << to_string(type);
    EXPECT_LE(most_of(values), greatest_of(type)) << to_string(type);
    EXPECT_NEAR(mean_of(values), (1.0 + greatest_of(type)) / 2, greatest_of(type) / 50)
        << to_string(type);
  }
}

TEST_F(SupportKernelsTest, BitsAreFair) {
  for (const DType type : kBits) {
    for (const int distribution : {kFillNormal, kFillInteger, kFillUniform, kFillPositive}) {
      EXPECT_NEAR(mean_of(filled(type, distribution, 1, 1)), 0.5, 0.01) << to_string(type);
    }
  }
}

TEST_F(SupportKernelsTest, IntegersOfARangeAreEquallyProbable) {
  for (const auto& types :
       {std::vector(kFloats.begin(), kFloats.end()),
        std::vector{DType::s8, DType::s32, DType::s4, DType::s16, DType::s64}}) {
    for (const DType type : types) {
      std::map<double, int> counts;
      for (const double value : filled(type, kFillInteger, -3, 5)) ++counts[value];
      ASSERT_EQ(counts.size(), 9U) << to_string(type);
      EXPECT_EQ(counts.begin()->first, -3.0) << to_string(type);
      EXPECT_EQ(counts.rbegin()->first, 5.0) << to_string(type);
      const double expected =
          static_cast<double>(rows_ * cols_) / 9.0 * packed_values(static_cast<ElementKind>(type));
      for (const auto& [value, count] : counts) {
        EXPECT_NEAR(count, expected, 0.1 * expected) << to_string(type) << " " << value;
      }
    }
  }
}

TEST_F(SupportKernelsTest, IntegersAreClampedToTheirType) {
  EXPECT_THAT(filled(DType::u8, kFillInteger, -9, -1), Each(0.0));
  EXPECT_THAT(filled(DType::s8, kFillInteger, -128, -128), Each(-127.0));
  EXPECT_THAT(filled(DType::s8, kFillInteger, kMost64, kMost64), Each(127.0));
  EXPECT_THAT(filled(DType::s32, kFillInteger, kLeast64, -2147483648), Each(-2147483647.0));
  EXPECT_THAT(filled(DType::u4, kFillSorted, 20, 30), Each(15.0));
  EXPECT_THAT(filled(DType::u16, kFillInteger, 70000, 80000), Each(65535.0));
  EXPECT_THAT(filled(DType::s16, kFillInteger, -40000, -32768), Each(-32767.0));
  EXPECT_THAT(filled(DType::u32, kFillSorted, kMost64, kMost64), Each(4294967295.0));
  EXPECT_THAT(filled(DType::u64, kFillInteger, -9, -1), Each(0.0));
}

TEST_F(SupportKernelsTest, RangesHave64Bits) {
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  const auto few = filled(DType::f64, kFillInteger, kFar, kFar + 3);
  const std::set<double> distinct(few.begin(), few.end());
  EXPECT_EQ(distinct, (std::set<double>{0x1p40, 0x1p40 + 1, 0x1p40 + 2, 0x1p40 + 3}));

  const auto spread = [&](DType type, std::int64_t low, std::int64_t high) {
    const auto values = filled(type, kFillInteger, low, high);
    const double length = static_cast<double>(high) - static_cast<double>(low);
    EXPECT_GE(least_of(values), static_cast<double>(low));
    EXPECT_LE(most_of(values), static_cast<double>(high));
    EXPECT_NEAR(least_of(values), static_cast<double>(low), length / 1000);
    EXPECT_NEAR(most_of(values), static_cast<double>(high), length / 1000);
    EXPECT_NEAR(mean_of(values), static_cast<double>(low) + length / 2, length / 50);
  };
  spread(DType::f64, 0, kFar);
  spread(DType::f64, kLeast64, kMost64);
  spread(DType::f64, -kMost64, 0);
  spread(DType::s32, -2147483647, 2147483647);
}

TEST_F(SupportKernelsTest, SortedNumbersAscendInTheOrderOfMemory) {
  rows_ = 3;
  cols_ = 7;
  ld_ = 9;
  for (const DType type : {DType::s32, DType::f32, DType::f64, DType::f16, DType::u8, DType::s16,
                           DType::u32, DType::s64, DType::u64}) {
    const auto each = filled(type, kFillSorted, 2, 22);
    for (std::size_t i = 0; i < each.size(); ++i) {
      EXPECT_EQ(each[i], static_cast<double>(i + 2)) << to_string(type);
    }
    EXPECT_EQ(filled(type, kFillSorted, 2, 22, 99), each) << "not random";
    // 21 places for 4 numbers, and for 41.
    std::map<double, int> counts;
    const auto runs = filled(type, kFillSorted, 5, 8);
    for (const double value : runs) ++counts[value];
    EXPECT_TRUE(std::ranges::is_sorted(runs)) << to_string(type);
    EXPECT_THAT(counts, ElementsAre(std::pair(5.0, 6), std::pair(6.0, 5), std::pair(7.0, 5),
                                    std::pair(8.0, 5)));
    const auto steps = filled(type, kFillSorted, 0, 40);
    for (std::size_t i = 1; i < steps.size(); ++i) {
      const double step = steps[i] - steps[i - 1];
      EXPECT_TRUE(step == 1.0 || step == 2.0) << to_string(type) << " " << i;
    }
    EXPECT_EQ(steps.front(), 0.0);
    EXPECT_GE(steps.back(), 38.0);
  }
}

TEST_F(SupportKernelsTest, SortedNumbersMayBeAnyAndShareBytes) {
  const auto far = filled(DType::f64, kFillSorted, kLeast64, kMost64);
  EXPECT_TRUE(std::ranges::is_sorted(far));
  EXPECT_EQ(far.front(), -0x1p63);
  EXPECT_GT(far.back(), 0x1p63 * 0.999);
  EXPECT_EQ(std::set<double>(far.begin(), far.end()).size(), far.size());
  for (const DType type : {DType::s4, DType::u4, DType::b1}) {
    const auto packed = filled(type, kFillSorted, 0, 1);
    EXPECT_TRUE(std::ranges::is_sorted(packed)) << to_string(type);
    EXPECT_NEAR(mean_of(packed), 0.5, 1e-9) << to_string(type);
  }
}

TEST_F(SupportKernelsTest, SeedsGiveOtherNumbersAndThemselvesTheSame) {
  for (const int distribution : {kFillNormal, kFillInteger, kFillUniform, kFillPositive}) {
    const auto first = filled(DType::f32, distribution, -100, 100);
    EXPECT_EQ(filled(DType::f32, distribution, -100, 100), first);
    EXPECT_NE(filled(DType::f32, distribution, -100, 100, 4), first);
  }
}

TEST(FillArguments, AreWhatTheOperandAsksFor) {
  OperandPlan plan;
  plan.shape = {4, 5, 6, DType::f16, 16};
  plan.fill.low = -7;
  plan.fill.high = 9;
  struct Expected {
    FillSpec::Kind kind;
    DataKind data;
    int distribution;
    long long low, high;
  };
  using enum FillSpec::Kind;
  for (const Expected& expected : {Expected{normal, DataKind::normal, kFillNormal, -3, 3},
                                   Expected{normal, DataKind::integer, kFillInteger, -3, 3},
                                   Expected{uniform, DataKind::normal, kFillUniform, 0, 3},
                                   Expected{uniform, DataKind::integer, kFillInteger, 0, 3},
                                   Expected{positive, DataKind::normal, kFillPositive, 1, 3},
                                   Expected{positive, DataKind::integer, kFillInteger, 1, 3},
                                   Expected{integers, DataKind::normal, kFillInteger, -7, 9},
                                   Expected{integers, DataKind::integer, kFillInteger, -7, 9},
                                   Expected{sorted, DataKind::normal, kFillSorted, -7, 9},
                                   Expected{sorted, DataKind::integer, kFillSorted, -7, 9}}) {
    plan.fill.kind = expected.kind;
    const FillArgs args = fill_arguments(plan, 64, 2, {expected.data, 5, 3});
    EXPECT_EQ(args.distribution, expected.distribution);
    EXPECT_EQ(args.lo, expected.low);
    EXPECT_EQ(args.hi, expected.high);
    EXPECT_EQ(args.rows, 4);
    EXPECT_EQ(args.cols, 5);
    EXPECT_EQ(args.ld, 6);
    EXPECT_EQ(args.dtype, static_cast<int>(DType::f16));
  }
}

TEST(FillArguments, ComplexNumbersAreTwoRealOnes) {
  OperandPlan plan;
  plan.shape = {4, 5, 6, DType::cf64, 16};
  const FillArgs args = fill_arguments(plan, 64, 0, {DataKind::normal, 5, 3});
  EXPECT_EQ(args.rows, 4);
  EXPECT_EQ(args.cols, 10);
  EXPECT_EQ(args.ld, 12);
  EXPECT_EQ(args.dtype, static_cast<int>(DType::f64));
}

TEST(FillArguments, NoTwoOperandsHaveTheSameSeed) {
  std::set<unsigned long long> seeds;
  std::size_t count = 0;
  const OperandPlan plan;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::size_t index = 0; index < 20; ++index) {
      for (const DataKind kind : {DataKind::integer, DataKind::normal}) {
        seeds.insert(fill_arguments(plan, 64, index, {kind, seed, 2}).seed);
        ++count;
      }
    }
  }
  EXPECT_EQ(seeds.size(), count);
}

TEST_F(SupportKernelsTest, ConversionsToFloat64AreExactAndLeavePaddingAlone) {
  constexpr int kRows = 3, kCols = 5, kFrom = 6, kTo = 8;
  for (const auto& types : {std::vector(kFloats.begin(), kFloats.end()),
                            std::vector{DType::s8, DType::u8, DType::s32, DType::s16, DType::u16,
                                        DType::u32, DType::s64, DType::u64}}) {
    for (const DType type : types) {
      const auto kind = static_cast<ElementKind>(type);
      std::vector<std::uint8_t> from(8 * kRows * kFrom, 0x5A);
      for (int i = 0; i < kRows * kFrom; ++i) {
        store_bits(from.data(), i, element_bytes(kind), encode(i * 3.0 - 20.0, kind));
      }
      // No rounding to TF32 on the way: it is what kernels do.
      if (type == DType::tf32) store_bits(from.data(), 0, 4, encode(1.0 + 0x1p-20, kind));
      std::vector<double> to(kRows * kTo, -1.0);
      ConvertArgs args{};
      args.from = from.data();
      args.to = to.data();
      args.rows = kRows;
      args.cols = kCols;
      args.ld_from = kFrom;
      args.ld_to = kTo;
      args.dtype = static_cast<int>(type);
      kernels_.convert(args);
      for (int i = 0; i < kRows * kTo; ++i) {
        const int row = i / kTo, col = i % kTo;
        const double expected =
            col >= kCols
                ? -1.0
                : decode(load_bits(from.data(), row * kFrom + col, element_bytes(kind)), kind);
        EXPECT_EQ(to[static_cast<std::size_t>(i)], expected) << to_string(type) << " " << i;
      }
      if (type == DType::tf32) {
        EXPECT_EQ(to[0], 1.0 + 0x1p-20);
      }
    }
  }
}

TEST_F(SupportKernelsTest, NormalIntegersGoAsFarAsTheirTypeNeeds) {
  struct Expected {
    DType type;
    double mean, deviation;
  };
  for (const Expected& expected :
       {Expected{DType::s8, 0.0, 32.0}, Expected{DType::u8, 128.0, 32.0},
        Expected{DType::s16, 0.0, 1024.0}, Expected{DType::u16, 4096.0, 1024.0},
        Expected{DType::s32, 0.0, 1024.0}, Expected{DType::u32, 4096.0, 1024.0},
        Expected{DType::s64, 0.0, 0x1p40}, Expected{DType::u64, 0x1p42, 0x1p40}}) {
    const auto values = filled(expected.type, kFillNormal);
    EXPECT_NEAR(mean_of(values), expected.mean, expected.deviation / 20)
        << to_string(expected.type);
    EXPECT_NEAR(most_of(values), expected.mean + 3.2 * expected.deviation, expected.deviation / 2)
        << to_string(expected.type);
    EXPECT_NEAR(least_of(values), expected.mean - 3.2 * expected.deviation, expected.deviation / 2)
        << to_string(expected.type);
  }
}

// Float64 has every other one of these numbers.
TEST_F(SupportKernelsTest, WideIntegersAreDrawnAsTheyAre) {
  constexpr std::int64_t kFar = (std::int64_t{1} << 53) + 1;
  std::vector<std::int64_t> values(50);
  FillArgs args{};
  args.data = values.data();
  args.rows = 1;
  args.cols = args.ld = 50;
  args.dtype = static_cast<int>(DType::s64);
  args.distribution = kFillSorted;
  args.lo = kFar;
  args.hi = kFar + 49;
  kernels_.fill_random(args);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], kFar + i);
  args.distribution = kFillInteger;
  args.hi = kFar;
  kernels_.fill_random(args);
  EXPECT_THAT(values, Each(kFar));
  args.distribution = kFillUniform;
  args.dtype = static_cast<int>(DType::u64);
  kernels_.fill_random(args);
  EXPECT_TRUE(std::ranges::any_of(values, [](std::int64_t value) { return value < 0; }))
      << "u64 has numbers beyond 2^63";
}

TEST_F(SupportKernelsTest, WideIntegersAreComparedBitByBit) {
  constexpr std::int64_t kFar = std::int64_t{1} << 60;
  const std::vector<std::int64_t> wanted{kFar, -kFar, kLeast64, 7};
  std::vector<std::int64_t> given{kFar + 1, -kFar, kLeast64, 7};
  CompareArgs args{};
  args.d = given.data();
  args.own = wanted.data();
  args.rows = 1;
  args.cols = args.ld_d = args.ld_ref = 4;
  args.dtype = static_cast<int>(DType::s64);
  args.mode = kCompareExact;
  CompareResult found = kernels_.compare(args);
  EXPECT_EQ(found.failures, 1U);
  EXPECT_EQ(found.first_failure, 0U);
  EXPECT_EQ(found.first_value_bits - found.first_expected_bits, 1U);
  // A distance is one of integers, too: from one end to the other it has 64 bits.
  given = {kFar, kFar, kMost64, 9};
  args.mode = kCompareBounded;
  args.atol = 2.0;
  found = kernels_.compare(args);
  EXPECT_EQ(found.failures, 2U);
  EXPECT_EQ(found.first_failure, 1U);
  args.atol = 0x1p64;
  EXPECT_EQ(kernels_.compare(args).failures, 0U);
  // What is right in float64 is held against all bits as well.
  const std::vector<double> rounded{0x1p60, 0x1p60, 0.0, 9.0};
  given = {kFar + 1, kFar, 0, 9};
  args.own = nullptr;
  args.ref = rounded.data();
  args.mode = kCompareExact;
  EXPECT_EQ(kernels_.compare(args).failures, 1U);
}

TEST_F(SupportKernelsTest, ComplexNumbersAreComparedByTheirDistance) {
  // Of (3000, 4000) the absolute value is 5000; the imaginary part of the second is 0.
  std::vector<float> given{3003.0F, 4004.0F, 5000.0F, 4.0F};
  const std::vector<double> wanted{3000.0, 4000.0, 5000.0, 0.0};
  CompareArgs args{};
  args.d = given.data();
  args.ref = wanted.data();
  args.rows = 1;
  args.cols = args.ld_d = args.ld_ref = args.ld_absolute = 2;
  args.dtype = static_cast<int>(DType::cf32);
  args.mode = kCompareBounded;
  args.u_out = 0.00099;
  CompareResult found = kernels_.compare(args);
  EXPECT_EQ(found.failures, 1U) << "4 is little beside 5000, and 5 of 5000 is beyond 4.95";
  EXPECT_EQ(found.first_failure, 0U);
  EXPECT_EQ(found.first_value, 3003.0);
  EXPECT_EQ(found.first_value_imaginary, 4004.0);
  EXPECT_EQ(found.first_expected_imaginary, 4000.0);
  EXPECT_NEAR(found.first_bound, 4.95, 1e-6);
  EXPECT_NEAR(found.worst_ratio, 1.0101F, 1e-3F);
  args.u_out = 0.00101;
  EXPECT_EQ(kernels_.compare(args).failures, 0U);
  const std::vector<double> absolute{0.0, 100.0};
  args.absolute = absolute.data();
  args.u_out = 0.0;
  args.c_factor = 0.041;
  EXPECT_EQ(kernels_.compare(args).failures, 1U) << "the magnitude of the second is 100";
  args.mode = kCompareExact;
  EXPECT_EQ(kernels_.compare(args).failures, 2U);
  given = {3000.0F, 4000.0F, 5000.0F, std::nanf("")};
  EXPECT_EQ(kernels_.compare(args).failures, 1U);
  args.mode = kCompareBounded;
  args.atol = 1e9;
  EXPECT_EQ(kernels_.compare(args).failures, 1U) << "a NaN is in no distance";
}

/// A row of f32 against what is right.
struct Compared {
  std::vector<float> d;
  std::vector<double> reference;
  std::vector<double> absolute = {};  ///< empty: there is none

  [[nodiscard]] CompareArgs args(CompareMode mode) const {
    CompareArgs args{};
    args.d = d.data();
    args.ref = reference.data();
    args.absolute = absolute.empty() ? nullptr : absolute.data();
    args.rows = 1;
    args.cols = static_cast<long long>(d.size());
    args.ld_d = args.ld_ref = args.ld_absolute = args.cols;
    args.dtype = static_cast<int>(DType::f32);
    args.mode = mode;
    return args;
  }
};

TEST_F(SupportKernelsTest, AnAbsoluteErrorIsAllowedEverywhere) {
  const Compared data{{0.0F, 0.009F, 0.011F, 0x1p100F}, {0.0, 0.0, 0.0, 0x1p100}};
  CompareArgs args = data.args(kCompareBounded);
  EXPECT_EQ(kernels_.compare(args).failures, 2U) << "nothing is allowed";
  args.atol = 0.01;
  const CompareResult found = kernels_.compare(args);
  EXPECT_EQ(found.failures, 1U);
  EXPECT_EQ(found.first_failure, 2U);
  EXPECT_NEAR(found.first_bound, 0.01, 1e-9);
  EXPECT_NEAR(found.worst_ratio, 1.1F, 1e-3F);
  args.atol = 0.012;
  EXPECT_EQ(kernels_.compare(args).failures, 0U);
  // It is of no account where results are exact.
  args.mode = kCompareExact;
  EXPECT_EQ(kernels_.compare(args).failures, 2U);
}

TEST_F(SupportKernelsTest, WithoutAMagnitudeTheReferenceIsIt) {
  Compared data{{100.5F, -100.5F, 0.5F}, {100.0, -100.0, 0.0}};
  CompareArgs args = data.args(kCompareBounded);
  args.c_factor = 0.01;
  const CompareResult found = kernels_.compare(args);
  EXPECT_EQ(found.failures, 1U);
  EXPECT_EQ(found.first_failure, 2U) << "where the reference is 0 nothing is allowed";
  args.atol = 0.6;
  EXPECT_EQ(kernels_.compare(args).failures, 0U);
  data.absolute = {10.0, 100.0, 100.0};
  args = data.args(kCompareBounded);
  args.c_factor = 0.01;
  EXPECT_EQ(kernels_.compare(args).failures, 1U);
  EXPECT_EQ(kernels_.compare(args).first_failure, 0U);
}

TEST_F(SupportKernelsTest, TermsOfABoundAddUp) {
  const Compared data{{103.9F, 104.1F}, {100.0, 100.0}, {200.0, 200.0}};
  CompareArgs args = data.args(kCompareBounded);
  args.u_out = 0.01;      // 1
  args.c_factor = 0.005;  // 1
  args.atol = 2.0;
  const CompareResult found = kernels_.compare(args);
  EXPECT_EQ(found.failures, 1U);
  EXPECT_EQ(found.first_failure, 1U);
  EXPECT_NEAR(found.first_bound, 4.0, 1e-6);
}

TEST_F(SupportKernelsTest, AnyNumberOfCountsIsAnsweredInOrder) {
  constexpr int kCounts = 150;
  const std::vector<unsigned char> bytes(kCounts, 7);
  for (int i = 0; i < kCounts; ++i) {
    MismatchArgs args{};
    args.data = bytes.data();
    args.rows = 1;
    args.pitch = args.end = i;
    args.pattern = 8;
    kernels_.count_mismatch(args);
  }
  const auto counts = kernels_.take_counts();
  ASSERT_EQ(counts.size(), static_cast<std::size_t>(kCounts));
  for (std::size_t i = 0; i < counts.size(); ++i) EXPECT_EQ(counts[i].count, i);
  EXPECT_TRUE(kernels_.take_counts().empty());
}

}  // namespace
}  // namespace kiln::testing
