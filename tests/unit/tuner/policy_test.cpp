// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/policy.hpp"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(MeasurementPolicy, CanonicalTextSaysWhatATimeMeans) {
  MeasurementPolicy policy;
  EXPECT_EQ(policy.canonical(), "cold l2x3 samples=15 batch=2ms graph");
  policy.cold = false;
  policy.batch_ms = 0.5;
  policy.samples = 7;
  EXPECT_EQ(policy.canonical(), "warm samples=7 batch=0.5ms graph");
}

}  // namespace
}  // namespace kiln
