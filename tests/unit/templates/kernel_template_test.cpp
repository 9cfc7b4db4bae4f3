// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/kernel_template.hpp"

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
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

KernelTemplate tiny_template() {
  return KernelTemplate::parse("tiny.cu", std::string(test::kTinyTemplate));
}

/// The tiny template with its launch replaced by these lines.
KernelTemplate tiny_with_launch(const std::string& lines) {
  std::string text(test::kTinyTemplate);
  const auto begin = text.find("//@   grid");
  text.replace(begin, text.find("//@ workspace") - begin, lines);
  return KernelTemplate::parse("tiny.cu", text);
}

DeviceLimits h200() {
  return limits_of_arch("90a").value();
}
Problem halves(std::int64_t m = 100, std::int64_t n = 70) {
  return to_problem(Gemm::of(DType::f16, m, n, 64));
}
const Config kConfig{{"tile_m", 64}, {"tile_n", 32}};

std::string why_unsupported(const Gemm& gemm, std::string_view arch = "90a") {
  return tiny_template()
      .why_unsupported(to_problem(gemm), limits_of_arch(arch).value())
      .value_or("");
}

TEST(KernelTemplate, SaysWhatItDoesNotTake) {
  EXPECT_EQ(why_unsupported(Gemm::of(DType::f16, 64, 64, 64)), "");
  EXPECT_EQ(why_unsupported(Gemm::of(DType::f64, 64, 64, 64)), "");
  auto gemm = Gemm::of(DType::bf16, 64, 64, 64);
  gemm.c = gemm.d = DType::f32;
  EXPECT_EQ(why_unsupported(gemm), "");
  gemm.d = DType::f16;
  EXPECT_EQ(why_unsupported(gemm), "tiny does not take d=f16 with a=bf16");
  EXPECT_THAT(why_unsupported(Gemm::of(DType::f32, 64, 64, 64)),
              AllOf(StartsWith("tiny "), EndsWith("a=f32")));
  Problem other = halves();
  other.operation = "conv2d";
  EXPECT_EQ(tiny_template().why_unsupported(other, h200()), "tiny computes gemm, not conv2d");
}

TEST(KernelTemplate, SaysWhichDeviceItNeeds) {
  auto old = h200();
  old.sm = 70;
  old.arch = "sm_70";
  EXPECT_EQ(tiny_template().why_unsupported(halves(), old),
            "tiny needs sm >= 75, but this is sm_70");
}

TEST(KernelTemplate, SaysWhichRequirementNeverHolds) {
  auto gemm = Gemm::of(DType::f16, 64, 64, 64);
  gemm.alignment_a = 2;
  EXPECT_THAT(why_unsupported(gemm), AllOf(StartsWith("tiny: align_a >= 4 "),
                                           EndsWith("align_a = 2: loads are 4 bytes wide")));
}

TEST(KernelTemplate, CostsMentionSizesAndLets) {
  EXPECT_TRUE(tiny_template().costs(kConfig, halves(), h200()).empty());
  const auto kernel = tiny_with_launch(
      "//@ grid ceil_div(n, tile_n)\n//@ block threads\n//@ cost fp32 = tile_m * tile_n * k\n"
      "//@ cost registers = min(device.regs_per_thread, threads)\n");
  EXPECT_THAT(kernel.costs(kConfig, halves(), h200()),
              ElementsAre(NamedValue{"fp32", 64 * 32 * 64}, NamedValue{"registers", 128}));
}

TEST(KernelTemplate, AnUndefinedOrNegativeCostIsAnErrorWithItsLine) {
  const auto text = [](const std::string& value) {
    const auto kernel =
        tiny_with_launch("//@ grid 1\n//@ block threads\n//@ cost waits = " + value + "\n");
    return error_text(ErrorKind::template_, [&] { (void)kernel.costs(kConfig, halves(), h200()); });
  };
  EXPECT_THAT(text("k / (m - m)"), HasSubstr("tiny.cu:24: cost with \"tile_m=64 tile_n=32\""));
  EXPECT_THAT(text("k / (m - m)"), HasSubstr("waits \"k / (m - m)\" is undefined"));
  EXPECT_THAT(text("k - 65"), HasSubstr("is -1, outside 0"));
}

TEST(KernelTemplate, SpaceFollowsProblemAndDevice) {
  EXPECT_EQ(tiny_template().space(halves(), h200()).count(), 5U);
  auto small = h200();
  small.max_threads = 128;
  const auto space = tiny_template().space(halves(), small);
  EXPECT_EQ(space.count(), 2U);
  EXPECT_EQ(space.default_config(), kConfig);
}

TEST(KernelTemplate, ConfigFieldsInDeclaredOrder) {
  EXPECT_THAT(tiny_template().config_fields(kConfig, halves(), h200()),
              ElementsAre(NamedValue{"tile_m", 64}, NamedValue{"tile_n", 32},
                          NamedValue{"threads", 128}, NamedValue{"smem_bytes", 4096}));
  EXPECT_THAT(error_text(ErrorKind::usage,
                         [&] {
                           (void)tiny_template().config_fields({{"tile_m", 64}}, halves(), h200());
                         }),
              HasSubstr("tile_n"));
}

TEST(KernelTemplate, ABoolIsZeroOrOne) {
  std::string text(test::kTinyTemplate);
  text.insert(text.find("  int smem_bytes"), "  bool odd;  //@ let threads % 3\n");
  const auto made = KernelTemplate::parse("tiny.cu", text);
  EXPECT_THAT(error_text(ErrorKind::template_,
                         [&] { (void)made.config_fields(kConfig, halves(), h200()); }),
              HasSubstr("odd = 2 does not fit the field's bool"));
}

TEST(KernelTemplate, ConfigFieldsAreInts) {
  std::string text(test::kTinyTemplate);
  text.replace(text.find("tile_m * tile_n * a_bytes"), 25, "tile_m * 1000000000      ");
  const auto wide = KernelTemplate::parse("tiny.cu", text);
  EXPECT_THAT(error_text(ErrorKind::template_,
                         [&] { (void)wide.config_fields(kConfig, halves(), h200()); }),
              AllOf(HasSubstr("smem_bytes = 64000000000"), HasSubstr("field's int")));
}

TEST(LaunchGeometry, OfAProblem) {
  const auto geometry = tiny_template().geometry(kConfig, halves(), h200());
  ASSERT_EQ(geometry.size(), 1U);
  const LaunchGeometry expected{{3, 2, 1}, {128, 1, 1}, {1, 1, 1}, 4096, {}};
  EXPECT_EQ(geometry[0], expected);
  EXPECT_EQ(tiny_template().workspace_bytes(kConfig, halves(), h200()), 400);
}

TEST(LaunchGeometry, ValuesAtLaunchMayDependOnSizes) {
  std::string text(test::kTinyTemplate);
  text.insert(text.find("//@ require"),
              "struct TinyLaunch {  //@ at launch\n"
              "  int tiles_m;  //@ let ceil_div(m, tile_m)\n"
              "  int splits;   //@ tune 1* 2\n"
              "};\n");
  const auto made = KernelTemplate::parse("tiny.cu", text);
  Config config = kConfig;
  config.set("splits", 2);
  const auto geometry = made.geometry(config, halves(), h200()).front();
  LaunchValues expected;
  expected.items[0] = 2;
  expected.items[1] = 2;
  expected.count = 2;
  EXPECT_EQ(geometry.values, expected);
  EXPECT_EQ(made.config_fields(config, halves(), h200()).size(), 4U) << "they are not compiled in";
}

TEST(LaunchGeometry, ClustersAndSeveralLaunches) {
  const auto two = tiny_with_launch(
      "//@ grid 4, 2\n//@ block 32, 4\n//@ cluster 2\n"
      "//@ launch tiny\n//@ grid 1\n//@ block 64\n");
  const auto geometry = two.geometry(kConfig, halves(), h200());
  ASSERT_EQ(geometry.size(), 2U);
  const LaunchGeometry first{{4, 2, 1}, {32, 4, 1}, {2, 1, 1}, 0, {}};
  EXPECT_EQ(geometry[0], first);
  EXPECT_EQ(geometry[1].block[0], 64U);
}

TEST(LaunchGeometry, ALaunchMayBeLeftOut) {
  const auto two = tiny_with_launch(
      "//@ grid 4\n//@ block 32\n"
      "//@ launch tiny\n//@ when tile_m == 32 || m > 1000\n//@ grid m - 100\n//@ block 64\n");
  const auto geometry = two.geometry(kConfig, halves(), h200());
  ASSERT_EQ(geometry.size(), 2U) << "launches keep their places";
  EXPECT_FALSE(geometry[0].left_out());
  EXPECT_TRUE(geometry[1].left_out());
  EXPECT_EQ(count_of(geometry[1].grid), 0U) << "a grid of 0 would be an error otherwise";

  const auto none = tiny_with_launch("//@ when 0\n//@ grid 4\n//@ block 32\n");
  EXPECT_EQ(
      error_text(ErrorKind::template_, [&] { (void)none.geometry(kConfig, halves(), h200()); }),
      "tiny.cu: every launch is left out with \"tile_m=64 tile_n=32\" for m=100 n=70 k=64");
  const auto undefined = tiny_with_launch("//@ when 1 / (m - 100)\n//@ grid 4\n//@ block 32\n");
  EXPECT_THAT(error_text(ErrorKind::template_,
                         [&] { (void)undefined.geometry(kConfig, halves(), h200()); }),
              HasSubstr("when \"1 / (m - 100)\""));
}

TEST(LaunchGeometry, OutOfRange) {
  const auto why = [](const std::string& lines, std::string_view arch = "90a") {
    const auto made = tiny_with_launch(lines);
    return error_text(ErrorKind::template_, [&] {
      (void)made.geometry(kConfig, halves(), limits_of_arch(arch).value());
    });
  };
  EXPECT_EQ(why("//@ grid 1, 65536\n//@ block 32\n"),
            "tiny.cu:21: launch of tiny with \"tile_m=64 tile_n=32\" for m=100 n=70 k=64: "
            "grid.y \"65536\" is 65536, outside 1 to 65535");
  EXPECT_THAT(why("//@ grid m - 100\n//@ block 32\n"), HasSubstr("\"m - 100\" is 0"));
  EXPECT_THAT(why("//@ grid 1 / (m - 100)\n//@ block 32\n"), HasSubstr("undefined"));
  EXPECT_THAT(why("//@ grid 2147483648\n//@ block 32\n"), HasSubstr("grid.x"));
  EXPECT_THAT(why("//@ grid 1\n//@ block 1, 1, 65\n"), HasSubstr("block.z"));
  EXPECT_THAT(why("//@ grid 1\n//@ block 64, 32\n"), HasSubstr("2048 threads exceeds 1024"));
  EXPECT_THAT(why("//@ grid 1\n//@ block 1\n//@ smem 232449\n"), HasSubstr("smem"));
  EXPECT_THAT(why("//@ grid 1\n//@ block 1\n//@ smem -1\n"), HasSubstr("is -1"));
  EXPECT_THAT(why("//@ grid 3\n//@ block 1\n//@ cluster 2\n"), HasSubstr("not a multiple"));
  EXPECT_THAT(why("//@ grid 16, 2\n//@ block 1\n//@ cluster 16, 2\n"), HasSubstr("32 blocks"));
  EXPECT_THAT(why("//@ grid 2\n//@ block 1\n//@ cluster 2\n", "89"), HasSubstr("sm >= 90"));
}

TEST(LaunchGeometry, NegativeWorkspace) {
  std::string text(test::kTinyTemplate);
  text.replace(text.find("m * 4"), 5, "m-999");
  const auto made = KernelTemplate::parse("tiny.cu", text);
  EXPECT_THAT(error_text(ErrorKind::template_,
                         [&] { (void)made.workspace_bytes(kConfig, halves(), h200()); }),
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
