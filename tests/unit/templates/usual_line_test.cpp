// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Configurations that a template calls usual.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "templates/kernel_template.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/row_operation.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::kTinyTemplate;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// The tiny template with `lines` above those of its launch, the first of them in line 21, and with
/// a tunable at launch.
std::string with_usual(const std::string& lines) {
  std::string text(kTinyTemplate);
  text.insert(text.find("//@ launch"), lines);
  return text + "struct TinyLaunch {  //@ at launch\n  int splits;  //@ tune 1* 2 4\n};\n";
}

std::vector<Config> usual_of(const std::string& lines) {
  return KernelTemplate::parse("tiny.cu", with_usual(lines)).space_spec().usual;
}

/// The error of one line `usual`, whose text begins in column 11.
std::string usual_error(const std::string& text) {
  return error_text(ErrorKind::template_, [&] { (void)usual_of("//@ usual " + text + "\n"); });
}

TEST(UsualLine, OthersHaveTheirDefaults) {
  EXPECT_THAT(usual_of(""), IsEmpty());
  EXPECT_THAT(usual_of("//@ usual tile_m=128   // for many rows\n"),
              ElementsAre(Config{{"splits", 1}, {"tile_m", 128}, {"tile_n", 32}}));
  EXPECT_THAT(usual_of("//@ usual tile_n=64, tile_m=64\n"),
              ElementsAre(Config{{"splits", 1}, {"tile_m", 64}, {"tile_n", 64}}));
}

// The struct at launch is the last thing in the file.
TEST(UsualLine, NamesTunablesBelowItAndThoseAtLaunch) {
  EXPECT_THAT(usual_of("//@ usual splits=4\n"),
              ElementsAre(Config{{"splits", 4}, {"tile_m", 64}, {"tile_n", 32}}));
  std::string text = with_usual("");
  text.insert(text.find("//@ arch"), "//@ usual tile_m=32 splits=2\n");
  EXPECT_THAT(KernelTemplate::parse("tiny.cu", text).space_spec().usual,
              ElementsAre(Config{{"splits", 2}, {"tile_m", 32}, {"tile_n", 32}}));
}

TEST(UsualLine, MacrosAreTunablesToo) {
  static_cast<void>(test::row_operation());
  std::string text(test::kRowTemplate);
  text.insert(text.find("//@ tune"), "//@ usual block_size=64\n");
  EXPECT_THAT(KernelTemplate::parse("row.cu", text).space_spec().usual,
              ElementsAre(Config{{"block_size", 64}, {"shift", -1}}));
}

TEST(UsualLine, ContinuesOnTheNextLine) {
  EXPECT_THAT(usual_of("//@ usual tile_m=128   // for many rows\n"
                       "//@       tile_n=64     // and columns\n"),
              ElementsAre(Config{{"splits", 1}, {"tile_m", 128}, {"tile_n", 64}}));
}

TEST(UsualLine, SeveralKeepTheirOrder) {
  EXPECT_THAT(usual_of("//@ usual tile_m=128\n"
                       "//@ usual tile_m=32\n"
                       "//@ prefer tile_m >= 64\n"
                       "//@ usual tile_n=64\n"),
              ElementsAre(Config{{"splits", 1}, {"tile_m", 128}, {"tile_n", 32}},
                          Config{{"splits", 1}, {"tile_m", 32}, {"tile_n", 32}},
                          Config{{"splits", 1}, {"tile_m", 64}, {"tile_n", 64}}));
}

TEST(UsualLine, AlternativesAreCombined) {
  EXPECT_THAT(usual_of("//@ usual tile_m=128|32 splits=2 tile_n=32|64\n"),
              ElementsAre(Config{{"splits", 2}, {"tile_m", 128}, {"tile_n", 32}},
                          Config{{"splits", 2}, {"tile_m", 128}, {"tile_n", 64}},
                          Config{{"splits", 2}, {"tile_m", 32}, {"tile_n", 32}},
                          Config{{"splits", 2}, {"tile_m", 32}, {"tile_n", 64}}));
}

// A requirement may hold for some problems only; what it forbids is changed for those.
TEST(UsualLine, RequirementsDoNotMatter) {
  EXPECT_THAT(usual_of("//@ usual tile_m=32 tile_n=64\n"),
              ElementsAre(Config{{"splits", 1}, {"tile_m", 32}, {"tile_n", 64}}));
}

TEST(UsualLineError, NoTunable) {
  EXPECT_THAT(usual_error("tile_m=128 tile_k=64"),
              AllOf(StartsWith("tiny.cu:21:22: \"tile_k\" is not a tunable of this template"),
                    EndsWith("\"tile_m\"?\n"
                             "  //@ usual tile_m=128 tile_k=64\n"
                             "                       ^")));
  EXPECT_THAT(usual_error("threads=64"),
              AllOf(StartsWith("tiny.cu:21:11:"), HasSubstr("\"threads\"")))
      << "a let follows from the tunables";
  EXPECT_THAT(usual_error("tile_m=128 m=64"), StartsWith("tiny.cu:21:22: \"m\""))
      << "not the end of a longer name before it";
}

TEST(UsualLineError, NotAmongTheValues) {
  EXPECT_THAT(
      usual_error("tile_n=64 tile_m=48"),
      StartsWith("tiny.cu:21:21: 48 is not a value of tile_m; the values are: 32 64 128\n"));
  EXPECT_THAT(usual_error("tile_m=128\n//@       tile_n=128"), StartsWith("tiny.cu:22:11: 128 "))
      << "on the line that continues it";
  EXPECT_THAT(usual_error("tile_n=64 tile_m=32|48"), StartsWith("tiny.cu:21:21: 48 "));
}

TEST(UsualLineError, TooManyCombinations) {
  std::string text = with_usual("//@ usual tile_m=32|64|128 tile_n=32|64 splits=1|2|4\n");
  EXPECT_THAT(
      error_text(ErrorKind::template_, [&] { (void)KernelTemplate::parse("tiny.cu", text); }),
      StartsWith(
          "tiny.cu:21:41: this line describes 18 configurations, but at most 16 are allowed\n"));
}

TEST(UsualLineError, Malformed) {
  EXPECT_THAT(usual_error(""), HasSubstr("\"usual\" needs a value"));
  EXPECT_THAT(usual_error(","), HasSubstr("\"usual name=value"));
  EXPECT_THAT(usual_error("tile_m"), AllOf(StartsWith("tiny.cu:21:11:"), HasSubstr("\"tile_m\"")));
  EXPECT_THAT(usual_error("tile_n=64 tile_m="),
              AllOf(StartsWith("tiny.cu:21:21:"), HasSubstr("\"tile_m=\"")));
  EXPECT_THAT(usual_error("tile_m=x"), AllOf(StartsWith("tiny.cu:21:11:"), HasSubstr("32 64 128")));
  EXPECT_THAT(usual_error("tile_m = 128"),
              AllOf(StartsWith("tiny.cu:21:11:"), HasSubstr("\"tile_m\"")));
  EXPECT_THAT(
      usual_error("tile_m=32 tile_m=64"),
      StartsWith("tiny.cu:21:21: \"tile_m\" appears twice in this line; remove one of the two\n"));
  EXPECT_THAT(usual_error("tile_m=32|64|32"), StartsWith("tiny.cu:21:11: 32 is given twice\n"));
  EXPECT_THAT(usual_error("tile_m=32|"), HasSubstr("\"tile_m=\""));
  EXPECT_THAT(usual_error("tile_m|tile_n=32"),
              HasSubstr("\"tile_m|tile_n=32\" has an invalid name"));
}

}  // namespace
}  // namespace kiln
