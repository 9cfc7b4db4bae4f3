// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/launch/launch_planner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "templates/launch/launch_evaluator.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using test::error_text;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

KernelTemplate planned_tiny() {
  return KernelTemplate::parse("tiny.cu", std::string(test::kTinyTemplate));
}

/// The tiny template with its launch replaced by these lines.
KernelTemplate tiny_with_launch(const std::string& lines) {
  std::string text(test::kTinyTemplate);
  const auto begin = text.find("//@   grid");
  text.replace(begin, text.find("//@ workspace") - begin, lines);
  return KernelTemplate::parse("tiny.cu", text);
}

Problem planned_problem() {
  return to_problem(Gemm::of(DType::f16, 100, 70, 64));
}
/// For planned_problem() on an H200.
LaunchPlanner planner_of(const KernelTemplate& kernel_template) {
  static const Problem problem = planned_problem();
  static const DeviceLimits limits = limits_of_arch("90a").value();
  return {kernel_template, problem, limits};
}
const Config kTiles{{"tile_m", 64}, {"tile_n", 32}};

TEST(LaunchPlanner, CostsMentionSizesAndLets) {
  EXPECT_TRUE(planner_of(planned_tiny()).costs(kTiles).empty());
  const auto kernel = tiny_with_launch(
      "//@ grid ceil_div(n, tile_n)\n//@ block threads\n//@ cost fp32 = tile_m * tile_n * k\n"
      "//@ cost registers = min(device.regs_per_thread, threads)\n");
  EXPECT_THAT(planner_of(kernel).costs(kTiles),
              ElementsAre(NamedValue{"fp32", 64 * 32 * 64}, NamedValue{"registers", 128}));
}

TEST(LaunchPlanner, AnUndefinedOrNegativeCostIsAnErrorWithItsLine) {
  const auto text = [](const std::string& value) {
    const auto kernel =
        tiny_with_launch("//@ grid 1\n//@ block threads\n//@ cost waits = " + value + "\n");
    return error_text(ErrorKind::template_, [&] { (void)planner_of(kernel).costs(kTiles); });
  };
  EXPECT_THAT(text("k / (m - m)"),
              HasSubstr("tiny.cu:24: cost (configuration \"tile_m=64 tile_n=32\"; sizes "));
  EXPECT_THAT(text("k / (m - m)"), HasSubstr("waits \"k / (m - m)\" is undefined"));
  EXPECT_THAT(text("k - 65"), HasSubstr("\"k - 65\" is -1"));
}

TEST(LaunchPlanner, ConfigFieldsInDeclaredOrder) {
  EXPECT_THAT(planner_of(planned_tiny()).config_fields(kTiles),
              ElementsAre(NamedValue{"tile_m", 64}, NamedValue{"tile_n", 32},
                          NamedValue{"threads", 128}, NamedValue{"smem_bytes", 4096}));
  EXPECT_THAT(error_text(ErrorKind::usage,
                         [&] {
                           (void)planner_of(planned_tiny()).config_fields({{"tile_m", 64}});
                         }),
              HasSubstr("tile_n"));
}

TEST(LaunchPlanner, ABoolIsZeroOrOne) {
  std::string text(test::kTinyTemplate);
  text.insert(text.find("  int smem_bytes"), "  bool odd;  //@ let threads % 3\n");
  const auto made = KernelTemplate::parse("tiny.cu", text);
  EXPECT_THAT(
      error_text(ErrorKind::template_, [&] { (void)planner_of(made).config_fields(kTiles); }),
      HasSubstr("odd = 2 does not fit the type bool"));
}

TEST(LaunchPlanner, ConfigFieldsAreInts) {
  std::string text(test::kTinyTemplate);
  text.replace(text.find("tile_m * tile_n * a_bytes"), 25, "tile_m * 1000000000      ");
  const auto wide = KernelTemplate::parse("tiny.cu", text);
  EXPECT_THAT(
      error_text(ErrorKind::template_, [&] { (void)planner_of(wide).config_fields(kTiles); }),
      AllOf(HasSubstr("smem_bytes = 64000000000"), HasSubstr("the type int")));
}

TEST(LaunchGeometry, OfAProblem) {
  const auto geometry = planner_of(planned_tiny()).geometry(kTiles);
  ASSERT_EQ(geometry.size(), 1U);
  const LaunchGeometry expected{{3, 2, 1}, {128, 1, 1}, {1, 1, 1}, 4096, {}};
  EXPECT_EQ(geometry[0], expected);
  EXPECT_EQ(planner_of(planned_tiny()).workspace_bytes(kTiles), 400);
}

TEST(LaunchGeometry, ValuesAtLaunchMayDependOnSizes) {
  std::string text(test::kTinyTemplate);
  text.insert(text.find("//@ require"),
              "struct TinyLaunch {  //@ at launch\n"
              "  int tiles_m;  //@ let ceil_div(m, tile_m)\n"
              "  int splits;   //@ tune 1* 2\n"
              "};\n");
  const auto made = KernelTemplate::parse("tiny.cu", text);
  Config config = kTiles;
  config.set("splits", 2);
  const auto geometry = planner_of(made).geometry(config).front();
  LaunchValues expected;
  expected.items[0] = 2;
  expected.items[1] = 2;
  expected.count = 2;
  EXPECT_EQ(geometry.values, expected);
  EXPECT_EQ(planner_of(made).config_fields(config).size(), 4U) << "they are not compiled in";
}

TEST(LaunchGeometry, ClustersAndSeveralLaunches) {
  const auto two = tiny_with_launch(
      "//@ grid 4, 2\n//@ block 32, 4\n//@ cluster 2\n"
      "//@ launch tiny\n//@ grid 1\n//@ block 64\n");
  const auto geometry = planner_of(two).geometry(kTiles);
  ASSERT_EQ(geometry.size(), 2U);
  const LaunchGeometry first{{4, 2, 1}, {32, 4, 1}, {2, 1, 1}, 0, {}};
  EXPECT_EQ(geometry[0], first);
  EXPECT_EQ(geometry[1].block[0], 64U);
}

TEST(LaunchGeometry, ALaunchMayBeLeftOut) {
  const auto two = tiny_with_launch(
      "//@ grid 4\n//@ block 32\n"
      "//@ launch tiny\n//@ when tile_m == 32 || m > 1000\n//@ grid m - 100\n//@ block 64\n");
  const auto geometry = planner_of(two).geometry(kTiles);
  ASSERT_EQ(geometry.size(), 2U) << "launches keep their places";
  EXPECT_FALSE(geometry[0].left_out());
  EXPECT_TRUE(geometry[1].left_out());
  EXPECT_EQ(count_of(geometry[1].grid), 0U) << "a grid of 0 would be an error otherwise";

  const auto none = tiny_with_launch("//@ when 0\n//@ grid 4\n//@ block 32\n");
  EXPECT_EQ(
      error_text(ErrorKind::template_, [&] { (void)planner_of(none).geometry(kTiles); }),
      "tiny.cu: no launch would run, because every \"when\" condition is 0; change a condition. "
      "The configuration is \"tile_m=64 tile_n=32\", and the sizes are m=100 n=70 k=64");
  const auto undefined = tiny_with_launch("//@ when 1 / (m - 100)\n//@ grid 4\n//@ block 32\n");
  EXPECT_THAT(
      error_text(ErrorKind::template_, [&] { (void)planner_of(undefined).geometry(kTiles); }),
      HasSubstr("when \"1 / (m - 100)\""));
}

TEST(LaunchGeometry, OutOfRange) {
  const auto why = [](const std::string& lines, std::string_view arch = "90a") {
    const auto made = tiny_with_launch(lines);
    return error_text(ErrorKind::template_, [&] {
      (void)LaunchPlanner(made, planned_problem(), limits_of_arch(arch).value()).geometry(kTiles);
    });
  };
  EXPECT_EQ(
      why("//@ grid 1, 65536\n//@ block 32\n"),
      "tiny.cu:21: launch of tiny (configuration \"tile_m=64 tile_n=32\"; sizes m=100 n=70 k=64): "
      "grid.y \"65536\" is 65536, but must be from 1 to 65535");
  EXPECT_THAT(why("//@ grid m - 100\n//@ block 32\n"), HasSubstr("\"m - 100\" is 0"));
  EXPECT_THAT(why("//@ grid 1 / (m - 100)\n//@ block 32\n"), HasSubstr("undefined"));
  EXPECT_THAT(why("//@ grid 2147483648\n//@ block 32\n"), HasSubstr("grid.x"));
  EXPECT_THAT(why("//@ grid 1\n//@ block 1, 1, 65\n"), HasSubstr("block.z"));
  EXPECT_THAT(why("//@ grid 1\n//@ block 64, 32\n"),
              HasSubstr("2048 threads, but the device allows at most 1024"));
  EXPECT_THAT(why("//@ grid 1\n//@ block 1\n//@ smem 232449\n"), HasSubstr("smem"));
  EXPECT_THAT(why("//@ grid 1\n//@ block 1\n//@ smem -1\n"), HasSubstr("is -1"));
  EXPECT_THAT(why("//@ grid 3\n//@ block 1\n//@ cluster 2\n"), HasSubstr("not a multiple"));
  EXPECT_THAT(why("//@ grid 16, 2\n//@ block 1\n//@ cluster 16, 2\n"), HasSubstr("32 blocks"));
  EXPECT_THAT(why("//@ grid 2\n//@ block 1\n//@ cluster 2\n", "89"), HasSubstr("sm_90 or newer"));
}

TEST(LaunchGeometry, NegativeWorkspace) {
  std::string text(test::kTinyTemplate);
  text.replace(text.find("m * 4"), 5, "m-999");
  const auto made = KernelTemplate::parse("tiny.cu", text);
  EXPECT_THAT(
      error_text(ErrorKind::template_, [&] { (void)planner_of(made).workspace_bytes(kTiles); }),
      HasSubstr("workspace \"m-999\" is -899"));
}

TEST(LaunchEvaluator, ADivisionIsWrittenWithRoundingUp) {
  EXPECT_EQ(rounded_up_division("n / block_size_x"), "ceil_div(n, block_size_x)");
  EXPECT_EQ(rounded_up_division("(n + 1)/(2 * tile)"), "ceil_div(n + 1, 2 * tile)");
  EXPECT_EQ(rounded_up_division("max(n, 2) / tile"), "ceil_div(max(n, 2), tile)");
  for (const char* const other :
       {"n", "n / tile + 1", "n / tile / 2", "2 * n / tile", "(n / tile)"}) {
    EXPECT_EQ(rounded_up_division(other), "") << other;
  }
}

}  // namespace
}  // namespace kiln
