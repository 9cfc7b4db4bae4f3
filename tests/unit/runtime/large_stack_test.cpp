// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/process/large_stack.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <thread>

namespace kiln {
namespace {

TEST(LargeStack, IsOnAThreadOfItsOwnAndManyMegabytes) {
  std::size_t given = 0;
  std::thread::id there;
  call_on_large_stack([&](std::size_t bytes) {
    given = bytes;
    there = std::this_thread::get_id();
  });
  EXPECT_GE(given, std::size_t{16} << 20U);
  EXPECT_NE(there, std::this_thread::get_id());
}

TEST(LargeStack, WhatTheWorkThrowsIsThrown) {
  EXPECT_THROW(call_on_large_stack([](std::size_t) { throw std::runtime_error("no"); }),
               std::runtime_error);
}

TEST(LargeStack, WhereThereIsNoRoomTheCallersIsUsed) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs its address space";
#endif
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  rlimit tight = before;
  tight.rlim_cur = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (8 << 20);
  setrlimit(RLIMIT_AS, &tight);
  std::size_t given = 0;
  std::thread::id there;
  call_on_large_stack([&](std::size_t bytes) {
    given = bytes;
    there = std::this_thread::get_id();
  });
  setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(there, std::this_thread::get_id());
  EXPECT_GT(given, std::size_t{64} << 10U);
  EXPECT_LT(given, std::size_t{16} << 20U);
}

}  // namespace
}  // namespace kiln
