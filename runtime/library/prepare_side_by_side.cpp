// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/library/prepare_side_by_side.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "runtime/process/signals_blocked.hpp"

namespace kiln::detail {
namespace {

template <class Work>
std::vector<std::jthread> start_threads(std::size_t count, const Work& work) {
  const SignalsBlocked blocked;
  std::vector<std::jthread> threads;
  try {
    while (threads.size() < count) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // Fewer threads only take longer; the caller's own always exists.
  }
  return threads;
}

}  // namespace

void prepare_side_by_side(std::size_t count, const std::function<void(std::size_t)>& prepare) {
  if (count == 0) return;
  std::atomic<std::size_t> next{0};
  std::vector<std::exception_ptr> faults(count);
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        prepare(i);
      } catch (...) {
        faults[i] = std::current_exception();
      }
    }
  };
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  {
    const auto others = start_threads(std::min(cores, count) - 1, work);
    work();
  }
  const auto first = std::find_if(faults.begin(), faults.end(),
                                  [](const std::exception_ptr& fault) { return fault != nullptr; });
  if (first != faults.end()) std::rethrow_exception(*first);
}

}  // namespace kiln::detail
