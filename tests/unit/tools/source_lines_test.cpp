// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/output/source_lines.hpp"

#include <gtest/gtest.h>

#include "templates/catalog.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/render/renderer.hpp"

namespace kiln::tools {
namespace {

TEST(SourceLines, FollowLineDirectives) {
  const SourceLines lines(
      "first\n"
      "#line 10 \"folder/a.cuh\"\n"
      "  ten  \n"
      "eleven\n"
      "#line 3 \"b.cu\"\n"
      "three\n"
      "#line 40\n"
      "forty",
      "own.cu");
  EXPECT_EQ(lines.at("own.cu:1"), "first");
  EXPECT_EQ(lines.at("a.cuh:10"), "ten");
  EXPECT_EQ(lines.at("a.cuh:11"), "eleven");
  EXPECT_EQ(lines.at("b.cu:3"), "three");
  EXPECT_EQ(lines.at("b.cu:40"), "forty");
  EXPECT_EQ(lines.at("b.cu:4"), "");
  EXPECT_EQ(lines.at("PTX line 12"), "");
}

TEST(SourceLines, SayWhereToOpenAPlace) {
  const SourceLines lines(
      "#line 1 \"lib/tile.cuh\"\n"
      "one\n"
      "#line 1 \"kernel.cu\"\n"
      "one\n"
      "#line 1 \"a/twice.cuh\"\n"
      "#line 1 \"b/twice.cuh\"\n",
      "own.cu", "mine/kernel.cu");
  EXPECT_EQ(lines.with_folder("kernel.cu:7"), "mine/kernel.cu:7");
  EXPECT_EQ(lines.with_folder("tile.cuh:7"), "lib/tile.cuh:7");
  EXPECT_EQ(lines.with_folder("other.cuh:7"), "other.cuh:7");
  EXPECT_EQ(lines.with_folder("twice.cuh:7"), "twice.cuh:7");
  EXPECT_EQ(lines.with_folder("PTX line 12"), "PTX line 12");
  EXPECT_EQ(lines.at("tile.cuh:1"), "one") << "places have names without folders";
}

TEST(SourceLines, FindTheLinesOfARenderedKernel) {
  const Catalog& catalog = Catalog::builtin();
  const KernelTemplate& naive = catalog.at("gemm_naive");
  const Problem problem = to_problem(Gemm::of(DType::f32, 64, 64, 64));
  const DeviceLimits limits = *limits_of_arch("sm_90a");
  const auto rendered =
      render(catalog, naive, *naive.space(problem, limits).default_config(), problem, limits);
  const SourceLines lines(rendered.text, "gemm_naive.cu");
  EXPECT_EQ(lines.at("gemm_args.cuh:12"), "struct GemmArgs {");
  EXPECT_EQ(lines.at("gemm_naive.cu:3"), "//@ template   gemm_naive");
}

}  // namespace
}  // namespace kiln::tools
