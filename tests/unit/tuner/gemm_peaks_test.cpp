// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/gemm/peaks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "common/epilogue_math.cuh"
#include "tests/unit/tuner/planted_kernels.hpp"
#include "tuner/gemm/case.hpp"

namespace kiln {
namespace {

using epilogue::PeakRange;
using ::testing::HasSubstr;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

PeakRange range_of(double value, double error) {
  return epilogue::peak_range(epilogue::Bounded<float>(value, error));
}

TEST(PeakRange, IsAsWideAsTheErrorOfTheLargest) {
  PeakRange range;
  for (const double value : {1.0, -8.0, 7.5}) {
    range = epilogue::joined(range, range_of(value, 0.25));
  }
  EXPECT_EQ(range.least, 7.75);
  EXPECT_EQ(range.most, 8.25);
  // One that is little known may be the largest.
  range = epilogue::joined(range, range_of(-6.0, 4.0));
  EXPECT_EQ(range.least, 7.75);
  EXPECT_EQ(range.most, 10.0);
  EXPECT_EQ(range_of(1.0, 3.0).least, 0.0);
  EXPECT_EQ(range_of(1.0, kNan).most, kInfinite);
}

TEST(PeakRange, NanIsAboveAllAndNothingElseIsNan) {
  const PeakRange range = epilogue::joined(range_of(1e30, 0.0), range_of(kNan, 0.0));
  EXPECT_TRUE(may_be_recorded(range, kNan, DType::f32));
  EXPECT_FALSE(may_be_recorded(range, kInfinite, DType::f32));
  EXPECT_FALSE(may_be_recorded(range_of(1.0, kInfinite), kNan, DType::f32));
  EXPECT_TRUE(may_be_recorded(range_of(1.0, kInfinite), kInfinite, DType::f32));
}

TEST(PeakRange, WhatIsTooLargeForTheTypeIsInfinite) {
  EXPECT_TRUE(may_be_recorded(range_of(1e39, 1e30), kInfinite, DType::f32));
  EXPECT_FALSE(may_be_recorded(range_of(1e39, 1e30), kInfinite, DType::f64));
  EXPECT_FALSE(may_be_recorded(range_of(1e38, 1e30), kInfinite, DType::f32));
}

TEST(RecordedPeaks, ComplaintsNameThePlaceAndBothValues) {
  Gemm gemm = Gemm::of(DType::f32, 4, 3, 8);
  gemm.epilogue = Epilogue("amax(acc, rows[m]) + bias[n] + amax(acc, all[])");
  const auto device = testing::make_planted_device();
  MemoryLedger ledger(*device, 1 << 20);
  OperandSet operands(ledger, problem_case({gemm}), "a test");
  operands.reset_peaks();
  const RecordedPeaks nothing(*device, operands);
  const std::vector<float> rows{1.0F, 2.0F, 3.0F, 4.0F};
  device->copy_to_device(operands[kFirstEpilogueOperand].data(), rows.data(), 16);
  const RecordedPeaks found(*device, operands);

  PeakRanges ranges(3);
  for (const double row : {1.0, 2.0, 3.5, 4.0}) ranges[0].push_back(range_of(row, 0.25));
  ranges[2] = {range_of(0.0, 0.0)};
  EXPECT_EQ(found.outside(ranges),
            "rows, row 2: amax recorded 3, expected a value from 3.25 to 3.75");
  EXPECT_EQ(nothing.outside(ranges),
            "rows, row 0: amax recorded nothing, expected a value from 0.75 to 1.25");
  ranges[0][2] = range_of(3.0, 0.0);
  EXPECT_EQ(found.outside(ranges), std::nullopt);
  ranges[2] = {range_of(9.0, 0.0)};
  EXPECT_THAT(found.outside(ranges).value_or(""), HasSubstr("all: amax recorded nothing"));
  EXPECT_EQ(found.different(nothing),
            "rows, row 0: amax recorded 1 in one run, but 0 in another run");
  EXPECT_EQ(found.different(found), std::nullopt);
}

}  // namespace
}  // namespace kiln
