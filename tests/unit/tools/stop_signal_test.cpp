// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/stop_signal.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace kiln::tools {
namespace {

TEST(StopSignalTest, EachOfTheThreeSignalsIsARequestAndNoEnd) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const StopSignal signals;
    EXPECT_FALSE(StopSignal::requested());
    std::raise(number);
    EXPECT_TRUE(StopSignal::requested()) << number;
  }
  EXPECT_FALSE(StopSignal::requested()) << "of a run that is over";
}

TEST(StopSignalTest, TheSameSignalTwiceAtOnceIsOneRequestAndALaterOneEndsTheProgram) {
  const auto raise_twice = [](std::chrono::milliseconds apart) {
    const StopSignal signals;
    std::raise(SIGTERM);
    std::this_thread::sleep_for(apart);
    std::raise(SIGTERM);
    std::exit(StopSignal::requested() ? 0 : 1);
  };
  EXPECT_EXIT(raise_twice(std::chrono::milliseconds(0)), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(raise_twice(std::chrono::milliseconds(300)), ::testing::ExitedWithCode(130), "");
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
