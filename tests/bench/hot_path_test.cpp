// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Looking up a loaded kernel and launching it neither allocates nor locks. Both are counted for the
// whole program, which is why this test has one of its own.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/bench/idle_library.hpp"

namespace {

std::atomic<long> allocations{0};
std::atomic<long> locks{0};

}  // namespace

// Not inlined: halves of a pair in one function look mismatched to the compiler.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes > 0 ? bytes : 1);
}
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (void* const memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  using Lock = int (*)(pthread_mutex_t*);
  static const Lock next = reinterpret_cast<Lock>(::dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  ++locks;
  return next(mutex);
}

namespace kiln::testing {
namespace {

/// The first use loads a kernel; those after it neither allocate nor lock.
template <class Use>
void expect_quiet(const Use& use) {
  long allocations_before = allocations;
  long locks_before = locks;
  use();
  EXPECT_GT(allocations, allocations_before) << "the first use loads the kernel, and is counted";
  EXPECT_GT(locks, locks_before) << "likewise";

  allocations_before = allocations;
  locks_before = locks;
  for (int i = 0; i < 100; ++i) use();
  EXPECT_EQ(allocations, allocations_before);
  EXPECT_EQ(locks, locks_before);
}

alignas(256) char memory[256];

TEST(HotPath, LookUpAndLaunchNeitherAllocateNorLock) {
  const Library& library = idle_library();
  const Gemm problem = Gemm::of(DType::f16, 512, 512, 256);
  const GemmOperands operands{memory, memory, nullptr, memory};
  expect_quiet([&] { library.get(problem).launch(nullptr, operands); });
}

TEST(HotPath, NorDoTheyForADeclaredOperation) {
  const Library& library = idle_library();
  const OperationProblem problem = row_sums(64, 64);
  expect_quiet([&] {
    library.get(problem).launch(nullptr, {.operands = {memory, nullptr, memory}, .scalars = {2.0}});
  });
}

}  // namespace
}  // namespace kiln::testing
