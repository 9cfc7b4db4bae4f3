// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/budget.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kiln {
namespace {

constexpr double kFinalistsShare = 0.1;
constexpr double kFinalistsMostSeconds = 4.0;
constexpr double kPolishShare = 0.1;
constexpr double kPolishMostSeconds = 6.0;
constexpr double kEnergyShare = 0.3;
constexpr double kEnergyMostSeconds = 20.0;
constexpr double kChecksShare = 0.2;
constexpr double kChecksMostSeconds = 8.0;

}  // namespace

std::string Budget::canonical() const {
  return fmt::format("time={} count={}", seconds > 0 ? fmt::format("{}s", seconds) : "-",
                     candidates > 0 ? fmt::format("{}", candidates) : "-");
}

BudgetClock::BudgetClock(const Budget& budget, double reserved_s)
    : start_(std::chrono::steady_clock::now()), reserved_s_(reserved_s) {
  if (budget.seconds > 0) end_s_ = std::max(0.0, budget.seconds - budget.outside_s);
}

double BudgetClock::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

double BudgetClock::left_s() const {
  return std::max(0.0, end_s_ - elapsed_s());
}

double BudgetClock::search_left_s() const {
  return std::max(0.0, end_s_ - reserved_s_ - elapsed_s());
}

double finalists_share_s(const Budget& budget, int finalists, bool energy) {
  // A single finalist has nothing to be compared with.
  if (budget.seconds <= 0 || finalists < 2) return 0.0;
  if (energy) return std::min(kEnergyShare * budget.seconds, kEnergyMostSeconds);
  return std::min(kFinalistsShare * budget.seconds, kFinalistsMostSeconds);
}

double polish_share_s(const Budget& budget) {
  return budget.seconds <= 0 ? 0.0 : std::min(kPolishShare * budget.seconds, kPolishMostSeconds);
}

double checks_share_s(const Budget& budget) {
  return budget.seconds <= 0 ? 0.0 : std::min(kChecksShare * budget.seconds, kChecksMostSeconds);
}

}  // namespace kiln
