// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Random small spaces against the plain product of values with every requirement tested at the end.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/unit/templates/space_builder.hpp"

namespace kiln {
namespace {

using test::all_of;
using test::SpaceBuilder;

struct RandomSpace {
  explicit RandomSpace(unsigned seed) : random(seed) {
    builder.fix("limit", pick(30));
    const int tunables = 1 + pick(5);
    for (int i = 0; i < tunables; ++i) {
      std::set<std::int64_t> distinct;
      const int values = 1 + pick(5);
      while (static_cast<int>(distinct.size()) < values) distinct.insert(pick(12));
      std::vector<std::int64_t> shuffled(distinct.begin(), distinct.end());
      std::shuffle(shuffled.begin(), shuffled.end(), random);
      names.push_back(fmt::format("t{}", i));
      tunables_values.push_back(shuffled);
      builder.tune(names.back(), shuffled, shuffled[static_cast<std::size_t>(pick(values))]);
    }
    usable = names;
    usable.emplace_back("limit");
    for (int i = pick(3); i > 0; --i) {
      const auto name = fmt::format("d{}", i);
      add_let(name, fmt::format("{} {} {}", any(), operation(), any()));
    }
    for (int i = pick(4); i > 0; --i) {
      add_requirement(
          fmt::format("{} {} {} {} {}", any(), operation(), any(), comparison(), any()));
    }
  }

  int pick(int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); }
  std::string any() {
    return usable[static_cast<std::size_t>(pick(static_cast<int>(usable.size())))];
  }
  std::string operation() {
    return std::vector<std::string>{"+", "-", "*", "/", "%"}[pick_index(5)];
  }
  std::string comparison() {
    return std::vector<std::string>{"<", "<=", "==", "!=", ">"}[pick_index(5)];
  }
  std::size_t pick_index(int below) { return static_cast<std::size_t>(pick(below)); }

  void add_let(const std::string& name, const std::string& text) {
    builder.let(name, text);
    usable.push_back(name);
  }
  void add_requirement(const std::string& text) { builder.require(text); }

  /// The raw product in declared order, the last tunable fastest.
  std::vector<Config> product() const {
    std::vector<Config> configs{Config()};
    for (std::size_t i = 0; i < names.size(); ++i) {
      std::vector<Config> longer;
      for (const auto& config : configs) {
        for (const auto value : tunables_values[i]) {
          longer.push_back(config);
          longer.back().set(names[i], value);
        }
      }
      configs = std::move(longer);
    }
    return configs;
  }

  std::mt19937_64 random;
  SpaceBuilder builder;
  std::vector<std::string> names;
  std::vector<std::vector<std::int64_t>> tunables_values;
  std::vector<std::string> usable;
};

int differing(const Config& a, const Config& b) {
  int count = 0;
  for (const auto& [name, value] : a.values()) count += b.at(name) != value;
  return count;
}

TEST(ParamSpaceProperty, EnumeratesWhatHoldsInDeclaredOrder) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    const RandomSpace random(seed);
    const auto space = random.builder.build();
    std::vector<Config> expected;
    for (const auto& config : random.product()) {
      // why_invalid evaluates everything in declared order, without levels or sharing.
      if (!space.why_invalid(config)) expected.push_back(config);
      ASSERT_EQ(space.contains(config), !space.why_invalid(config).has_value());
    }
    ASSERT_EQ(all_of(space), expected) << "seed " << seed;
    ASSERT_EQ(space.count(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(space.at(i), expected[i]);
  }
}

TEST(ParamSpaceProperty, ContainsEverySampleAndEveryNeighbour) {
  int not_empty = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomSpace random(seed);
    const auto space = random.builder.build();
    const auto configs = all_of(space);
    const std::set<Config> set(configs.begin(), configs.end());
    const auto sample = space.sample(random.random);
    ASSERT_EQ(sample.has_value(), !set.empty());
    if (!sample) continue;
    ++not_empty;
    ASSERT_TRUE(set.contains(*sample));
    std::vector<Config> expected;
    for (const auto& config : configs) {
      if (differing(config, *sample) == 1) expected.push_back(config);
    }
    auto neighbours = space.neighbours(*sample);
    std::sort(neighbours.begin(), neighbours.end());
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(neighbours, expected) << "seed " << seed << " at " << sample->canonical();
  }
  EXPECT_GT(not_empty, 150);
}

TEST(ParamSpaceProperty, OneTunableIsReboundAsAllAre) {
  for (unsigned seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(seed);
    RandomSpace random(seed);
    const auto space = random.builder.build();
    for (const auto& config : random.product()) {
      const auto bindings = space.find_bindings(config);
      if (!bindings) continue;
      for (std::size_t i = 0; i < random.names.size(); ++i) {
        for (const auto value : random.tunables_values[i]) {
          Config changed = config;
          changed.set(random.names[i], value);
          const auto rebound = space.rebound(*bindings, random.names[i], value);
          ASSERT_EQ(rebound.has_value(), space.contains(changed)) << changed.canonical();
          if (!rebound) continue;
          ASSERT_EQ(*rebound, *space.find_bindings(changed)) << changed.canonical();
        }
      }
    }
  }
}

TEST(ParamSpaceProperty, DefaultIsTheFirstOfTheNearest) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const RandomSpace random(seed);
    const auto space = random.builder.build();
    Config defaults;
    for (const auto& tunable : space.tunables()) defaults.set(tunable.name, tunable.default_value);
    std::optional<Config> nearest;
    for (const auto& config : all_of(space)) {
      if (!nearest || differing(config, defaults) < differing(*nearest, defaults)) nearest = config;
    }
    ASSERT_EQ(space.default_config(), nearest) << "seed " << seed;
  }
}

}  // namespace
}  // namespace kiln
