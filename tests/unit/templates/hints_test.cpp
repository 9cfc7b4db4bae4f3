// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Files beside templates that guide the search, NAME.hints.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "templates/catalog.hpp"
#include "templates/launch/launch_planner.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/operation/judge.hpp"
#include "templates/render/renderer.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/row_operation.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::kTinyTemplate;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const Config kHintsDefault{{"tile_m", 64}, {"tile_n", 32}};

DeviceLimits device_of_hints() {
  return limits_of_arch("90a").value();
}
Problem problem_of_hints() {
  return to_problem(Gemm::of(DType::f16, 100, 70, 64));
}

/// The tiny template with hints beside it, in a folder of the template path.
class HintsTest : public ::testing::Test {
 protected:
  HintsTest() {
    folder.write("tiny.cu", kTinyTemplate);
    folder.write("helper.cuh", "");
  }
  [[nodiscard]] Catalog open() const { return Catalog::with_directories({folder.path()}); }
  [[nodiscard]] Catalog open_with(std::string_view hints) const {
    folder.write("tiny.hints", hints);
    return open();
  }
  /// The error of hints, from the file's name on.
  [[nodiscard]] std::string error_of(std::string_view hints) const {
    const std::string text =
        error_text(ErrorKind::template_, [&] { static_cast<void>(open_with(hints)); });
    return text.substr(std::min(text.find("tiny.hints"), text.size()));
  }

  TemporaryFolder folder;
};
using HintsErrorTest = HintsTest;

ParamSpace space_with_hints(const Catalog& catalog) {
  return catalog.at("tiny").space(problem_of_hints(), device_of_hints());
}

TEST_F(HintsTest, PreferOrdersTheSearch) {
  EXPECT_FALSE(space_with_hints(open()).has_preferences());
  const Catalog catalog = open_with("//@ prefer tile_m == 128   // reuse\n");
  const ParamSpace space = space_with_hints(catalog);
  EXPECT_EQ(space.default_config(), (Config{{"tile_m", 128}, {"tile_n", 32}}));
  EXPECT_EQ(space.preferred().count(), 2U);
  EXPECT_EQ(space.count(), space_with_hints(Catalog::with_directories({folder.path()})).count());
  EXPECT_TRUE(space.contains(kHintsDefault)) << "less wanted, but valid";
}

TEST_F(HintsTest, UsualAndCostAddToThoseOfTheTemplate) {
  folder.write("tiny.cu", std::string(kTinyTemplate) +
                              "//@ usual tile_m=32\n"
                              "//@ cost fp32 = tile_m\n");
  const Catalog catalog = open_with(
      "//@ usual tile_m=128\n"
      "//@ cost waits = tile_n +\n"
      "//@              1\n");
  const KernelTemplate& tiny = catalog.at("tiny");
  EXPECT_THAT(tiny.space_spec().usual, ElementsAre(Config{{"tile_m", 32}, {"tile_n", 32}},
                                                   Config{{"tile_m", 128}, {"tile_n", 32}}));
  const auto costs =
      LaunchPlanner(tiny, problem_of_hints(), device_of_hints()).costs(kHintsDefault);
  ASSERT_EQ(costs.size(), 2U);
  EXPECT_EQ(costs[0].value, 64);
  EXPECT_EQ(costs[1].value, 33);
}

TEST_F(HintsTest, ACatalogReadsThemAgain) {
  EXPECT_EQ(open_with("//@ usual tile_m=32\n").at("tiny").space_spec().usual.size(), 1U);
  EXPECT_EQ(open_with("//@ usual tile_m=32|128\n").at("tiny").space_spec().usual.size(), 2U);
  std::filesystem::remove(folder.path() + "/tiny.hints");
  EXPECT_THAT(open().at("tiny").space_spec().usual, IsEmpty());
}

TEST_F(HintsTest, EditsChangeNoDigestAndNoRenderedText) {
  const auto rendered = [](const Catalog& catalog) {
    return render(catalog, catalog.at("tiny"), kHintsDefault, problem_of_hints(),
                  device_of_hints());
  };
  const Catalog without = open();
  for (const char* hints : {"", "//@ prefer tile_m == 128\n", "//@ cost fp32 = 2\n// cheap\n",
                            "//@ cost let half = tile_m / 2\n//@ prefer half > tile_n\n"}) {
    const Catalog with = open_with(hints);
    EXPECT_EQ(with.digest("tiny"), without.digest("tiny")) << hints;
    EXPECT_EQ(rendered(with).digest, rendered(without).digest) << hints;
    EXPECT_EQ(rendered(with).text, rendered(without).text) << hints;
  }
}

TEST_F(HintsTest, EditsChangeNoJudgeOfADeclaredOperation) {
  folder.write("row.cu", test::kRowTemplate);
  folder.write("row_operation.cu", test::kRowOperation);
  const Catalog without = open();
  folder.write("row.hints", "//@ prefer block_size > 64\n");
  const Catalog with = open();
  EXPECT_EQ(with.at("row_plain").space_spec().preferences.size(), 1U);
  EXPECT_EQ(with.digest("row_plain"), without.digest("row_plain"));
  EXPECT_EQ(judge_digest(*with.operations().find("row_scale")),
            judge_digest(*without.operations().find("row_scale")));
}

TEST_F(HintsTest, ATemplateThatReplacesABuiltInOneTakesNoneOfItsHints) {
  std::string text(kTinyTemplate);
  const std::string line = "//@ template   tiny";
  text.replace(text.find(line), line.size(), "//@ template   gemm_naive");
  folder.write("gemm_naive.cu", text);
  EXPECT_THAT(open().at("gemm_naive").cost_lines(), IsEmpty());
}

TEST_F(HintsTest, PreferMentionsValuesOfCostLinesAboveIt) {
  const Catalog catalog = open_with(
      "//@ cost let rows = tile_m / 64\n"
      "//@ cost let twice = 2 * rows   // of those above\n"
      "//@ cost let unused = 1 / (tile_m - 128)\n"
      "//@ prefer twice == 4\n"
      "//@ cost fp32 = twice\n");
  const ParamSpace space = space_with_hints(catalog);
  EXPECT_EQ(space.preferred().count(), 2U) << "what it does not mention does not matter";
  EXPECT_EQ(space.default_config(), (Config{{"tile_m", 128}, {"tile_n", 32}}));
  const ParamSpace narrow = space.narrowed({{"tile_n", {64}}});
  EXPECT_EQ(narrow.default_config(), (Config{{"tile_m", 128}, {"tile_n", 64}}));
}

// Else an edit would decide which stored results hold.
TEST_F(HintsTest, AnUndefinedValueForbidsNothing) {
  const Catalog without = open();
  const Catalog with = open_with(
      "//@ cost let share = 64 / (tile_m - 64)\n"
      "//@ prefer share >= 1\n");
  const ParamSpace space = space_with_hints(with);
  EXPECT_EQ(space.count(), space_with_hints(without).count());
  EXPECT_TRUE(space.contains(kHintsDefault));
  EXPECT_FALSE(space.preferred().contains(kHintsDefault));
  const auto bindings = space.bindings(kHintsDefault);
  EXPECT_TRUE(space.preferred().rebound(bindings, "tile_m", 128).has_value());
}

TEST_F(HintsTest, WhatCannotBeReadIsLeftOutWithAWarning) {
  std::filesystem::create_symlink("tiny.hints", folder.path() + "/tiny.hints");
  const Catalog catalog = open();
  EXPECT_THAT(catalog.left_out(),
              ElementsAre(AllOf(HasSubstr(folder.path() + "/tiny.hints"), HasSubstr("links"))));
  EXPECT_NE(catalog.find("tiny"), nullptr);
}

TEST_F(HintsTest, AreNoSecondComplaintAboutATemplateThatCannotBeRead) {
  folder.write("tiny.hints", "//@ prefer m > 1\n");
  folder.write("tiny.cu", "\xFF\xFE not text");
  const Catalog catalog = Catalog::with_sound_files({folder.path()});
  ASSERT_EQ(catalog.broken().size(), 1U);
  EXPECT_THAT(catalog.broken()[0].error.what(), HasSubstr("tiny.cu"));
}

TEST_F(HintsErrorTest, StatementsOfOtherKindsBelongInTheTemplate) {
  EXPECT_THAT(error_of("//@ prefer m > 1\n//@ require m > 1\n"),
              AllOf(StartsWith("tiny.hints:2:5: \"require\" lines are not allowed in a hints file; "
                               "write this line in "),
                    HasSubstr("tiny.cu. Only these lines can be in a hints file: prefer, usual, "
                              "cost\n  //@ require m > 1\n")));
  EXPECT_THAT(error_of("//@ let wide = 2\n"),
              AllOf(StartsWith("tiny.hints:1:5: "), HasSubstr("\"let\"")));
  EXPECT_THAT(error_of("//@ cots fp32 = 1\n"),
              AllOf(StartsWith("tiny.hints:1:5: "), HasSubstr("\"cots\"")));
}

// Such a line would have no effect, and nobody would notice.
TEST_F(HintsErrorTest, EveryLineIsAStatementOrAComment) {
  EXPECT_EQ(error_of("// of rows\n\nprefer m > 1\n"),
            "tiny.hints:3:1: expected here: a comment (\"//\") or one of these \"//@\" lines: "
            "prefer, usual, cost\n  prefer m > 1\n  ^");
  EXPECT_THAT(error_of("//@ prefer m > 1\n  # rows\n"),
              StartsWith("tiny.hints:2:3: expected here"));
  EXPECT_THAT(error_of("int tile_k;  //@ tune 8 16*\n"),
              StartsWith("tiny.hints:1:1: expected here"));
  EXPECT_EQ(
      error_of("  //@ prefer m > 1\n"),
      "tiny.hints:1:3: \"//@\" must begin in the first column; remove the spaces before \"//@\"\n"
      "    //@ prefer m > 1\n    ^");
}

TEST_F(HintsErrorTest, PointToTheLineOfTheHints) {
  EXPECT_THAT(error_of("// of rows\n//@ prefer tile_q > 1\n"),
              AllOf(StartsWith("tiny.hints:2:12: "), HasSubstr("\"tile_q\"")));
  EXPECT_THAT(error_of("//@ usual tile_m=65\n"), StartsWith("tiny.hints:1:11: 65 "));
  EXPECT_THAT(error_of("//@ cost fp33 = 1\n"),
              AllOf(StartsWith("tiny.hints:1:10: "), HasSubstr("\"fp33\"")));
  EXPECT_THAT(error_of("//@ prefer half > 1\n//@ cost let half = tile_m / 2\n"),
              AllOf(StartsWith("tiny.hints:1:12: "), HasSubstr("\"half\"")))
      << "it is below";
  const Catalog catalog = open_with("\n//@ cost fp32 = 1 / (tile_m - 64)\n");
  EXPECT_THAT(error_text(ErrorKind::template_,
                         [&] {
                           static_cast<void>(LaunchPlanner(catalog.at("tiny"), problem_of_hints(),
                                                           device_of_hints())
                                                 .costs(kHintsDefault));
                         }),
              HasSubstr("tiny.hints:2: cost (configuration"));
}

TEST_F(HintsErrorTest, ValuesOfCostLinesAreUnknownToRequirements) {
  std::string text(kTinyTemplate);
  text.insert(text.find("//@ require"), "//@ require half > 1\n");
  folder.write("tiny.cu", text);
  folder.write("tiny.hints", "//@ cost let half = tile_m / 2\n");
  EXPECT_THAT(error_text(ErrorKind::template_, [&] { static_cast<void>(open()); }),
              AllOf(HasSubstr("tiny.cu:"), HasSubstr("\"half\"")));
}

TEST_F(HintsErrorTest, NeedATemplateBesideThem) {
  const auto broken = [&](const std::string& name) {
    folder.write(name, "//@ prefer m > 1\n");
    const Catalog catalog = Catalog::with_sound_files({folder.path()});
    std::filesystem::remove(folder.path() + "/" + name);
    EXPECT_NE(catalog.find("tiny"), nullptr);
    EXPECT_EQ(catalog.broken().size(), 1U) << name;
    return catalog.broken().empty() ? "" : std::string(catalog.broken()[0].error.what());
  };
  EXPECT_EQ(broken("tinny.hints"),
            folder.path() +
                "/tinny.hints:1:1: the folder of this hints file does not contain the file "
                "tinny.cu. Next: "
                "name the hints file after a template's file (NAME.hints for NAME.cu), or remove "
                "the hints file.");
  folder.write("row_operation.cu", test::kRowOperation);
  EXPECT_THAT(broken("row_operation.hints"),
              AllOf(HasSubstr("row_operation.cu"), HasSubstr("declares an operation")));
  folder.write("plain.cu", "__global__ void plain() {}\n");
  EXPECT_THAT(broken("plain.hints"),
              HasSubstr("plain.cu is not a template: the file has no front matter. Next: "));
}

}  // namespace
}  // namespace kiln
