// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tuner/session/prepared_candidate.hpp"

namespace kiln {

/// How many threads compile where `requested` are asked for: 0 is one for each core, but not more
/// than 32.
[[nodiscard]] int compile_threads(int requested);

/// Threads that prepare candidates ahead of the device. One thread submits and takes.
class CompilePool {
 public:
  using Task = std::function<PreparedCandidate()>;
  /// Which result comes out next.
  enum class Order : std::uint8_t {
    submission,  ///< the oldest, however long it takes: a session does the same in every run
    completion,  ///< the oldest of those that are there: no slow one holds up the others
  };

  /// Has fewer threads where the system has no more; where it has none, the owner does the work
  /// while it waits for the oldest result.
  explicit CompilePool(int threads, Order order = Order::submission);
  /// Closes and waits for running tasks: see CompileRequest::give_up.
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  /// Discards what no thread has started. Nothing may be submitted or taken afterwards.
  void close();

  void submit(Task task);
  /// Submitted and not yet taken.
  [[nodiscard]] std::size_t pending() const { return order_.size(); }
  /// Waits for the next result, or for the given time; returns whether it is there.
  [[nodiscard]] bool wait_for_next(std::chrono::milliseconds at_most);
  /// The next result; waits for it. Throws what its task threw. Precondition: pending() > 0.
  [[nodiscard]] PreparedCandidate take();

  /// How busy the threads were from the first task until the last one so far began: 1 if all
  /// worked all the time; 0 before two tasks began.
  [[nodiscard]] double busy_share();

 private:
  using Clock = std::chrono::steady_clock;
  struct Slot;
  [[nodiscard]] bool is_next_there() const;
  [[nodiscard]] std::deque<std::shared_ptr<Slot>>::iterator next_slot();
  void begin(Slot& slot);
  void work();
  void work_on_oldest();
  void finish(Slot& slot);

  std::mutex mutex_;
  std::condition_variable work_there_;
  std::condition_variable result_there_;
  std::deque<std::shared_ptr<Slot>> order_;      ///< of submission; touched only by the owner
  std::deque<std::shared_ptr<Slot>> unstarted_;  ///< guarded
  bool closing_ = false;                         ///< guarded
  Order order_of_results_;
  Clock::time_point first_begin_, last_begin_;  ///< guarded, like the next three
  std::uint64_t begun_ = 0;
  double worked_s_ = 0.0;      ///< by all threads, until the last task began
  double unfinished_s_ = 0.0;  ///< by tasks that ended after that
  std::vector<const Slot*> working_;
  std::vector<std::thread> threads_;
};

}  // namespace kiln
