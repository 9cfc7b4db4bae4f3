// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/space/param_space.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <limits>
#include <map>
#include <thread>

#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/space_builder.hpp"

namespace kiln {
namespace {

using test::all_of;
using test::error_text;
using test::range;
using test::SpaceBuilder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> texts(const std::vector<Config>& configs) {
  std::vector<std::string> result;
  for (const auto& config : configs) result.push_back(config.canonical());
  return result;
}

SpaceBuilder small_builder() {
  return SpaceBuilder()
      .fix("limit", 8)
      .tune("a", {1, 2, 4}, 4)
      .tune("b", {4, 2, 1}, 4)
      .let("area", "a * b")
      .require("area <= limit", "the area must fit")
      .require("a != 1 || b != 1");
}

TEST(ParamSpace, EnumeratesInDeclaredOrder) {
  const auto space = small_builder().build();
  EXPECT_THAT(texts(all_of(space)), ElementsAre("a=1 b=4", "a=1 b=2", "a=2 b=4", "a=2 b=2",
                                                "a=2 b=1", "a=4 b=2", "a=4 b=1"));
  EXPECT_EQ(space.raw_size(), 9U);
  EXPECT_EQ(space.count(), 7U);
}

TEST(ParamSpace, AtIsTheOrderOfEnumeration) {
  const auto space = small_builder().build();
  const auto configs = all_of(space);
  for (std::size_t i = 0; i < configs.size(); ++i) EXPECT_EQ(space.at(i), configs[i]);
  EXPECT_THAT(error_text(ErrorKind::usage, [&] { (void)space.at(7); }), HasSubstr("index 7"));
}

TEST(ParamSpace, StopsWhenToldTo) {
  int visits = 0;
  small_builder().build().for_each([&](const Config&) { return ++visits < 3; });
  EXPECT_EQ(visits, 3);
}

TEST(ParamSpace, SaysWhatToDoForASizeThatATunableDoesNotList) {
  const auto space = SpaceBuilder()
                         .fix("width", 512)
                         .tune("W", {1024, 4096})
                         .tune("a", {1, 2})
                         .require("W == width", "compiled for this width")
                         .build();
  EXPECT_EQ(space.why_empty(),
            "W == width does not hold with width = 512, W = 1024: compiled for this width (so the "
            "default configuration is invalid; all others are invalid for the same reason). Next: "
            "add 512 to the values of W in the template, or choose a problem with width = 1024 or "
            "4096");
  const auto other = SpaceBuilder().tune("W", {1, 2}).tune("a", {4}).require("W == a").build();
  EXPECT_THAT(other.why_empty().value(), Not(HasSubstr("Next:"))) << "a is no size";
}

TEST(ParamSpace, SaysWhyAConfigurationIsInvalid) {
  const auto space = small_builder().build();
  const auto why = [&](const char* text) {
    return space.why_invalid(Config::parse(text)).value_or("valid");
  };
  EXPECT_EQ(why("a=2 b=4"), "valid");
  EXPECT_EQ(why("a=4 b=4"),
            "area <= limit does not hold with limit = 8, area = 16: the area must fit");
  EXPECT_THAT(why("a=1 b=1"), AllOf(StartsWith("a != 1 || b != 1 "), EndsWith("a = 1, b = 1")));
  EXPECT_EQ(why("a=3 b=1"), "a cannot be 3; its values are 1 2 4");
  EXPECT_EQ(why("a=2"), "b has no value");
  EXPECT_EQ(why("a=2 b=4 bb=1"), "there is no tunable \"bb\"; there are a, b");
  EXPECT_TRUE(space.contains(Config::parse("a=2 b=4")));
  EXPECT_FALSE(space.contains(Config::parse("a=4 b=4")));
  EXPECT_FALSE(space.contains(Config::parse("a=2 b=4 c=1")));
  EXPECT_FALSE(space.contains(Config()));
}

TEST(ParamSpace, UndefinedMeansInvalid) {
  const auto divides = SpaceBuilder().tune("a", {0, 1, 2}).let("q", "10 / a").build();
  EXPECT_THAT(texts(all_of(divides)), ElementsAre("a=1", "a=2"));
  EXPECT_THAT(divides.why_invalid(Config{{"a", 0}}).value(), HasSubstr("q = 10 / a is undefined"));
  const auto requires_it = SpaceBuilder().tune("a", {0, 1, 2}).require("10 % a == 0").build();
  EXPECT_EQ(requires_it.count(), 2U);
}

TEST(ParamSpace, WhatMentionsNoTunableCanEmptyIt) {
  const auto space =
      SpaceBuilder().fix("sm", 70).tune("a", {1, 2}).require("sm >= 80", "needs cp.async").build();
  EXPECT_EQ(space.count(), 0U);
  EXPECT_TRUE(all_of(space).empty());
  EXPECT_EQ(space.default_config(), std::nullopt);
  std::mt19937_64 random(1);
  EXPECT_EQ(space.sample(random), std::nullopt);
  EXPECT_THAT(space.why_impossible().value_or(""),
              AllOf(StartsWith("sm >= 80 "), EndsWith("sm = 70: needs cp.async")));
  EXPECT_FALSE(space.contains(Config{{"a", 1}}));
  EXPECT_EQ(small_builder().build().why_impossible(), std::nullopt);
}

TEST(ParamSpace, SaysWhyNothingIsValid) {
  const auto alone = SpaceBuilder()
                         .fix("m", 1000)
                         .tune("a", {1, 2})
                         .tune("b", {3, 4})
                         .require("a < b")
                         .require("m / a <= 400", "too many blocks")
                         .build();
  EXPECT_THAT(alone.why_empty().value(),
              AllOf(StartsWith("m / a <= 400 "),
                    EndsWith(" m = 1000, a = 1: too many blocks (so the default configuration "
                             "is invalid; all others are invalid for the same reason)")));
  const auto between = SpaceBuilder().tune("a", {1, 2}).require("a == 2").require("a == 1").build();
  EXPECT_THAT(between.why_empty().value(),
              AllOf(HasSubstr("a == 2 "), HasSubstr("a = 1"), HasSubstr("the reason can differ")));
  const auto undefined = SpaceBuilder().tune("a", {1, 2}).let("q", "a / 0").build();
  EXPECT_THAT(undefined.why_empty().value(), HasSubstr("q = a / 0"));
  EXPECT_EQ(small_builder().build().why_empty(), std::nullopt);
}

TEST(ParamSpace, NoTunablesIsOneConfiguration) {
  const auto space = SpaceBuilder().fix("m", 1).build();
  EXPECT_EQ(space.count(), 1U);
  EXPECT_EQ(space.raw_size(), 1U);
  EXPECT_THAT(texts(all_of(space)), ElementsAre(""));
  EXPECT_EQ(space.default_config(), Config());
}

TEST(ParamSpace, NeighboursDifferInOneTunable) {
  const auto space = small_builder().build();
  EXPECT_THAT(texts(space.neighbours(Config::parse("a=2 b=2"))),
              ElementsAre("a=1 b=2", "a=4 b=2", "a=2 b=4", "a=2 b=1"));
  EXPECT_THAT(error_text(ErrorKind::usage,
                         [&] {
                           (void)space.neighbours(Config{{"a", 1}});
                         }),
              HasSubstr("b has no value"));
}

TEST(ParamSpace, DefaultMovesAsFewTunablesAsItMust) {
  // 4 x 4 is too large; the first in declared order that moves one tunable is a = 1.
  EXPECT_EQ(small_builder().build().default_config(), Config::parse("a=1 b=4"));
  const auto good = SpaceBuilder().tune("a", {1, 2}, 2).tune("b", {1, 2}, 1).build();
  EXPECT_EQ(good.default_config(), Config::parse("a=2 b=1"));
  const auto far = SpaceBuilder()
                       .tune("a", {0, 1})
                       .tune("b", {0, 1})
                       .tune("c", {0, 1})
                       .require("a + b + c >= 2")
                       .build();
  EXPECT_EQ(far.default_config(), Config::parse("a=0 b=1 c=1"));
}

TEST(ParamSpace, ANearDefaultTakesFewChanges) {
  EXPECT_EQ(small_builder().build().near_default(), Config::parse("a=1 b=4"));
  SpaceBuilder five;
  for (const char* name : {"a", "b", "c", "d", "e"}) five.tune(name, {0, 1});
  const SpaceBuilder all = SpaceBuilder(five).require("a + b + c + d + e == 5");
  EXPECT_EQ(all.build().near_default(), std::nullopt);
  EXPECT_EQ(all.build().default_config(), Config::parse("a=1 b=1 c=1 d=1 e=1"));
  // What is preferred is too far, so what is valid has to do.
  const auto preferring = SpaceBuilder(five).prefer("a + b + c + d + e == 5").build();
  EXPECT_EQ(preferring.near_default(), Config::parse("a=0 b=0 c=0 d=0 e=0"));
  EXPECT_EQ(preferring.default_config(), Config::parse("a=1 b=1 c=1 d=1 e=1"));
}

TEST(ParamSpace, BindingsHoldAllNames) {
  const auto builder = small_builder();
  const auto space = builder.build();
  const auto values = space.bindings(Config::parse("a=2 b=4"));
  const auto value = [&](std::string_view name) {
    return values[static_cast<std::size_t>(builder.names().find(name))];
  };
  EXPECT_EQ(value("limit"), 8);
  EXPECT_EQ(value("a"), 2);
  EXPECT_EQ(value("b"), 4);
  EXPECT_EQ(value("area"), 8);
  EXPECT_THAT(error_text(ErrorKind::usage, [&] { (void)space.bindings(Config::parse("a=4 b=4")); }),
              HasSubstr("area <= limit"));
}

TEST(ParamSpace, OnlyListedValuesOfItsTunablesAreRebound) {
  const auto space = small_builder().build();
  const auto bindings = space.bindings(Config::parse("a=2 b=4"));
  EXPECT_EQ(space.rebound(bindings, "a", 3), std::nullopt);
  EXPECT_THAT(error_text(ErrorKind::usage, [&] { (void)space.rebound(bindings, "c", 1); }),
              HasSubstr("\"c\""));
}

TEST(ParamSpace, NarrowsAndKeepsTheRest) {
  const auto space = small_builder().build();
  const auto narrow = space.narrowed({{"a", {2, 1}}});
  EXPECT_THAT(texts(all_of(narrow)),
              ElementsAre("a=1 b=4", "a=1 b=2", "a=2 b=4", "a=2 b=2", "a=2 b=1"));
  EXPECT_EQ(narrow.tunables()[0].default_value, 1);
  EXPECT_EQ(narrow.tunables()[1].default_value, 4);
  EXPECT_EQ(space.narrowed({}).count(), space.count());
  const auto why = [&](std::string name, std::vector<std::int64_t> values) {
    return error_text(ErrorKind::usage, [&] { (void)space.narrowed({{name, values}}); });
  };
  EXPECT_THAT(why("c", {1}), HasSubstr("\"c\""));
  EXPECT_THAT(why("a", {3}), AllOf(StartsWith("a "), HasSubstr(" 3;"), EndsWith(" 1 2 4")));
  EXPECT_THAT(why("a", {}), HasSubstr("no value remains for a"));
}

TEST(ParamSpace, CountsWithoutEnumerating) {
  SpaceBuilder builder;
  for (int i = 0; i < 15; ++i) builder.tune(fmt::format("t{}", i), range(0, 15));
  for (int i = 1; i < 15; ++i) builder.require(fmt::format("t{} >= t{}", i, i - 1));
  const auto space = builder.build();
  // Ascending sequences of 15 out of 16 values: 30 choose 15 of a raw 2^60.
  EXPECT_EQ(space.raw_size(), std::uint64_t{1} << 60);
  EXPECT_EQ(space.count(), 155117520U);
  EXPECT_TRUE(space.contains(space.at(100000000)));
}

TEST(ParamSpace, SizesSaturate) {
  SpaceBuilder builder;
  for (int i = 0; i < 20; ++i) builder.tune(fmt::format("t{}", i), range(0, 15));
  const auto space = builder.build();
  EXPECT_EQ(space.raw_size(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(space.count(), std::numeric_limits<std::uint64_t>::max());
  std::mt19937_64 random(3);
  EXPECT_TRUE(space.sample(random).has_value());
}

/// Ten million raw points, ten thousand and some valid ones, tied far apart and close by.
SpaceBuilder large_builder() {
  SpaceBuilder builder;
  for (const auto* name : {"a", "b", "c", "d", "e", "f", "g"}) builder.tune(name, range(1, 10));
  return builder.require("a % b == 0")
      .require("a * g % 12 == 0")
      .require("c <= d && d <= e")
      .require("(b + d) % 4 == 0")
      .require("e * f <= 20")
      .require("f != g");
}

std::uint64_t brute_force_count() {
  std::uint64_t valid = 0;
  for (int a = 1; a <= 10; ++a) {
    for (int b = 1; b <= 10; ++b) {
      for (int g = 1; a % b == 0 && g <= 10; ++g) {
        for (int d = 1; a * g % 12 == 0 && d <= 10; ++d) {
          for (int c = 1; (b + d) % 4 == 0 && c <= d; ++c) {
            for (int e = d; e <= 10; ++e) {
              for (int f = 1; f <= 10; ++f) valid += e * f <= 20 && f != g;
            }
          }
        }
      }
    }
  }
  return valid;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kInstrumented = true;
#else
constexpr bool kInstrumented = false;
#endif

TEST(ParamSpace, EnumeratesTenMillionPointsQuickly) {
  // Processor time: the machine may have other work.
  const std::clock_t start = std::clock();
  const auto space = large_builder().build();
  std::uint64_t visited = 0;
  space.for_each([&](const Config&) {
    ++visited;
    return true;
  });
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_EQ(space.raw_size(), 10000000U);
  EXPECT_EQ(visited, brute_force_count());
  EXPECT_GT(visited, 5000U);
  EXPECT_LT(visited, 50000U);
  EXPECT_LT(seconds, kInstrumented ? 10.0 : 1.0);
}

TEST(ParamSpace, OneRequirementOverEverythingIsNoWorseThanEnumeration) {
  SpaceBuilder builder;
  for (const auto* name : {"a", "b", "c", "d", "e"}) builder.tune(name, range(1, 12));
  const auto space = builder.require("(a + 2 * b + 3 * c + 5 * d + 7 * e) % 25 == 0").build();
  std::uint64_t valid = 0;
  for (int i = 0; i < 248832; ++i) {
    const int sum = (i % 12 + 1) + 2 * (i / 12 % 12 + 1) + 3 * (i / 144 % 12 + 1) +
                    5 * (i / 1728 % 12 + 1) + 7 * (i / 20736 + 1);
    valid += sum % 25 == 0;
  }
  EXPECT_EQ(space.count(), valid);
}

TEST(ParamSpace, SamplesUniformly) {
  // A lopsided space: a=0 has one completion, a=3 has 64.
  const auto space = SpaceBuilder()
                         .tune("a", range(0, 3))
                         .tune("b", range(0, 7))
                         .tune("c", range(0, 7))
                         .require("a == 3 || b <= a && c <= a")
                         .build();
  const auto count = space.count();
  ASSERT_EQ(count, 1U + 4U + 9U + 64U);
  std::map<Config, int> seen;
  std::mt19937_64 random(20260101);
  const int draws = 100 * static_cast<int>(count);
  for (int i = 0; i < draws; ++i) {
    const auto config = space.sample(random);
    ASSERT_TRUE(config && space.contains(*config));
    ++seen[*config];
  }
  EXPECT_EQ(seen.size(), count);
  double chi_square = 0.0;
  for (const auto& [config, times] : seen) {
    chi_square += (times - 100.0) * (times - 100.0) / 100.0;
  }
  // 77 degrees of freedom: mean 77, standard deviation 12.4; 125 is the 99.95 % point.
  EXPECT_LT(chi_square, 125.0);
  EXPECT_GT(chi_square, 35.0);
}

TEST(ParamSpace, SamplesTheSameForASeed) {
  const auto space = large_builder().build();
  std::mt19937_64 first(7), second(7);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(space.sample(first), space.sample(second));
}

TEST(ParamSpace, IsSharedBetweenThreads) {
  const auto space = large_builder().build();
  std::vector<std::uint64_t> counts(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    threads.emplace_back([&, copy = space, i] {
      std::mt19937_64 random(i);
      const auto config = copy.sample(random);
      counts[i] = config && copy.contains(*config) ? copy.count() : 0;
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto count : counts) EXPECT_EQ(count, space.count());
}

TEST(ParamSpace, PreferencesCutNothingAway) {
  const auto space = SpaceBuilder()
                         .tune("x", range(1, 10))
                         .tune("y", range(1, 10), 9)
                         .require("x <= y")
                         .prefer("x * y >= 50")
                         .prefer("y != 9")
                         .build();
  EXPECT_TRUE(space.has_preferences());
  EXPECT_EQ(space.count(), 55U);
  const auto preferred = space.preferred();
  EXPECT_FALSE(preferred.has_preferences());
  std::uint64_t expected = 0;
  space.for_each([&](const Config& config) {
    const auto x = config.at("x");
    const auto y = config.at("y");
    const bool wanted = x * y >= 50 && y != 9;
    EXPECT_EQ(preferred.contains(config), wanted) << config.canonical();
    if (wanted) ++expected;
    return true;
  });
  EXPECT_GT(expected, 0U);
  EXPECT_EQ(preferred.count(), expected);
}

// The defaults x=1, y=9 are valid, but not preferred.
TEST(ParamSpace, TheDefaultIsPreferredIfAnyIs) {
  SpaceBuilder builder;
  builder.tune("x", range(1, 10)).tune("y", range(1, 10), 9).require("x <= y");
  EXPECT_EQ(builder.build().default_config().value(), (Config{{"x", 1}, {"y", 9}}));
  const auto one = SpaceBuilder(builder).prefer("x * y == 45").build().default_config().value();
  EXPECT_EQ(one, (Config{{"x", 5}, {"y", 9}}));
  EXPECT_TRUE(SpaceBuilder(builder).prefer("x > y").build().default_config().has_value())
      << "nothing is preferred, but much is valid";
  const auto narrowed =
      SpaceBuilder(builder).prefer("x * y == 45").build().narrowed({{"y", {9, 10}}, {"x", {4}}});
  EXPECT_EQ(narrowed.default_config().value(), (Config{{"x", 4}, {"y", 9}}));
}

}  // namespace
}  // namespace kiln
