// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/quantity.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "kiln/error.hpp"

namespace kiln::tools {
namespace {

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

TEST(Quantity, LimitsAreMoreThanNothingAndAtMostAYear) {
  EXPECT_DOUBLE_EQ(parse_limit_s("--budget", "45s"), 45.0);
  EXPECT_THROW((void)parse_limit_s("--budget", "0s"), Error);
  EXPECT_THROW((void)parse_limit_s("--candidate-timeout", "400d"), Error);
}

TEST(Duration, TakesEveryUnit) {
  EXPECT_DOUBLE_EQ(parse_duration_s("--budget", "500ms"), 0.5);
  EXPECT_DOUBLE_EQ(parse_duration_s("--budget", "45s"), 45.0);
  EXPECT_DOUBLE_EQ(parse_duration_s("--budget", "2m"), 120.0);
  EXPECT_DOUBLE_EQ(parse_duration_s("--budget", "1.5h"), 5400.0);
  EXPECT_DOUBLE_EQ(parse_duration_s("--budget", "30d"), 2592000.0);
}

TEST(Duration, RefusesWhatIsNoDuration) {
  for (const char* text :
       {"45", "", "s", "-1s", "1e3s", "45 s", "45sec", "nans", "infs", "99999999999999999d"}) {
    EXPECT_NE(error_of([&] { (void)parse_duration_s("--budget", text); }).find("--budget"),
              std::string::npos)
        << text;
  }
}

TEST(Bytes, TakesBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("--cubins", "0"), 0);
  EXPECT_EQ(parse_bytes("--cubins", "512KiB"), 512 * 1024);
  EXPECT_EQ(parse_bytes("--cubins", "1.5MiB"), 1572864);
  EXPECT_EQ(parse_bytes("--cubins", "2GB"), 2000000000);
}

TEST(Bytes, RefusesWhatIsNoSize) {
  for (const char* text : {"", "KiB", "-1", "5 MiB", "1mib", "9999999999TiB"}) {
    EXPECT_NE(error_of([&] { (void)parse_bytes("--cubins", text); }), "no error") << text;
  }
}

TEST(Choices, TakesListsAndSeveralTunables) {
  EXPECT_EQ(parse_choices("--set", {"tile_m=64,128", "stages=2"}),
            (Choices{{"tile_m", {64, 128}}, {"stages", {2}}}));
  EXPECT_EQ(parse_choices("--set", {"tile_m=64,tile_n=128,32"}),
            (Choices{{"tile_m", {64}}, {"tile_n", {128, 32}}}));
}

TEST(Choices, TakesCanonicalConfigurationText) {
  EXPECT_EQ(parse_choices("--set", {"stages=3 tile_k=32"}),
            (Choices{{"stages", {3}}, {"tile_k", {32}}}));
}

TEST(Choices, RefusesMalformedText) {
  EXPECT_NE(error_of([] { (void)parse_choices("--set", {"64"}); }).find("tile_m=64"),
            std::string::npos);
  EXPECT_NE(error_of([] { (void)parse_choices("--set", {"=64"}); }).find("name of a tunable"),
            std::string::npos);
  for (const char* choice : {"a=%", "a="}) {
    const std::string error = error_of([&] { (void)parse_choices("--set", {choice}); });
    EXPECT_NE(error.find("neither a number nor a name"), std::string::npos) << choice;
  }
  EXPECT_NE(error_of([] {
              (void)parse_choices("--set", {"a=1", "a=2"});
            }).find("twice"),
            std::string::npos);
}

TEST(SplitList, LeavesOutEmptyPieces) {
  EXPECT_EQ(split_list("a,,b,"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(split_list("/x:/y", ':'), (std::vector<std::string>{"/x", "/y"}));
  EXPECT_TRUE(split_list("").empty());
}

TEST(Choices, MoreThanATemplateHasAreRefused) {
  const auto refusal = [](const std::string& text) {
    try {
      (void)parse_choices("--set", {text});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  std::string many, values = "a=0";
  for (int i = 0; i < 10'000; ++i) {
    many += "t" + std::to_string(i) + "=1,";
    values += "," + std::to_string(i);
  }
  EXPECT_NE(refusal(many).find("more than 64 tunables"), std::string::npos);
  EXPECT_NE(refusal(values).find("a has too many values; give at most"), std::string::npos);
}

}  // namespace
}  // namespace kiln::tools
