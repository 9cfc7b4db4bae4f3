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
  bool done = false;        ///< guarded; once it is set, result and error belong to the owner
  Clock::time_point began;  ///< guarded
};

CompilePool::CompilePool(int threads, Order order) : order_of_results_(order) {
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
  return result_there_.wait_for(lock, at_most, [&] { return is_next_there(); });
}

/// With the mutex locked.
bool CompilePool::is_next_there() const {
  if (order_of_results_ == Order::submission) return order_.front()->done;
  return std::any_of(order_.begin(), order_.end(), [](const auto& slot) { return slot->done; });
}

/// With the mutex locked, where is_next_there().
std::deque<std::shared_ptr<CompilePool::Slot>>::iterator CompilePool::next_slot() {
  if (order_of_results_ == Order::submission) return order_.begin();
  return std::find_if(order_.begin(), order_.end(), [](const auto& slot) { return slot->done; });
}

PreparedCandidate CompilePool::take() {
  if (threads_.empty()) work_on_oldest();
  std::shared_ptr<Slot> slot;
  {
    std::unique_lock lock(mutex_);
    result_there_.wait(lock, [&] { return is_next_there(); });
    const auto next = next_slot();
    slot = std::move(*next);
    order_.erase(next);
  }
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
      begin(*slot);
    }
    finish(*slot);
    result_there_.notify_all();
  }
}

/// Where there is no thread for it.
void CompilePool::work_on_oldest() {
  if (order_.front()->done) return;
  {
    const std::lock_guard lock(mutex_);
    if (!unstarted_.empty()) unstarted_.pop_front();
    begin(*order_.front());
  }
  finish(*order_.front());
}

/// With the mutex locked.
void CompilePool::begin(Slot& slot) {
  slot.began = Clock::now();
  if (begun_++ == 0) first_begin_ = slot.began;
  // Those that are at work still have worked since they began, or since the last task began.
  for (const Slot* other : working_) {
    const auto since = std::max(other->began, last_begin_);
    worked_s_ += std::chrono::duration<double>(slot.began - since).count();
  }
  worked_s_ += std::exchange(unfinished_s_, 0.0);
  last_begin_ = slot.began;
  working_.push_back(&slot);
}

double CompilePool::busy_share() {
  const std::lock_guard lock(mutex_);
  const double passed_s = std::chrono::duration<double>(last_begin_ - first_begin_).count();
  if (begun_ < 2 || passed_s <= 0.0) return 0.0;
  const auto threads = static_cast<double>(std::max<std::size_t>(threads_.size(), 1));
  return std::min(1.0, worked_s_ / (threads * passed_s));
}

void CompilePool::finish(Slot& slot) {
  try {
    slot.result = slot.task();
  } catch (...) {
    slot.error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  // What it worked since the last task began counts when the next one begins.
  unfinished_s_ +=
      std::chrono::duration<double>(Clock::now() - std::max(slot.began, last_begin_)).count();
  std::erase(working_, &slot);
  slot.done = true;
}

}  // namespace kiln
