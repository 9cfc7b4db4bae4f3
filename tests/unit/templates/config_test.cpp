// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/space/config.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "templates/space/tunable_value.hpp"
#include "tests/unit/templates/expect_error.hpp"

namespace kiln {
namespace {

using test::error_text;
using ::testing::HasSubstr;

TEST(Config, CanonicalTextIsSortedByName) {
  const Config config{{"tile_m", 128}, {"stages", 3}, {"offset", -1}};
  EXPECT_EQ(config.canonical(), "offset=-1 stages=3 tile_m=128");
  EXPECT_EQ(Config().canonical(), "");
}

TEST(Config, ParsesSpacesAndCommas) {
  const Config expected{{"a", 1}, {"b", 2}, {"c", 3}};
  EXPECT_EQ(Config::parse("a=1 b=2 c=3"), expected);
  EXPECT_EQ(Config::parse("c=3,b=2,a=1"), expected);
  EXPECT_EQ(Config::parse(" a=1,\t b=2 ,c=3\n"), expected);
  EXPECT_EQ(Config::parse(""), Config());
}

TEST(Config, ErrorsNameThePair) {
  const auto parse = [](const char* text) {
    return error_text(ErrorKind::usage, [&] { (void)Config::parse(text); });
  };
  EXPECT_THAT(parse("a=1 tile"), HasSubstr("\"tile\" has no '='"));
  EXPECT_THAT(parse("=4"), HasSubstr("no name"));
  EXPECT_THAT(parse("a=1 a=2"), HasSubstr("\"a=2\" repeats"));
  for (const char* text : {"a=", "a=1.5x", "a=four*"}) {
    EXPECT_THAT(parse(text), HasSubstr("has neither a number nor a name of at most 64 char"))
        << text;
  }
  EXPECT_THAT(parse("a=4294967297"), HasSubstr("\"a=4294967297\""));
  EXPECT_THAT(parse("a-b=1"), HasSubstr("letters"));
}

TEST(Config, HasNoMoreNamesThanAnyTemplate) {
  std::string text;
  for (int i = 0; i < 1025; ++i) text += " t" + std::to_string(i) + "=1";
  EXPECT_THAT(error_text(ErrorKind::usage, [&] { (void)Config::parse(text); }),
              HasSubstr("\"t1024=1\" is one pair too many (at most 1024 are allowed)"));
}

TEST(Config, AtNamesWhatIsMissing) {
  const Config config{{"a", 1}};
  EXPECT_EQ(config.at("a"), 1);
  EXPECT_EQ(config.find("b"), std::nullopt);
  EXPECT_THAT(error_text(ErrorKind::usage, [&] { (void)config.at("b"); }), HasSubstr("\"b\""));
}

rc::Gen<std::string> identifier() {
  return rc::gen::apply(
      [](char first, std::string rest) { return first + rest; },
      rc::gen::elementOf(std::string("abcxyz_ABZ")),
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("abz_AZ09"))));
}

RC_GTEST_PROP(ConfigProperty, ParseOfCanonicalIsIdentity, ()) {
  const auto values = *rc::gen::container<std::map<std::string, std::int64_t>>(
      identifier(), rc::gen::map(rc::gen::arbitrary<std::int32_t>(),
                                 [](std::int32_t value) { return std::int64_t{value}; }));
  Config config;
  for (const auto& [name, value] : values) {
    // A name where the number has one of its own.
    config.set(name,
               value % 3 == 0 ? value_of_name(fmt::format("x{}", value & 0xFFF)).value() : value);
  }
  RC_ASSERT(Config::parse(config.canonical()) == config);
}

RC_GTEST_PROP(ConfigProperty, AnyTextEitherParsesOrIsAUsageError, (const std::string& text)) {
  try {
    const Config config = Config::parse(text);
    RC_ASSERT(Config::parse(config.canonical()) == config);
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::usage);
  }
}

}  // namespace
}  // namespace kiln
