// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/unit/runtime/library_fixture.hpp"

namespace kiln::testing {
namespace {

class PrepareTest : public LibraryFixture {};

/// Lets compilations end only when two of them are in progress, or after a while.
class Meeting {
 public:
  void attend() {
    std::unique_lock lock(mutex_);
    most_ = std::max(most_, ++present_);
    arrived_.notify_all();
    arrived_.wait_for(lock, std::chrono::seconds(10), [&] { return most_ >= 2; });
    --present_;
  }
  [[nodiscard]] int most() const { return most_; }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  int present_ = 0;
  int most_ = 0;
};

TEST_F(PrepareTest, KernelsAreCompiledSideBySideAndGetFindsThem) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core compiles one at a time";
  Meeting meeting;
  decide_ = [&](const CompileRequest&) {
    meeting.attend();
    return FakeCompilation{};
  };
  const std::vector<Gemm> problems{Gemm::of(DType::f16, 256, 256, 128),
                                   Gemm::of(DType::bf16, 256, 256, 128),
                                   Gemm::of(DType::f32, 256, 256, 128)};
  const Library library = open();
  library.prepare(problems);
  EXPECT_GE(meeting.most(), 2);
  EXPECT_EQ(library.counters().compiles, 3U);
  const auto reads = library.counters().database_reads;
  for (const Gemm& problem : problems) EXPECT_FALSE(library.get(problem).template_name().empty());
  EXPECT_EQ(library.counters().compiles, 3U);
  EXPECT_EQ(library.counters().database_reads, reads);
}

TEST_F(PrepareTest, ItsThreadsTakeFaultsButNoSignals) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core needs no threads";
  Meeting meeting;
  std::atomic<int> taking{0};
  std::atomic<int> faults{0};
  decide_ = [&](const CompileRequest&) {
    meeting.attend();
    sigset_t blocked;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    taking += sigismember(&blocked, SIGTERM) == 0 ? 1 : 0;
    faults += sigismember(&blocked, SIGSEGV) == 0 ? 1 : 0;
    return FakeCompilation{};
  };
  const Library library = open();
  library.prepare({Gemm::of(DType::f16, 256, 256, 128), Gemm::of(DType::bf16, 256, 256, 128)});
  EXPECT_EQ(taking, 1) << "the caller's own thread";
  EXPECT_EQ(faults, 2);
}

TEST_F(PrepareTest, SizesOfOneKindShareOneCompilation) {
  mode_ = Mode::default_only;  // otherwise small ones get other tiles
  std::vector<Gemm> problems;
  for (int m = 3; m <= 40; ++m) problems.push_back(Gemm::of(DType::f16, 64 * m, 256, 128));
  const Library library = open();
  library.prepare(problems);
  EXPECT_EQ(library.counters().compiles, 1U);
  library.prepare(std::vector<Gemm>());
}

TEST_F(PrepareTest, OneThatCannotBeServedIsReportedAndTheOthersAreReady) {
  Gemm impossible = Gemm::of(DType::f16, 256, 256, 128);
  impossible.m = -1;
  const Gemm possible = Gemm::of(DType::f32, 256, 256, 128);
  const Library library = open();
  try {
    library.prepare({possible, impossible, Gemm::of(DType::bf16, 64, 64, 64)});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
  }
  EXPECT_EQ(library.counters().compiles, 2U);
  static_cast<void>(library.get(possible));
  EXPECT_EQ(library.counters().compiles, 2U);
}

TEST_F(PrepareTest, AKernelThatCompilesHoldsNobodyElseUp) {
  std::mutex mutex;
  std::condition_variable changed;
  bool compiling = false;
  bool go_on = false;
  bool released = false;
  decide_ = [&](const CompileRequest& request) {
    if (request.name_expressions[0].find("__half") != std::string::npos) {
      std::unique_lock lock(mutex);
      compiling = true;
      changed.notify_all();
      released = changed.wait_for(lock, std::chrono::seconds(20), [&] { return go_on; });
    }
    return FakeCompilation{};
  };
  const Library library = open();
  std::jthread slow([&] { static_cast<void>(library.get(Gemm::of(DType::f16, 256, 256, 128))); });
  {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::seconds(20), [&] { return compiling; });
    ASSERT_TRUE(compiling);
  }
  static_cast<void>(library.get(Gemm::of(DType::f32, 256, 256, 128)));
  {
    const std::lock_guard lock(mutex);
    go_on = true;
  }
  changed.notify_all();
  slow.join();
  EXPECT_TRUE(released) << "the other kernel came only after this one had waited long enough";
}

}  // namespace
}  // namespace kiln::testing
