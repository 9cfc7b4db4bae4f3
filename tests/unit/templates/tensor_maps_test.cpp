// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/launch/tensor_maps.hpp"
#include "templates/launch/launch_planner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "templates/kernels/common/gemm_args.cuh"
#include "templates/operation/gemm_problem.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using test::error_text;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

KernelTemplate tiny_with_maps(const std::string& maps) {
  std::string text(test::kTinyTemplate);
  text.insert(text.find("//@ workspace"), maps);
  return KernelTemplate::parse("tiny.cu", text);
}

const Config kBoxConfig{{"tile_m", 64}, {"tile_n", 32}};

TensorMapPlans plans_of(const std::string& maps, const Gemm& gemm) {
  const KernelTemplate made = tiny_with_maps(maps);
  const Problem problem = to_problem(gemm);
  const DeviceLimits limits = limits_of_arch("90a").value();
  return LaunchPlanner(made, problem, limits).geometry(kBoxConfig).at(0).maps;
}

TensorMapPlan plan_of(const std::string& map,
                      const Gemm& gemm = Gemm::of(DType::f16, 100, 72, 64)) {
  const TensorMapPlans plans = plans_of("//@   map " + map + "\n", gemm);
  EXPECT_EQ(plans.count, 1U);
  return plans.items[0];
}

std::string parse_error(const std::string& map) {
  return error_text(ErrorKind::template_, [&] { (void)tiny_with_maps("//@   map " + map + "\n"); });
}
std::string plan_error(const std::string& map, DType type = DType::f16) {
  return error_text(ErrorKind::template_, [&] { (void)plan_of(map, Gemm::of(type, 100, 72, 64)); });
}

TEST(TensorMaps, AnOperandIsPlannedWithItsLeadingDimensionOpen) {
  const TensorMapPlan plan = plan_of("a: k, m; box 64, tile_m; swizzle 128; promote 256");
  EXPECT_EQ(plan.rank, 2);
  EXPECT_EQ(plan.type, DType::f16);
  EXPECT_THAT(plan.extents, ElementsAre(64, 100, 0, 0, 0));
  EXPECT_THAT(plan.box, ElementsAre(64, 64, 0, 0, 0));
  EXPECT_THAT(plan.strides, ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(plan.swizzle, 128);
  EXPECT_EQ(plan.promotion, 256);
  GemmArgs args{};
  args.a = reinterpret_cast<const void*>(0x1000);
  args.lda = 80;
  const BoundTensorMap bound = bind_tensor_map(plan, &args);
  EXPECT_EQ(bound.address, 0x1000U);
  EXPECT_EQ(bound.strides[0], 160);
}

TEST(TensorMaps, EveryOperandIsFound) {
  GemmArgs args{};
  args.b = reinterpret_cast<const void*>(0x2000);
  args.c = reinterpret_cast<const void*>(0x3000);
  args.d = reinterpret_cast<void*>(0x4000);
  args.ldb = 8;
  args.ldc = 16;
  args.ldd = 24;
  const auto bound = [&](const std::string& slot) {
    return bind_tensor_map(plan_of(slot + ": n, m; box 8, 8"), &args);
  };
  EXPECT_EQ(bound("b"), (BoundTensorMap{0x2000, {16}}));
  EXPECT_EQ(bound("c"), (BoundTensorMap{0x3000, {32}}));
  EXPECT_EQ(bound("d"), (BoundTensorMap{0x4000, {48}}));
}

TEST(TensorMaps, APlaceInTheWorkspaceHasItsOwnPitch) {
  const TensorMapPlan plan =
      plan_of("acc: n, m, 4; box 8, 8, 1; pitch n, n * m; in_workspace m * 16");
  GemmArgs args{};
  args.workspace = reinterpret_cast<void*>(0x10000);
  const BoundTensorMap bound = bind_tensor_map(plan, &args);
  EXPECT_EQ(plan.type, DType::f32);
  EXPECT_EQ(bound.address, 0x10000U + 1600U);
  EXPECT_EQ(bound.strides[0], 72 * 4);
  EXPECT_EQ(bound.strides[1], 72 * 100 * 4);
}

TEST(TensorMaps, ANegativePlaceInTheWorkspaceMeansTheOperand) {
  EXPECT_EQ(plan_of("a: k, m; box 8, 8; pitch 0; in_workspace -1"), plan_of("a: k, m; box 8, 8"));
}

TEST(TensorMaps, ATensorWithoutElementsHasNoMap) {
  EXPECT_EQ(plan_of("a: k, m; box 64, 64", Gemm::of(DType::f16, 100, 72, 0)).rank, 0);
}

TEST(TensorMaps, ALineMayGoOn) {
  EXPECT_EQ(plan_of("a: k,\n//@            m;\n//@            box 8, 8"),
            plan_of("a: k, m; box 8, 8"));
}

TEST(TensorMaps, SeveralComeInOrder) {
  const TensorMapPlans plans =
      plans_of("//@   map a: k, m; box 8, 8\n//@   map b: n, k; box 8, 8\n",
               Gemm::of(DType::f16, 100, 72, 64));
  ASSERT_EQ(plans.count, 2U);
  EXPECT_EQ(plans.items[0].extents[0], 64U);
  EXPECT_EQ(plans.items[1].extents[0], 72U);
}

TEST(TensorMaps, DescriptionsTellPlansApart) {
  const std::string text = describe(plan_of("a: k, m; box 64, 64; swizzle 128"));
  EXPECT_THAT(text, HasSubstr("extents=64,100 box=64,64 strides=0 swizzle=128"));
  EXPECT_NE(text, describe(plan_of("a: k, m; box 64, 64; swizzle 128; promote 64")));
  EXPECT_NE(text, describe(plan_of("b: k, m; box 64, 64; swizzle 128")));
}

TEST(TensorMaps, LinesThatAreWrongArePointedAt) {
  EXPECT_THAT(parse_error("k, m; box 8, 8"), HasSubstr("begins with the name of a type slot"));
  EXPECT_THAT(parse_error("x: k, m; box 8, 8"), HasSubstr("gemm has no type slot \"x\""));
  EXPECT_THAT(parse_error("a: k, m"),
              HasSubstr("box of this map has 0 dimensions, but the tensor has 2"));
  EXPECT_THAT(parse_error("a: k, m; box 8, 8; swizle 128"),
              AllOf(HasSubstr("a map has no part \"swizle\""), HasSubstr("\"swizzle\"?")));
  EXPECT_THAT(parse_error("a: k, m; box 8, 8; box 8, 8"), HasSubstr("two \"box\""));
  EXPECT_THAT(parse_error("a: k, m, 2; box 8, 8, 1"), HasSubstr("needs \"pitch\" with 2 values"));
  EXPECT_THAT(parse_error("a: k; box 8; pitch 8"), HasSubstr("remove \"pitch\""));
  EXPECT_THAT(parse_error("a: 1, 1, 1, 1, 1, 1; box 8"), HasSubstr("at most five dimensions"));
  EXPECT_THAT(parse_error("acc: n, m; box 8, 8"), HasSubstr("in_workspace OFFSET"));
  EXPECT_THAT(parse_error("a: k, nix; box 8, 8"), HasSubstr("nix"));
  const std::string map = "//@   map a: k, m; box 8, 8\n";
  EXPECT_THAT(
      error_text(ErrorKind::template_, [&] { (void)tiny_with_maps(map + map + map + map + map); }),
      HasSubstr("too many \"map\" lines; the limit is 4"));
}

TEST(TensorMaps, ValuesThatCudaRefusesAreNamed) {
  EXPECT_THAT(plan_error("a: k, m; box 512, 8"),
              HasSubstr("box \"512\" is 512, but must be from 1 to 256"));
  EXPECT_THAT(plan_error("a: k, m; box 4, 8"),
              HasSubstr("a row of the box has 8 bytes, which is not a multiple of 16"));
  EXPECT_THAT(plan_error("a: k, m; box 64, 8; swizzle 64"),
              HasSubstr("more than the swizzle of 64"));
  EXPECT_THAT(plan_error("a: k, m; box 8, 8; swizzle 16"),
              HasSubstr("allowed values are 0 32 64 128"));
  EXPECT_THAT(plan_error("a: k, m; box 8, 8; promote 512"),
              HasSubstr("allowed values are 0 64 128 256"));
  EXPECT_THAT(plan_error("a: k, m; box 8, 8; pitch 4"), HasSubstr("not a multiple of 16"));
  EXPECT_THAT(plan_error("a: k, m; box 8, 8; pitch 0; in_workspace 0"),
              HasSubstr("the pitch of dimension 1 is 0, but must be from 1"));
  EXPECT_THAT(plan_error("a: k, m; box 8, 8; pitch 8; in_workspace 8"),
              HasSubstr("not a multiple of 16"));
  EXPECT_THAT(plan_error("acc: n, m; box 8, 8; pitch 8; in_workspace -1"),
              HasSubstr("offset is -1, but must be at least 0"));
}

}  // namespace
}  // namespace kiln
