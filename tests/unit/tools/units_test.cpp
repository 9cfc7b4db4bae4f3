// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/output/units.hpp"

#include <gtest/gtest.h>

#include "kiln/gemm.hpp"
#include "templates/operation/gemm_problem.hpp"

namespace kiln::tools {
namespace {

TEST(Units, TimesHaveFourDigits) {
  EXPECT_EQ(time_text(12.34), "12.3 ns");
  EXPECT_EQ(time_text(4540.0), "4.540 us");
  EXPECT_EQ(time_text(310200.0), "310.2 us");
  EXPECT_EQ(time_text(1634020.0), "1.634 ms");
  EXPECT_EQ(time_text(2.5e9), "2.500 s");
}

TEST(Units, SecondsGrowUnits) {
  EXPECT_EQ(seconds_text(-1.0), "0.0 s");
  EXPECT_EQ(seconds_text(0.3), "0.3 s");
  EXPECT_EQ(seconds_text(45.2), "45 s");
  EXPECT_EQ(seconds_text(125.0), "2 m 05 s");
  EXPECT_EQ(seconds_text(7260.0), "2 h 01 m");
}

TEST(Units, BytesAndCounts) {
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(49152), "48.0 KiB");
  EXPECT_EQ(bytes_text(std::int64_t{3} << 40), "3.0 TiB");
  EXPECT_EQ(count_text(7), "7");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(18446744073709551615u), "18,446,744,073,709,551,615");
}

TEST(Units, CountedThingsHaveTheirPlural) {
  EXPECT_EQ(counted(0, "trial"), "0 trials");
  EXPECT_EQ(counted(1, "database read"), "1 database read");
  EXPECT_EQ(counted(4821, "trial"), "4,821 trials");
}

TEST(Units, RateOfAGemm) {
  const auto problem = to_problem(Gemm::of(DType::f16, 4096, 4096, 4096));
  EXPECT_NEAR(tera_flops(problem, 196070.0), 701.0, 0.1);
  EXPECT_EQ(rate_text(problem, 196070.0), "701.0 TFLOP/s");
  EXPECT_EQ(rate_text(to_problem(Gemm::of(DType::f16, 1, 1, 1)), 1000.0), "0.0 GFLOP/s");
  EXPECT_EQ(tera_flops(problem, 0.0), 0.0);
}

TEST(Units, NumbersHaveSiPrefixes) {
  EXPECT_EQ(si_text(12.34e9, "points/s"), "12.34 Gpoints/s");
  EXPECT_EQ(si_text(1.0, "points/s"), "1.000 points/s");
  EXPECT_EQ(si_text(999.0, "J"), "999.0 J");
  EXPECT_EQ(si_text(-2.5e-5, "J"), "-25.00 uJ");
  EXPECT_EQ(si_text(0.0, "J"), "0 J");
  EXPECT_EQ(energy_text(0.00123), "1.230 mJ");
  EXPECT_EQ(power_text(512.04), "512.0 W");
}

TEST(Units, DatesAreUtc) {
  EXPECT_EQ(date_text(1763733600000), "2025-11-21 14:00");
}

}  // namespace
}  // namespace kiln::tools
