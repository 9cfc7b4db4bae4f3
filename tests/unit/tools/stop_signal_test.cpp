// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/stop_signal.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace kiln::tools {
namespace {

TEST(StopSignalTest, EachOfTheThreeSignalsIsARequestAndNoEnd) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const StopSignal signals;
    EXPECT_FALSE(StopSignal::requested());
    std::raise(number);
    EXPECT_TRUE(StopSignal::requested()) << number;
  }
}

TEST(StopSignalTest, AHangUpThatNohupIgnoresStaysIgnored) {
  auto* const before = std::signal(SIGHUP, SIG_IGN);
  {
    const StopSignal signals;
    std::raise(SIGHUP);
    EXPECT_FALSE(StopSignal::requested());
  }
  EXPECT_EQ(std::signal(SIGHUP, before), SIG_IGN);
}

}  // namespace
}  // namespace kiln::tools
