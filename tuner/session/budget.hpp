// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

namespace kiln {

/// When a session stops by itself; zero means no limit.
struct Budget {
  double seconds = 25.0;
  std::uint64_t candidates = 0;
  double outside_s = 0.0;  ///< of the seconds: spent before the session, or left for what follows
  /// "time=25s count=-".
  [[nodiscard]] std::string canonical() const;
};

/// The time limit of a budget. Runs from its construction, so set-up counts. Part of the time is
/// reserved for what must follow the search.
class BudgetClock {
 public:
  explicit BudgetClock(const Budget& budget, double reserved_s = 0.0);

  [[nodiscard]] double elapsed_s() const;
  /// Seconds until the budget ends; infinite without a limit, never negative.
  [[nodiscard]] double left_s() const;
  /// Seconds until the search must end, so that the reserve remains.
  [[nodiscard]] double search_left_s() const;
  /// From now on so much is reserved. Others may read the clock meanwhile.
  void reserve(double seconds) { reserved_s_ = seconds; }

 private:
  std::chrono::steady_clock::time_point start_;
  double end_s_ = std::numeric_limits<double>::infinity();
  std::atomic<double> reserved_s_ = 0.0;
};

/// What the comparison of the finalists may take out of a budget: a tenth, at most 4 s, which is
/// many times what microsecond kernels need and still leaves slow ones a few rounds.
/// If energy is compared as well, which takes long turns, 0.3 of the budget, at most 20 s.
[[nodiscard]] double finalists_share_s(const Budget& budget, int finalists, bool energy = false);

/// What trying the best with settings of the compiler may take out of a budget: a tenth, at most
/// 6 s.
[[nodiscard]] double polish_share_s(const Budget& budget);

/// What looking closer at the best on an emulated device may take out of a budget: a fifth, at most
/// 8 s.
[[nodiscard]] double checks_share_s(const Budget& budget);

}  // namespace kiln
