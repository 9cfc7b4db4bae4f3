// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/process/large_stack.hpp"

#include <pthread.h>

#include <array>
#include <cstdint>
#include <exception>

#include "runtime/process/signals_blocked.hpp"

namespace kiln {
namespace {

/// Address space; only what is used becomes memory.
constexpr std::array<std::size_t, 3> kSizes{256U << 20U, 64U << 20U, 16U << 20U};
/// Where the system does not say how much is left of the caller's.
constexpr std::size_t kCautious = 512U << 10U;

struct Call {
  const std::function<void(std::size_t)>& work;
  std::size_t bytes = 0;
  std::exception_ptr fault;
};

void* run(void* argument) {
  auto& call = *static_cast<Call*>(argument);
  try {
    call.work(call.bytes);
  } catch (...) {
    call.fault = std::current_exception();
  }
  return nullptr;
}

bool run_on_thread(Call& call) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, call.bytes);
  pthread_t thread{};
  int status = 0;
  {
    const SignalsBlocked blocked;
    status = pthread_create(&thread, &attributes, run, &call);
  }
  pthread_attr_destroy(&attributes);
  if (status == 0) pthread_join(thread, nullptr);
  return status == 0;
}

/// Below this function's frame.
std::size_t bytes_left_here() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return kCautious;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  const int status = pthread_attr_getstack(&attributes, &lowest, &bytes);
  pthread_attr_destroy(&attributes);
  if (status != 0) return kCautious;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto end = reinterpret_cast<std::uintptr_t>(lowest);
  // The stack may be one that the application switches to by itself.
  return here > end && here - end <= bytes ? here - end : kCautious;
}

}  // namespace

void call_on_large_stack(const std::function<void(std::size_t bytes)>& work) {
  Call call{work, 0, nullptr};
  for (const std::size_t size : kSizes) {
    call.bytes = size;
    if (!run_on_thread(call)) continue;
    if (call.fault) std::rethrow_exception(call.fault);
    return;
  }
  work(bytes_left_here());
}

}  // namespace kiln
