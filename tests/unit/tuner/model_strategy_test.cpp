// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/model/static_model.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "tests/support/toy_templates.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln::testing {
namespace {

std::string name_of(const Candidate& candidate) {
  return candidate.template_name;
}
std::int64_t x_of(const Candidate& candidate) {
  return candidate.config.at("x");
}

/// Two templates whose costs interleave, and one without costs.
class ModelStrategyTest : public ::testing::Test {
 protected:
  SearchSpace make(const std::vector<std::string>& only) {
    return make_search_space(catalog, problem, profile.limits, {only, {}});
  }
  std::vector<Candidate> drain(Strategy& strategy) {
    std::vector<Candidate> all;
    while (auto candidate = strategy.propose()) all.push_back(std::move(*candidate));
    return all;
  }

  /// The order of x if every candidate that is proposed gets this outcome and a multiple of its
  /// static time, by x.
  std::vector<std::int64_t> measured(const std::vector<std::string>& only, Outcome outcome,
                                     const std::function<double(std::int64_t)>& multiple) {
    const SearchSpace space = make(only);
    ModelStrategy strategy(space, problem, profile, 1);
    std::vector<std::int64_t> order;
    while (const auto candidate = strategy.propose()) {
      order.push_back(x_of(*candidate));
      const KernelTemplate& kernel = *space.find(candidate->template_name)->kernel_template;
      strategy.observe(
          *candidate, outcome,
          multiple(order.back()) * *static_time_ns(kernel, candidate->config, problem, profile));
    }
    return order;
  }

  const std::vector<std::int64_t> kInOrder{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  Problem problem = to_problem(Gemm::of(DType::f16, 64, 64, 64));
  DeviceProfile profile = built_in_profile("h200").value();
  TempFolder folder;
  Catalog catalog = catalog_with(
      folder, {{"even", {{"x", {4, 0, 8, 2, 6}}}, "true", "0", "128", {"waits = 10 + x"}},
               {"odd", {{"x", {7, 1, 5, 3, 9}}}, "true", "0", "128", {"waits = 10 + x"}},
               {"alike",
                {{"x", {0, 1, 2}}, {"y", {0, 1, 2, 3}}},
                "true",
                "0",
                "128",
                {"waits = 1000000 + 75000 * x"}},
               {"plain", {{"x", first_numbers(20)}}},
               {"large",
                {{"x", first_numbers(16)},
                 {"y", first_numbers(16)},
                 {"z", first_numbers(16)},
                 {"w", first_numbers(13)}},
                "true",
                "0",
                "128",
                {"waits = x == 15 ? 1000 : 2000"}}});
};

TEST_F(ModelStrategyTest, TheShortestTimeOfAllTemplatesComesFirst) {
  const SearchSpace space = make({"even", "odd"});
  ModelStrategy strategy(space, problem, profile, 1);
  std::vector<std::int64_t> order;
  for (const auto& candidate : drain(strategy)) {
    order.push_back(x_of(candidate));
    EXPECT_EQ(name_of(candidate), x_of(candidate) % 2 == 0 ? "even" : "odd");
  }
  EXPECT_EQ(order, kInOrder);
}

TEST_F(ModelStrategyTest, LookAlikesAreSpreadAmongTheSlightlySlower) {
  const SearchSpace space = make({"alike"});
  ModelStrategy strategy(space, problem, profile, 1);
  std::vector<std::int64_t> order;
  for (const auto& candidate : drain(strategy)) order.push_back(x_of(candidate));
  // Steps of 7.5 %: the fourth of x=0 counts as 10 % slower, after the first of x=1.
  EXPECT_EQ(order, (std::vector<std::int64_t>{0, 0, 1, 0, 0, 1, 2, 1, 1, 2, 2, 2}));
}

TEST_F(ModelStrategyTest, WithoutCostsEveryEighthIsDrawnAtRandom) {
  const SearchSpace space = make({"even", "odd", "plain"});
  ModelStrategy strategy(space, problem, profile, 1);
  const auto all = drain(strategy);
  ASSERT_EQ(all.size(), 30U);
  EXPECT_EQ(std::set<Candidate>(all.begin(), all.end()).size(), 30U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    // After ten that have a time, seven of them before one that has none, the rest has none.
    EXPECT_EQ(name_of(all[i]) == "plain", i == 7 || i >= 11) << i;
  }
  ModelStrategy other(space, problem, profile, 2);
  EXPECT_NE(drain(other), all);
}

/// The costs of "alike" say that x = 0 takes the shortest time; measured, it takes ten times that.
TEST_F(ModelStrategyTest, WhatWasMeasuredCorrectsTheOrderOfTheRest) {
  const auto order =
      measured({"alike"}, Outcome::ok, [](std::int64_t x) { return x == 0 ? 10.0 : 1.0; });
  ASSERT_EQ(order.size(), 12U);
  EXPECT_EQ(order[0], 0);
  EXPECT_EQ(std::count(order.begin() + 4, order.begin() + 11, 0), 0) << "after four results";
  EXPECT_EQ(order.back(), 0);
}

/// Failures and what is only announced as proposed (no time) say nothing about times.
TEST_F(ModelStrategyTest, WithoutTimesTheOrderStays) {
  const auto slow_first = [](std::int64_t x) { return x == 0 ? 1000.0 : 1.0; };
  EXPECT_EQ(measured({"even", "odd"}, Outcome::crashed, slow_first), kInOrder);
  EXPECT_EQ(measured({"even", "odd"}, Outcome::ok, [](std::int64_t) { return 0.0; }), kInOrder);
}

/// What one template's times are off by is no reason to prefer another whose times are off alike.
TEST_F(ModelStrategyTest, AUsualErrorOfAllTemplatesChangesNothing) {
  EXPECT_EQ(measured({"even", "odd"}, Outcome::ok, [](std::int64_t) { return 3.0; }), kInOrder);
}

TEST_F(ModelStrategyTest, AnAbandonedTemplateIsProposedNoMore) {
  const SearchSpace space = make({"even", "odd", "plain"});
  ModelStrategy strategy(space, problem, profile, 1);
  EXPECT_EQ(x_of(*strategy.propose()), 0);
  strategy.abandon("even");
  EXPECT_EQ(x_of(*strategy.propose()), 1);
  EXPECT_EQ(x_of(*strategy.propose()), 3);
  strategy.abandon("plain");
  std::vector<std::int64_t> order;
  for (const auto& candidate : drain(strategy)) order.push_back(x_of(candidate));
  EXPECT_EQ(order, (std::vector<std::int64_t>{5, 7, 9}));
}

TEST_F(ModelStrategyTest, OfALargeSpaceASampleIsPutInOrderAndNothingIsLost) {
  const SearchSpace space = make({"large"});
  ModelStrategy strategy(space, problem, profile, 1);
  // The last x is far the fastest, and most of its configurations are in the sample.
  std::unordered_set<std::string> distinct;
  for (int i = 0; i < 100; ++i) {
    const auto candidate = strategy.propose();
    if (i % 4 != 3) {
      EXPECT_EQ(x_of(*candidate), 15) << i;
    }
    distinct.insert(candidate_text(*candidate));
  }
  std::size_t count = 100;
  while (const auto candidate = strategy.propose()) {
    distinct.insert(candidate_text(*candidate));
    ++count;
  }
  EXPECT_EQ(count, space.count());
  EXPECT_EQ(distinct.size(), count);
}

/// The evenly spaced candidates are one in 335, so that the best of them are wrong in two tunables
/// or more; steps from one to the next lead to the best of all.
TEST_F(ModelStrategyTest, StepsFromTheBestOfASampleLeadToTheBestOfAll) {
  const TempFolder other;
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> tunables;
  for (const char* name : {"u", "v", "w", "x", "y", "z"}) {
    tunables.emplace_back(name, first_numbers(16));
  }
  const Catalog hilly = catalog_with(
      other, {{"hilly",
               tunables,
               "true",
               "0",
               "128",
               {"waits = 1000 + (u == 6 ? 0 : 9) + (v == 2 ? 0 : 8) + (w == 12 ? 0 : 7) + "
                "(x == 4 ? 0 : 6) + (y == 13 ? 0 : 5) + (z == 1 ? 0 : 4)"}}});
  const SearchSpace space = make_search_space(hilly, problem, profile.limits, {{"hilly"}, {}});
  ModelStrategy strategy(space, problem, profile, 1);
  EXPECT_EQ(strategy.propose()->config, Config::parse("u=6 v=2 w=12 x=4 y=13 z=1"));
}

TEST_F(ModelStrategyTest, AnUndefinedCostIsAnError) {
  const TempFolder other;
  const Catalog broken =
      catalog_with(other, {{"broken", {{"x", {0, 1}}}, "true", "0", "128", {"waits = k / x"}}});
  const SearchSpace space = make_search_space(broken, problem, profile.limits, {{"broken"}, {}});
  ModelStrategy strategy(space, problem, profile, 1);
  EXPECT_THROW((void)strategy.propose(), Error);
}

TEST_F(ModelStrategyTest, NothingMoreIsTimedOnceTheSessionMustEnd) {
  int asked = 0;
  const SearchSpace space = make({"even", "odd"});
  ModelStrategy strategy(space, problem, profile, 1, [&] { return ++asked > 0; });
  EXPECT_TRUE(strategy.propose());
  EXPECT_EQ(asked, 2) << "once for each template";
}

}  // namespace
}  // namespace kiln::testing
