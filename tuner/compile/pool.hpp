// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
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

/// Threads that prepare candidates ahead of the device. Results come out in the order of
/// submission, however long each took, so that a session does the same things in every run.
/// One thread submits and takes.
class CompilePool {
 public:
  using Task = std::function<PreparedCandidate()>;

  /// Has fewer threads where the system has no more; where it has none, the owner does the work
  /// while it waits for the oldest result.
  explicit CompilePool(int threads);
  /// Closes and waits for running tasks: see CompileRequest::give_up.
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  /// Discards what no thread has started. Nothing may be submitted or taken afterwards.
  void close();

  void submit(Task task);
  /// Submitted and not yet taken.
  [[nodiscard]] std::size_t pending() const { return order_.size(); }
  /// Waits for the oldest pending result, or for the given time; returns whether it is there.
  [[nodiscard]] bool wait_for_next(std::chrono::milliseconds at_most);
  /// The oldest result; waits for it. Throws what its task threw. Precondition: pending() > 0.
  [[nodiscard]] PreparedCandidate take();

 private:
  struct Slot;
  void work();
  void work_on_oldest();
  void finish(Slot& slot);

  std::mutex mutex_;
  std::condition_variable work_there_;
  std::condition_variable result_there_;
  std::deque<std::shared_ptr<Slot>> order_;      ///< of submission; touched only by the owner
  std::deque<std::shared_ptr<Slot>> unstarted_;  ///< guarded
  bool closing_ = false;                         ///< guarded
  std::vector<std::thread> threads_;
};

}  // namespace kiln
