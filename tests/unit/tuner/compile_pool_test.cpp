// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/compile/pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <stdexcept>
#include <thread>

#include "tests/support/no_more_threads.hpp"
#include "tuner/session/begin_task.hpp"
#include "tuner/session/prepared_candidate.hpp"

namespace kiln {
namespace {

using std::chrono::milliseconds;

PreparedCandidate named(int number) {
  PreparedCandidate prepared;
  prepared.candidate.config.set("number", number);
  return prepared;
}

std::int64_t number_of(const PreparedCandidate& prepared) {
  return prepared.candidate.config.at("number");
}

TEST(CompilePool, ThreadsAreAsManyAsAskedForOrOneForEachCore) {
  EXPECT_EQ(compile_threads(1), 1);
  EXPECT_EQ(compile_threads(100), 100);
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  EXPECT_EQ(compile_threads(0), std::clamp(cores, 1, 32));
}

TEST(CompilePool, ResultsComeInTheOrderOfSubmission) {
  CompilePool pool(4);
  for (int i = 0; i < 40; ++i) {
    pool.submit([i] {
      // Earlier ones take longer.
      std::this_thread::sleep_for(std::chrono::microseconds((40 - i) * 50));
      return named(i);
    });
  }
  EXPECT_EQ(pool.pending(), 40U);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(number_of(pool.take()), i);
  EXPECT_EQ(pool.pending(), 0U);
}

TEST(CompilePool, ResultsCanComeAsTheyAreDone) {
  CompilePool pool(2, CompilePool::Order::completion);
  std::latch release(1);
  pool.submit([&release] {
    release.wait();
    return named(0);
  });
  for (int i = 1; i < 10; ++i) {
    pool.submit([i] { return named(i); });
  }
  for (int i = 1; i < 10; ++i) EXPECT_EQ(number_of(pool.take()), i);
  EXPECT_FALSE(pool.wait_for_next(milliseconds(1)));
  release.count_down();
  EXPECT_EQ(number_of(pool.take()), 0);
}

TEST(CompilePool, KnowsHowBusyItsThreadsWere) {
  CompilePool pool(2);
  EXPECT_EQ(pool.busy_share(), 0.0);
  // One of two threads works until the last task begins.
  for (int i = 0; i < 4; ++i) {
    pool.submit([i] {
      std::this_thread::sleep_for(milliseconds(20));
      return named(i);
    });
    (void)pool.take();
  }
  EXPECT_GT(pool.busy_share(), 0.3);
  EXPECT_LT(pool.busy_share(), 0.6);
}

TEST(CompilePool, UsesItsThreadsAtTheSameTime) {
  CompilePool pool(3);
  // Passes only when all three run at once.
  std::latch together(3);
  for (int i = 0; i < 3; ++i) {
    pool.submit([&together, i] {
      together.arrive_and_wait();
      return named(i);
    });
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(number_of(pool.take()), i);
}

TEST(CompilePool, WaitTellsWhetherTheOldestIsThere) {
  CompilePool pool(1);
  EXPECT_FALSE(pool.wait_for_next(milliseconds(0)));
  std::latch go(1);
  pool.submit([&go] {
    go.wait();
    return named(1);
  });
  EXPECT_FALSE(pool.wait_for_next(milliseconds(1)));
  go.count_down();
  EXPECT_TRUE(pool.wait_for_next(milliseconds(60000)));
  EXPECT_EQ(number_of(pool.take()), 1);
}

TEST(CompilePool, AnExceptionReachesWhoTakesTheResult) {
  CompilePool pool(2);
  pool.submit([]() -> PreparedCandidate { throw std::runtime_error("broken"); });
  pool.submit([] { return named(2); });
  EXPECT_THROW((void)pool.take(), std::runtime_error);
  EXPECT_EQ(number_of(pool.take()), 2);
}

TEST(CompilePool, WithoutThreadsItsOwnerDoesTheWork) {
  const test::NoMoreThreads none;
  CompilePool pool(2);
  for (int i = 0; i < 3; ++i) {
    pool.submit([i] {
      if (i == 1) throw std::runtime_error("broken");
      return named(i);
    });
  }
  EXPECT_TRUE(pool.wait_for_next(milliseconds(0)));
  EXPECT_TRUE(pool.wait_for_next(milliseconds(0)));
  EXPECT_EQ(number_of(pool.take()), 0);
  EXPECT_THROW((void)pool.take(), std::runtime_error);
  EXPECT_EQ(number_of(pool.take()), 2);
  EXPECT_FALSE(pool.wait_for_next(milliseconds(0)));
}

TEST(BeginTask, WithoutThreadsWhoeverAsksDoesIt) {
  const test::NoMoreThreads none;
  auto task = begin_task([] { return std::this_thread::get_id(); });
  EXPECT_EQ(task.get(), std::this_thread::get_id());
}

TEST(CompilePool, DestructionForgetsWhatWasNotBegun) {
  std::atomic<int> runs{0};
  std::latch begun(1);
  {
    CompilePool pool(1);
    pool.submit([&] {
      begun.count_down();
      std::this_thread::sleep_for(milliseconds(20));
      ++runs;
      return named(0);
    });
    for (int i = 1; i < 100; ++i) {
      pool.submit([&runs, i] {
        ++runs;
        return named(i);
      });
    }
    begun.wait();
  }
  EXPECT_EQ(runs.load(), 1);
}

}  // namespace
}  // namespace kiln
