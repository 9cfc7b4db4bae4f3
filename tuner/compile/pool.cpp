// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/compile/pool.hpp"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

namespace kiln {
namespace {

/// Each may take 120 MB of memory. Sixteen keep an H200 busy for 75 to 84 % of a session.
constexpr int kMostByDefault = 32;

}  // namespace

int compile_threads(int requested) {
  if (requested > 0) return requested;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(cores, 1, kMostByDefault);
}

struct CompilePool::Slot {
  Task task;
  PreparedCandidate result;
  std::exception_ptr error;
  bool done = false;  ///< guarded; once it is set, result and error belong to the owner
};

CompilePool::CompilePool(int threads) {
  try {
    for (int i = 0; i < std::max(1, threads); ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // The system has no more threads: those that there are do the work, or else the owner.
  }
}

CompilePool::~CompilePool() {
  close();
  for (auto& thread : threads_) thread.join();
}

void CompilePool::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    unstarted_.clear();
  }
  work_there_.notify_all();
}

void CompilePool::submit(Task task) {
  auto slot = std::make_shared<Slot>();
  slot->task = std::move(task);
  order_.push_back(slot);
  {
    const std::lock_guard lock(mutex_);
    unstarted_.push_back(std::move(slot));
  }
  work_there_.notify_one();
}

bool CompilePool::wait_for_next(std::chrono::milliseconds at_most) {
  if (order_.empty()) return false;
  if (threads_.empty()) work_on_oldest();
  std::unique_lock lock(mutex_);
  return result_there_.wait_for(lock, at_most, [&] { return order_.front()->done; });
}

PreparedCandidate CompilePool::take() {
  if (threads_.empty()) work_on_oldest();
  {
    std::unique_lock lock(mutex_);
    result_there_.wait(lock, [&] { return order_.front()->done; });
  }
  const auto slot = std::move(order_.front());
  order_.pop_front();
  if (slot->error) std::rethrow_exception(slot->error);
  return std::move(slot->result);
}

void CompilePool::work() {
  while (true) {
    std::shared_ptr<Slot> slot;
    {
      std::unique_lock lock(mutex_);
      work_there_.wait(lock, [&] { return closing_ || !unstarted_.empty(); });
      if (closing_) return;
      slot = std::move(unstarted_.front());
      unstarted_.pop_front();
    }
    finish(*slot);
    result_there_.notify_all();
  }
}

/// Where there is no thread for it.
void CompilePool::work_on_oldest() {
  if (order_.front()->done) return;
  if (!unstarted_.empty()) unstarted_.pop_front();
  finish(*order_.front());
}

void CompilePool::finish(Slot& slot) {
  try {
    slot.result = slot.task();
  } catch (...) {
    slot.error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  slot.done = true;
}

}  // namespace kiln
