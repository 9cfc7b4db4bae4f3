// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// How soon strategies find good configurations in spaces that are known completely. A strategy that
// got worse fails here, without a GPU.
#include "tuner/replay/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kiln/error.hpp"

namespace kiln {
namespace {

/// Times as a tiled matrix product with these tunables might have them: each block waits for memory
/// or for arithmetic, many registers cost occupancy, few blocks leave multiprocessors idle, some
/// bank conflicts; a fifth of the space fails. The names are those of nobody's kernel.
MeasuredSpace tiled_product() {
  MeasuredSpace space;
  space.parameters = {{"rows", {"16", "32", "64", "128"}}, {"cols", {"16", "32", "64", "128"}},
                      {"depth", {"8", "16", "32"}},        {"threads_x", {"8", "16", "32"}},
                      {"threads_y", {"8", "16", "32"}},    {"vector", {"1", "2", "4"}},
                      {"staged", {"no", "one", "both"}},   {"unroll", {"1", "2", "4", "8"}}};
  std::vector<std::uint16_t> code(space.parameters.size(), 0);
  const auto value = [&](std::size_t i) { return std::stod(space.parameters[i].values[code[i]]); };
  while (true) {
    const double rows = value(0);
    const double cols = value(1);
    const double depth = value(2);
    const double threads = value(3) * value(4);
    const double vector = value(5);
    const double unroll = value(7);
    const bool fits = static_cast<int>(cols) % static_cast<int>(value(3) * vector) == 0 &&
                      static_cast<int>(rows) % static_cast<int>(value(4)) == 0;
    if (fits) {
      const double each = rows * cols / threads;
      const double registers = 20.0 + each + 2.0 * unroll * vector;
      const double resident = std::min(2048.0 / threads, 65536.0 / (registers * threads));
      const double occupancy = std::min(1.0, std::floor(resident) * threads / 2048.0);
      const double reuse = code[6] == 0 ? 1.0 : code[6] == 1 ? 0.5 : 0.25;
      const double memory = (1.0 / rows + 1.0 / cols) * (0.5 + reuse) * (1.0 + 0.6 / vector);
      const double issue = 0.02 * (1.0 + 2.0 / each) * (1.0 + 0.3 / unroll + 0.02 * unroll) *
                           (1.0 + 4.0 / depth) * (code[6] == 2 && value(3) == 8 ? 1.6 : 1.0);
      const double blocks = std::ceil(4096.0 / rows) * std::ceil(4096.0 / cols);
      const double waves = std::ceil(blocks / (132.0 * std::max(1.0, std::floor(resident))));
      const double tail = waves * 132.0 * std::max(1.0, std::floor(resident)) / blocks;
      const double time = 1e6 * (std::max(memory, issue) + 0.3 * std::min(memory, issue)) * tail /
                          (0.3 + 0.7 * std::sqrt(occupancy));
      const bool fails = registers > 255.0 || threads > 1024.0 || resident < 1.0;
      space.rows.push_back(
          {code, fails ? Outcome::out_of_resources : Outcome::ok, fails ? 0.0 : time, 1.0});
    }
    std::size_t i = 0;
    while (i < code.size() && ++code[i] == space.parameters[i].values.size()) code[i++] = 0;
    if (i == code.size()) return space;
  }
}

/// As point in polygon has them on a large GPU: many configurations are almost equally good, and
/// the fastest are a quarter faster, but only where three tunables fit together, one of them with
/// the value that is the slowest everywhere else.
MeasuredSpace two_kinds_of_good() {
  MeasuredSpace space;
  space.parameters = {{"method", {"0", "1", "2", "3"}},
                      {"slopes", {"no", "yes"}},
                      {"order", {"no", "yes"}},
                      {"tile", {"1", "2", "4", "6", "8", "10", "12", "14", "16", "18", "20"}},
                      {"threads", {}}};
  for (int threads = 32; threads < 1000; threads += 32) {
    space.parameters.back().values.push_back(std::to_string(threads));
  }
  constexpr std::array<double, 4> methods = {1.5, 1.6, 1.7, 1.0};
  std::vector<std::uint16_t> code(space.parameters.size(), 0);
  std::size_t i = 0;
  while (i < code.size()) {
    const double tile = std::stod(space.parameters[3].values[code[3]]);
    const double threads = std::stod(space.parameters[4].values[code[4]]);
    const double ripple = 1.0 + 0.02 * std::sin(0.7 * tile + 0.05 * threads);
    const double slow = methods[code[0]] * (code[1] == 1 ? 1.0 : 1.1) *
                        (tile == 1.0 ? 2.5 : 1.0 + 0.5 / tile) *
                        (1.0 + 0.3 * std::pow(threads / 1000.0, 2));
    const bool fits = code[0] == 0 && code[1] == 1 && code[2] == 1 && tile == 1.0;
    const double time = 1e6 * ripple * (fits ? 0.75 : slow);
    space.rows.push_back({code, Outcome::ok, time, 1.0});
    for (i = 0; i < code.size() && ++code[i] == space.parameters[i].values.size(); ++i) code[i] = 0;
  }
  return space;
}

/// Median over the seeds; the limit plus 1 for runs that did not get there.
std::uint64_t median_to_95(const Replay& replay, const std::string& strategy,
                           const ReplayLimits& limits) {
  std::vector<std::uint64_t> needed;
  for (std::uint64_t seed = 1; seed <= 9; ++seed) {
    const ReplayRun run = replay.run(strategy, seed, limits);
    needed.push_back(run.to_95 > 0 ? run.to_95 : limits.evaluations + 1);
  }
  std::sort(needed.begin(), needed.end());
  return needed[needed.size() / 2];
}

TEST(ReplayTest, ListsExactlyWhatWasMeasured) {
  const MeasuredSpace measured = tiled_product();
  const Replay replay(measured);
  EXPECT_EQ(replay.count(), measured.rows.size());
  // All of them, each once, until the best is the last one that is left out.
  const ReplayRun run = replay.run("exhaustive", 1, {.evaluations = measured.rows.size()});
  EXPECT_GT(run.to_95, 0U);
  EXPECT_LE(run.evaluations, measured.rows.size());
}

TEST(ReplayTest, TheSurrogateNeedsFewEvaluations) {
  const Replay replay(tiled_product());
  const std::uint64_t random = median_to_95(replay, "random", {.evaluations = 400});
  const std::uint64_t surrogate = median_to_95(replay, "surrogate", {.evaluations = 400});
  const std::uint64_t guided = median_to_95(replay, "guided", {.evaluations = 400});
  RecordProperty("random", std::to_string(random));
  RecordProperty("surrogate", std::to_string(surrogate));
  EXPECT_LE(surrogate, 45U);
  EXPECT_EQ(guided, surrogate);  // no cost lines: nothing else can guide it
  EXPECT_LT(3 * surrogate, random);
}

// Without bold picks, one of twelve runs gets there; with them, every second one.
TEST(ReplayTest, TheSurrogateLooksBeyondManyThatAreAlmostEquallyGood) {
  const Replay replay(two_kinds_of_good());
  int arrived = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    if (replay.run("surrogate", seed, {.evaluations = 190}).to_95 > 0) ++arrived;
  }
  EXPECT_GE(arrived, 2);
}

TEST(ReplayTest, ResultsThatComeLateCostLittle) {
  const Replay replay(tiled_product());
  EXPECT_LE(median_to_95(replay, "surrogate", {.evaluations = 400, .in_flight = 18}), 80U);
}

TEST(ReplayTest, TheSameSeedGivesTheSameRun) {
  const Replay replay(tiled_product());
  for (const char* const strategy : {"surrogate", "local", "random"}) {
    const ReplayRun first = replay.run(strategy, 7, {.evaluations = 60});
    const ReplayRun second = replay.run(strategy, 7, {.evaluations = 60});
    EXPECT_EQ(first.to_95, second.to_95) << strategy;
    EXPECT_EQ(first.best_share, second.best_share) << strategy;
  }
}

TEST(ReplayTest, ASpaceWithoutATimeIsAnError) {
  MeasuredSpace space = tiled_product();
  for (auto& row : space.rows) row.outcome = Outcome::compile_failed;
  EXPECT_THROW(Replay{space}, Error);
}

}  // namespace
}  // namespace kiln
