// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/space/space_repair.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/templates/space_builder.hpp"

namespace kiln {
namespace {

using test::SpaceBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<std::string> canonical_texts(const std::vector<Config>& configs) {
  std::vector<std::string> result;
  for (const Config& config : configs) result.push_back(config.canonical());
  return result;
}

ParamSpace small_space() {
  return SpaceBuilder()
      .tune("a", {0, 1, 2, 3})
      .tune("b", {0, 1, 2, 3})
      .tune("c", {0, 1})
      .let("sum", "a + b")
      .require("sum <= 3")
      .require("c == 0 || a == 0")
      .build();
}

TEST(SpaceRepair, WhatIsValidStays) {
  EXPECT_THAT(canonical_texts(small_space().repaired(Config::parse("a=1 b=2 c=0"), 3)),
              ElementsAre("a=1 b=2 c=0"));
}

TEST(SpaceRepair, EveryWayWithTheFewestChangesIsFound) {
  EXPECT_THAT(canonical_texts(small_space().repaired(Config::parse("a=1 b=1 c=1"), 3)),
              UnorderedElementsAre("a=0 b=1 c=1", "a=1 b=1 c=0"));
  EXPECT_THAT(canonical_texts(small_space().repaired(Config::parse("a=3 b=3 c=1"), 3)),
              UnorderedElementsAre("a=0 b=3 c=1"));
  EXPECT_THAT(canonical_texts(small_space().repaired(Config::parse("a=3 b=3 c=1"), 0)), IsEmpty());
}

TEST(SpaceRepair, WhatIsNoConfigurationOfTheSpaceIsNotRepaired) {
  EXPECT_THAT(small_space().repaired(Config::parse("a=1 b=1"), 3), IsEmpty());
  EXPECT_THAT(small_space().repaired(Config::parse("a=1 b=7 c=0"), 3), IsEmpty());
}

RC_GTEST_PROP(SpaceRepair, FindsWhatTryingEverythingFinds, ()) {
  const auto number = [](std::int64_t below) { return *rc::gen::inRange<std::int64_t>(0, below); };
  SpaceBuilder builder;
  builder.fix("x", number(4));
  const std::vector<std::string> names{"a", "b", "c", "d"};
  for (const std::string& name : names) builder.tune(name, {0, 1, 2});
  builder.let("s", "a + 2 * b + x");
  for (const char* text : {"s % 3 != 1", "c <= d", "a != b", "c + x != 2", "d * s < 6"}) {
    if (number(2) == 1) builder.require(text);
  }
  const ParamSpace space = builder.build();
  Config config;
  for (const std::string& name : names) config.set(name, number(3));
  const auto changes = [&](const Config& other) {
    return std::count_if(names.begin(), names.end(), [&](const std::string& name) {
      return config.at(name) != other.at(name);
    });
  };
  std::vector<Config> best;
  space.for_each([&](const Config& other) {
    if (!best.empty() && changes(other) < changes(best.front())) best.clear();
    if (best.empty() || changes(other) == changes(best.front())) best.push_back(other);
    return true;
  });
  if (!best.empty() && changes(best.front()) > 3) best.clear();
  std::vector<Config> found = space.repaired(config, 3);
  std::sort(found.begin(), found.end());
  std::sort(best.begin(), best.end());
  RC_ASSERT(found == best);
}

}  // namespace
}  // namespace kiln
