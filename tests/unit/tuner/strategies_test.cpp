// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <deque>
#include <map>
#include <set>

#include "kiln/error.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "tests/support/toy_templates.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/strategies/random.hpp"
#include "tuner/strategies/strategy.hpp"

namespace kiln::testing {
namespace {

class StrategiesTest : public ::testing::TestWithParam<std::string> {
 protected:
  static SearchSpace make(const Catalog& catalog, const std::vector<std::string>& only) {
    return make_search_space(catalog, to_problem(Gemm::of(DType::f16, 64, 64, 64)),
                             *limits_of_arch("sm_90a"), {only, {}});
  }
  std::unique_ptr<Strategy> strategy_of(const std::string& name, const SearchSpace& of,
                                        std::uint64_t seed) {
    return make_strategy(name, {of, problem, limits, device, seed});
  }
  static std::vector<Candidate> drain(Strategy& strategy, std::size_t at_most = 1000000) {
    std::vector<Candidate> all;
    while (all.size() < at_most) {
      auto candidate = strategy.propose();
      if (!candidate) break;
      all.push_back(std::move(*candidate));
    }
    return all;
  }

  Problem problem = to_problem(Gemm::of(DType::f16, 64, 64, 64));
  DeviceLimits limits = *limits_of_arch("sm_90a");
  DeviceClass device;
  TempFolder folder;
  Catalog catalog = catalog_with(
      folder, {{"toy_a", {{"x", first_numbers(30)}, {"y", {1, 2, 3}}}, "x % 3 != y % 2"},
               {"toy_b", {{"x", first_numbers(10)}}}});
  SearchSpace space = make(catalog, {"toy_a", "toy_b"});
};

INSTANTIATE_TEST_SUITE_P(All, StrategiesTest, ::testing::ValuesIn(strategy_names()));

TEST_P(StrategiesTest, ProposesEveryCandidateExactlyOnce) {
  const auto strategy = strategy_of(GetParam(), space, 3);
  const auto all = drain(*strategy);
  const std::set<Candidate> distinct(all.begin(), all.end());
  EXPECT_EQ(all.size(), space.count());
  EXPECT_EQ(distinct.size(), space.count());
  for (const auto& candidate : all) {
    EXPECT_TRUE(space.find(candidate.template_name)->space.contains(candidate.config));
  }
  EXPECT_EQ(strategy->propose(), std::nullopt);
}

/// x >= 20 of toy_p is preferred, of toy_q nothing, of toy_r all.
class PreferringStrategiesTest : public StrategiesTest {
 protected:
  TempFolder own_folder;
  Catalog own = catalog_with(
      own_folder,
      {{.name = "toy_p",
        .tunables = {{"x", first_numbers(30)}},
        .costs = {"issues = x + 1"},
        .preferences = {"x >= 20"}},
       {.name = "toy_q", .tunables = {{"x", first_numbers(5)}}, .preferences = {"m > 64"}},
       {.name = "toy_r", .tunables = {{"x", first_numbers(7)}}}});
  SearchSpace preferring = make(own, {"toy_p", "toy_q", "toy_r"});
};

INSTANTIATE_TEST_SUITE_P(All, PreferringStrategiesTest, ::testing::ValuesIn(strategy_names()));

TEST_P(PreferringStrategiesTest, WhatIsPreferredComesFirstAndTheRestAfterIt) {
  const auto all = drain(*strategy_of(GetParam(), preferring, 3));
  EXPECT_EQ(all.size(), 42U);
  EXPECT_EQ(std::set<Candidate>(all.begin(), all.end()).size(), 42U);
  std::size_t last_preferred_p = 0;
  std::size_t first_other_p = all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].template_name != "toy_p") continue;
    if (all[i].config.at("x") >= 20) {
      last_preferred_p = i;
    } else {
      first_other_p = std::min(first_other_p, i);
    }
  }
  EXPECT_LT(last_preferred_p, first_other_p);
  if (GetParam() == "model") return;  // draws from templates without costs in between
  for (std::size_t i = 0; i < 17; ++i) {
    EXPECT_NE(all[i].template_name, "toy_q") << GetParam() << " " << i;
  }
}

TEST_P(PreferringStrategiesTest, AnAbandonedTemplateIsGoneFromTheRestToo) {
  const auto strategy = strategy_of(GetParam(), preferring, 3);
  for (int i = 0; i < 3; ++i) (void)strategy->propose();
  strategy->abandon("toy_p");
  for (const auto& candidate : drain(*strategy)) EXPECT_NE(candidate.template_name, "toy_p");
}

TEST_P(StrategiesTest, DoesNotProposeWhatItObserved) {
  std::set<Candidate> known;
  {
    const auto other = strategy_of("random", space, 99);
    for (int i = 0; i < 20; ++i) known.insert(*other->propose());
  }
  const auto strategy = strategy_of(GetParam(), space, 3);
  for (const auto& candidate : known) strategy->observe(candidate, Outcome::ok, 1.0);
  const auto rest = drain(*strategy);
  EXPECT_EQ(rest.size(), space.count() - known.size());
  for (const auto& candidate : rest) EXPECT_FALSE(known.contains(candidate));
}

TEST_P(StrategiesTest, AnAbandonedTemplateIsNotProposed) {
  const auto strategy = strategy_of(GetParam(), space, 3);
  (void)strategy->propose();
  strategy->abandon("toy_a");
  strategy->abandon("toy_a");
  strategy->abandon("unknown");
  for (const auto& candidate : drain(*strategy)) EXPECT_EQ(candidate.template_name, "toy_b");
}

TEST_P(StrategiesTest, TheSameSeedGivesTheSameOrder) {
  const auto first = strategy_of(GetParam(), space, 5);
  const auto second = strategy_of(GetParam(), space, 5);
  EXPECT_EQ(drain(*first), drain(*second));
}

TEST_P(StrategiesTest, ASpaceOfBillionsIsNotEnumerated) {
  const TempFolder large;
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> tunables;
  for (const char* name : {"p", "q", "r", "s", "t", "u", "v", "w"}) {
    tunables.emplace_back(name, first_numbers(20));
  }
  const Catalog big = catalog_with(large, {{"toy_big", tunables, "(p + q) % 2 == 0"}});
  const SearchSpace billions = make(big, {"toy_big"});
  EXPECT_EQ(billions.count(), 12800000000U);
  const auto start = std::chrono::steady_clock::now();
  const auto strategy = strategy_of(GetParam(), billions, 1);
  EXPECT_EQ(drain(*strategy, 1000).size(), 1000U);
  // Listing them all would take minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST_F(StrategiesTest, ExhaustiveFollowsTheOrderOfTheSpace) {
  const auto strategy = strategy_of("exhaustive", space, 0);
  std::vector<Candidate> expected;
  for (const auto& part : space.parts) {
    part.space.for_each([&](const Config& config) {
      expected.push_back({part.kernel_template->name(), config});
      return true;
    });
  }
  EXPECT_EQ(drain(*strategy), expected);
}

TEST_F(StrategiesTest, RandomDrawsUniformlyOverTheUnionOfTemplates) {
  // The first draw, over many seeds: uniform over candidates, whatever their template's size.
  constexpr int kRuns = 14000;
  std::map<Candidate, int> seen;
  for (int seed = 0; seed < kRuns; ++seed) {
    ++seen[*RandomStrategy(space, static_cast<std::uint64_t>(seed)).propose()];
  }
  const double expected = static_cast<double>(kRuns) / static_cast<double>(space.count());
  double chi_squared = 0.0;
  for (const auto& [candidate, count] : seen) {
    chi_squared += (count - expected) * (count - expected) / expected;
  }
  EXPECT_EQ(seen.size(), space.count());
  // Mean n-1, deviation sqrt(2(n-1)); five deviations, and the seeds are fixed.
  const double freedom = static_cast<double>(space.count() - 1);
  EXPECT_LT(chi_squared, freedom + 5.0 * std::sqrt(2.0 * freedom));
}

/// A valley: the further from p = 3, q = 11, ..., the slower; every 11th configuration fails.
class LocalStrategyTest : public StrategiesTest {
 protected:
  static double time_of(const Config& config) {
    double time = 100.0;
    double wanted = 3.0;
    for (const char* name : {"p", "q", "r", "s"}) {
      time += std::pow(static_cast<double>(config.at(name)) - wanted, 2);
      wanted = std::fmod(wanted + 8.0, 20.0);
    }
    return time;
  }
  /// How many proposals it takes to come within 2 % of the best time, with so many of them open.
  std::size_t proposals_to_the_best(const std::string& name, std::uint64_t seed, std::size_t open) {
    const auto strategy = strategy_of(name, valley, seed);
    std::deque<Candidate> waiting;
    for (std::size_t count = 1; count < 5000; ++count) {
      const auto candidate = strategy->propose();
      if (!candidate) return 5000;
      waiting.push_back(*candidate);
      if (waiting.size() < open) continue;
      const Candidate done = waiting.front();
      waiting.pop_front();
      const double time = time_of(done.config);
      const bool fails = (done.config.at("p") + done.config.at("q") * 7) % 11 == 5;
      strategy->observe(done, fails ? Outcome::launch_failed : Outcome::ok, time);
      if (!fails && time <= 102.0) return count;
    }
    return 5000;
  }

  TempFolder valley_folder;
  Catalog valley_catalog = catalog_with(valley_folder, {{"toy_valley",
                                                         {{"p", first_numbers(20)},
                                                          {"q", first_numbers(20)},
                                                          {"r", first_numbers(20)},
                                                          {"s", first_numbers(20)}}}});
  SearchSpace valley = make(valley_catalog, {"toy_valley"});
};

TEST_F(LocalStrategyTest, FindsAValleysFloorFarSoonerThanChance) {
  for (const std::size_t open : {1U, 8U}) {
    std::size_t local = 0;
    std::size_t random = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      local += proposals_to_the_best("local", seed, open);
      random += proposals_to_the_best("random", seed, open);
    }
    EXPECT_LT(local, 10U * 1000U) << open << " open";
    EXPECT_LT(4 * local, random) << open << " open";
  }
}

TEST_F(LocalStrategyTest, TheSurrogateConvergesAtTheValleysFloor) {
  for (const char* const name : {"surrogate", "guided"}) {
    const auto strategy = strategy_of(name, valley, 1);
    double best = 1e9;
    std::size_t count = 0;
    while (!strategy->has_converged()) {
      const auto candidate = strategy->propose();
      ASSERT_TRUE(candidate);
      const double time = time_of(candidate->config);
      best = std::min(best, time);
      strategy->observe(*candidate, Outcome::ok, time);
      ASSERT_LT(++count, 600U) << "of 160,000";
    }
    EXPECT_EQ(best, time_of(Config{{"p", 3}, {"q", 11}, {"r", 19}, {"s", 7}})) << name;
  }
}

/// Where nothing can be learned, as next to a fast spot among slow ones.
TEST_F(LocalStrategyTest, TheSurrogateConvergesWhereNoStepIsFaster) {
  const auto rugged = [](const Config& config) {
    std::uint64_t word = 1;
    for (const auto& [name, value] : config.values()) {
      word = (word + static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15ULL;
      word ^= word >> 29U;
    }
    return 100.0 + static_cast<double>(word % 1000);
  };
  const auto strategy = strategy_of("surrogate", valley, 1);
  std::set<Config> tried;
  Config best;
  double best_time = 1e9;
  while (!strategy->has_converged()) {
    const auto candidate = strategy->propose();
    ASSERT_TRUE(candidate);
    const double time = rugged(candidate->config);
    strategy->observe(*candidate, Outcome::ok, time);
    tried.insert(candidate->config);
    ASSERT_LT(tried.size(), 1500U);
    if (time >= best_time) continue;
    best_time = time;
    best = candidate->config;
  }
  for (const Config& step : valley.parts.front().space.neighbours(best)) {
    std::int64_t apart = 0;
    for (const auto& [name, value] : step.values()) apart += std::abs(value - best.at(name));
    EXPECT_TRUE(apart > 1 || tried.contains(step)) << step.canonical();
  }
}

TEST_F(LocalStrategyTest, GoesOnWhenAllOfADescentFails) {
  for (const char* const name : {"local", "guided"}) {
    const auto strategy = strategy_of(name, valley, 1);
    for (int i = 0; i < 300; ++i) {
      const auto candidate = strategy->propose();
      ASSERT_TRUE(candidate);
      strategy->observe(*candidate, Outcome::compile_failed, 0.0);
    }
  }
}

TEST_F(LocalStrategyTest, GuidedStartsWhereTheModelSaysAndDescendsFromTheBestOfThat) {
  const TempFolder slope_folder;
  const Catalog slope_catalog =
      catalog_with(slope_folder,
                   {{"toy",
                     {{"p", first_numbers(20)}, {"q", first_numbers(20)}, {"r", first_numbers(20)}},
                     "true",
                     "0",
                     "128",
                     {"waits = 1000 + 100 * (19 - p) + q"}}});
  const SearchSpace slope = make(slope_catalog, {"toy"});
  const auto guided = strategy_of("guided", slope, 1);
  const auto model = strategy_of("model", slope, 1);
  std::vector<Candidate> screened;
  for (int i = 0; i < 32; ++i) {
    screened.push_back(*guided->propose());
    EXPECT_EQ(screened.back(), *model->propose()) << i;
  }
  // The sixth turns out the best: what follows differs from it in one tunable.
  for (const Candidate& candidate : screened) {
    guided->observe(candidate, Outcome::ok, candidate == screened[5] ? 1.0 : 2.0);
  }
  for (int i = 0; i < 20; ++i) {
    const auto next = guided->propose();
    ASSERT_TRUE(next);
    int differences = 0;
    for (const char* const name : {"p", "q", "r"}) {
      if (next->config.at(name) != screened[5].config.at(name)) ++differences;
    }
    EXPECT_EQ(differences, 1) << candidate_text(*next);
    guided->observe(*next, Outcome::ok, 3.0);
  }
}

TEST_F(StrategiesTest, SeedsDiffer) {
  const auto first = strategy_of("random", space, 1);
  const auto second = strategy_of("random", space, 2);
  EXPECT_NE(drain(*first), drain(*second));
}

TEST_F(StrategiesTest, CanonicalTextTellsSeedWhereItMatters) {
  EXPECT_EQ(strategy_of("random", space, 7)->canonical(), "random seed=7");
  EXPECT_EQ(strategy_of("exhaustive", space, 7)->canonical(), "exhaustive");
  EXPECT_EQ(strategy_of("guided", space, 7)->canonical(), "guided seed=7");
  EXPECT_EQ(strategy_of("local", space, 7)->canonical(), "local seed=7");
  EXPECT_EQ(strategy_of("model", space, 7)->canonical(), "model seed=7");
}

TEST_F(StrategiesTest, AnUnknownNameListsWhatThereIs) {
  try {
    (void)strategy_of("greedy", space, 1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("exhaustive, guided, local, model, random"));
  }
}

TEST(LazyShuffle, DrawsEveryNumberOnce) {
  std::mt19937_64 random(4);
  LazyShuffle shuffle(1000);
  std::set<std::uint64_t> drawn;
  while (shuffle.remaining() > 0) drawn.insert(shuffle.draw(random));
  EXPECT_EQ(drawn.size(), 1000U);
  EXPECT_EQ(*drawn.rbegin(), 999U);
}

}  // namespace
}  // namespace kiln::testing
