// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/offer_check.hpp"

#include <gtest/gtest.h>

#include "cache/exchange/physical_limits.hpp"
#include "cache/statistics.hpp"
#include "kiln/error.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::error_of;
using test::gemm_problem;
using test::good_trial;

std::string refusal(const Trial& trial) {
  return error_of(ErrorKind::usage, [&] { check_offer(trial); });
}

TEST(OfferCheck, WhatTheTunerStoresPasses) {
  Trial trial = good_trial(350'400.0);
  trial.timing->samples_ns = {350400.0, 349201.5, 351602.25, 350399.0, 350401.0, 350500.0};
  summarise(*trial.timing);
  check_offer(trial);
  trial.timing.reset();
  trial.outcome = Outcome::crashed;
  check_offer(trial);
}

TEST(OfferCheck, MedianAndSpreadAreThoseOfTheSamples) {
  Trial trial = good_trial(1e6);
  trial.timing->median_ns += 1e-4;
  check_offer(trial);  // the last bits
  trial.timing->median_ns = 999'999.0;
  EXPECT_NE(refusal(trial).find("'median_ns'"), std::string::npos);
  trial = good_trial(1e6);
  trial.timing->spread_ns = 1e5;  // would tie with everything
  EXPECT_NE(refusal(trial).find("'spread_ns' is 100000, but Kiln computes 1"), std::string::npos);
  trial = good_trial(1e6);
  trial.timing->samples_ns.clear();
  EXPECT_NE(refusal(trial).find("'median_ns'"), std::string::npos);
}

TEST(OfferCheck, FinalistsHaveTheClockOfTheFirstOfThem) {
  Trial trial = good_trial(1e6);
  trial.timing->samples_ns = {1.00e6, 1.04e6, 1.02e6};
  trial.timing->interleaved = true;
  trial.timing->median_ns = 0.97e6;  // while the first one's clock was high
  trial.timing->spread_ns = 5e3;
  check_offer(trial);
  trial.timing->spread_ns = 6e5;
  EXPECT_NE(refusal(trial).find("'spread_ns' is 600000, but must be at most half of 'median_ns'"),
            std::string::npos);
  trial.timing->spread_ns = 5e3;
  for (const double median : {0.7e6, 1.4e6}) {
    trial.timing->median_ns = median;
    EXPECT_NE(refusal(trial).find(", but must be between 0.8 times the smallest"),
              std::string::npos)
        << median;
  }
  trial.timing->samples_ns.clear();
  EXPECT_NE(refusal(trial).find(" 0.8 times"), std::string::npos);
}

// Rates that were published, and rates beyond any GPU.
TEST(OfferCheck, NoGpuIsFasterThanItsUnits) {
  const DeviceClass unknown{"Imagined GPU", "sm_200", 0, 0, ""};
  const auto tflops = [](DType type, const DeviceClass& device) {
    const std::int64_t size = 32768;
    const double flops = 2.0 * size * size * size;
    return flops / least_time_ns(gemm_problem(size, size, size, type), device) / 1e3;
  };
  const DeviceClass h200 = test::h200();
  EXPECT_GT(tflops(DType::f16, h200), 989.0);
  EXPECT_LT(tflops(DType::f16, h200), 4 * 989.0);
  EXPECT_GT(tflops(DType::e4m3, h200), 1979.0);
  EXPECT_LT(tflops(DType::e4m3, h200), 4 * 1979.0);
  EXPECT_GT(tflops(DType::tf32, h200), 495.0);
  EXPECT_GT(tflops(DType::f64, h200), 67.0);
  const DeviceClass b200{"NVIDIA B200", "sm_100a", 148, 132644864, ""};
  EXPECT_GT(tflops(DType::f16, b200), 2250.0);
  EXPECT_GT(tflops(DType::e4m3, b200), 4500.0);
  const DeviceClass rtx5090{"NVIDIA GeForce RTX 5090", "sm_120a", 170, 100663296, ""};
  EXPECT_GT(tflops(DType::f16, rtx5090), 419.0);
  EXPECT_GT(tflops(DType::f16, unknown), 50'000.0);
  EXPECT_GE(least_time_ns(gemm_problem(1, 1, 1), unknown), 50.0);
  // Bound by memory: 235 MB in the 49 us that HBM3e takes, but not in one.
  EXPECT_LT(least_time_ns(gemm_problem(1, 14336, 8192), h200), 10'000.0);
  EXPECT_GT(least_time_ns(gemm_problem(1, 14336, 8192), h200), 1'000.0);
}

TEST(OfferCheck, DatesLieBetween2020AndADayFromNow) {
  Trial trial = good_trial(1e6);
  trial.created_unix_ms = next_unix_ms() + 23 * 3'600'000;
  check_offer(trial);
  for (const std::int64_t date : {std::int64_t{1'577'836'799'999}, next_unix_ms() + 25 * 3'600'000,
                                  std::numeric_limits<std::int64_t>::max()}) {
    trial.created_unix_ms = date;
    EXPECT_NE(refusal(trial).find("'created_unix_ms'"), std::string::npos);
  }
  SessionRecord session = test::session("s1");
  check_offer(session);
  session.ended_unix_ms = std::numeric_limits<std::int64_t>::max();
  EXPECT_NE(error_of(ErrorKind::usage, [&] { check_offer(session); }).find("'ended_unix_ms'"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln
