// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Spaces that others have published with the number of valid configurations.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "templates/device_limits.hpp"
#include "templates/digest.hpp"
#include "templates/kernel_template.hpp"
#include "tests/unit/templates/row_operation.hpp"
#include "tests/unit/templates/space_builder.hpp"

namespace kiln {
namespace {

using test::all_of;
using test::range;
using test::SpaceBuilder;

/// Digest of the canonical texts, sorted, a line each.
std::string digest_of_set(const std::vector<Config>& configs) {
  std::vector<std::string> lines;
  for (const auto& config : configs) lines.push_back(config.canonical());
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return digest_hex(text);
}

void expect_counts(const ParamSpace& space, std::uint64_t raw, std::uint64_t valid) {
  EXPECT_EQ(space.raw_size(), raw);
  EXPECT_EQ(space.count(), valid);
  const auto configs = all_of(space);
  EXPECT_EQ(configs.size(), valid);
  EXPECT_EQ(std::set<Config>(configs.begin(), configs.end()).size(), valid);
}

ParamSpace clblast_gemm() {
  return SpaceBuilder()
      .tune("MWG", {16, 32, 64, 128})
      .tune("NWG", {16, 32, 64, 128})
      .tune("KWG", {32})
      .tune("MDIMC", {8, 16, 32})
      .tune("NDIMC", {8, 16, 32})
      .tune("MDIMA", {8, 16, 32})
      .tune("NDIMB", {8, 16, 32})
      .tune("KWI", {2})
      .tune("VWM", {1, 2, 4, 8})
      .tune("VWN", {1, 2, 4, 8})
      .tune("STRM", {0})
      .tune("STRN", {0})
      .tune("SA", {0, 1})
      .tune("SB", {0, 1})
      .require("KWG % KWI == 0")
      .require("MWG % (MDIMC * VWM) == 0")
      .require("NWG % (NDIMC * VWN) == 0")
      .require("MWG % (MDIMA * VWM) == 0")
      .require("NWG % (NDIMB * VWN) == 0")
      // KWG % (MDIMC * NDIMC / MDIMA) with a real quotient: KWG divided by it is whole.
      .require("KWG * MDIMA % (MDIMC * NDIMC) == 0")
      .require("KWG * NDIMB % (MDIMC * NDIMC) == 0")
      .require("MDIMC * NDIMC <= 1024")
      .build();
}

ParamSpace convolution_of_2023() {
  return SpaceBuilder()
      .tune("block_size_x", {1, 2, 4, 8, 16, 32, 48, 64, 96, 112, 128})
      .tune("block_size_y", {1, 2, 4, 8, 16, 32})
      .tune("read_only", {0, 1})
      .tune("tile_size_x", range(1, 8))
      .tune("tile_size_y", range(1, 8))
      .tune("use_padding", {0, 1})
      .require("64 <= block_size_x * block_size_y && block_size_x * block_size_y <= 1024")
      .require("tile_size_x * tile_size_y < 30")
      .build();
}

ParamSpace point_in_polygon() {
  return SpaceBuilder()
      .tune("between_method", range(0, 3))
      .tune("block_size_x", range(32, 992, 32))
      .tune("tile_size", {1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20})
      .tune("use_method", range(0, 2))
      .build();
}

TEST(PublicSpace, Gemm) {
  expect_counts(clblast_gemm(), 82944, 17956);
}

TEST(PublicSpace, ConvolutionMilo) {
  const auto space =
      SpaceBuilder()
          .tune("block_size_x", range(16, 256, 16))
          .tune("block_size_y", {1, 2, 4, 8, 16})
          .tune("tile_size_x", range(1, 4))
          .tune("tile_size_y", range(1, 4))
          .tune("read_only", {0, 1})
          .tune("use_padding", {0, 1})
          .tune("use_shmem", {0, 1})
          .require("use_padding == 0 || block_size_x % 32 != 0")
          .require("block_size_x * block_size_y <= 1024")
          .require("use_padding == 0 || use_shmem == 1")
          .require(
              "use_shmem == 0 || "
              "(block_size_x * tile_size_x + 14) * (block_size_y * tile_size_y + 14) < 12288")
          .build();
  expect_counts(space, 10240, 4362);
}

TEST(PublicSpace, Dedispersion) {
  const auto space = SpaceBuilder()
                         .tune("block_size_x", {1, 2, 4, 8, 16, 32})
                         .tune("block_size_y", range(32, 256, 8))
                         .tune("tile_size_x", range(1, 4))
                         .tune("tile_size_y", range(1, 8))
                         .tune("tile_stride_x", {0, 1})
                         .tune("tile_stride_y", {0, 1})
                         .let("threads", "block_size_x * block_size_y")
                         .require("32 <= threads && threads <= 1024")
                         .require("tile_size_x > 1 || tile_stride_x == 0")
                         .require("tile_size_y > 1 || tile_stride_y == 0")
                         .build();
  expect_counts(space, 22272, 11130);
}

// The same spaces as users of Kernel Tuner bring them: ranges, booleans and Python's operators.

/// The number of configurations of a template with these lines.
std::uint64_t count_of_lines(std::string_view lines) {
  (void)test::row_operation();
  const KernelTemplate made = KernelTemplate::parse(
      "space.cu", "//@ template space\n//@ purpose A published space\n//@ operation row_scale\n" +
                      std::string(lines) +
                      "//@ launch space\n//@   grid 1\n//@   block 32\n\n"
                      "extern \"C\" __global__ void space(const float* x, float* y, int rows, int "
                      "cols, float scale) {}\n");
  const ParamSpace space =
      made.space(test::row_problem(2, 3, DType::f32), limits_of_arch("90a").value());
  EXPECT_EQ(all_of(space).size(), space.count());
  return space.count();
}

TEST(PublicSpace, GemmInFrontMatter) {
  EXPECT_EQ(count_of_lines("//@ tune MWG = 16..128 x2\n//@ tune NWG = 16..128 x2\n"
                           "//@ tune KWG = 32\n"
                           "//@ tune MDIMC = 8 16 32\n//@ tune NDIMC = 8 16 32\n"
                           "//@ tune MDIMA = 8 16 32\n//@ tune NDIMB = 8 16 32\n"
                           "//@ tune KWI = 2\n//@ tune VWM = 1..8 x2\n//@ tune VWN = 1..8 x2\n"
                           "//@ tune STRM = 0\n//@ tune STRN = 0\n"
                           "//@ tune SA = false true\n//@ tune SB = false true\n"
                           "//@ require KWG % KWI == 0\n"
                           "//@ require MWG % (MDIMC * VWM) == 0\n"
                           "//@ require NWG % (NDIMC * VWN) == 0\n"
                           "//@ require MWG % (MDIMA * VWM) == 0\n"
                           "//@ require NWG % (NDIMB * VWN) == 0\n"
                           "//@ require KWG % (1.0 * (MDIMC * NDIMC) / MDIMA) == 0\n"
                           "//@ require KWG % (1.0 * (MDIMC * NDIMC) / NDIMB) == 0\n"
                           "//@ require MDIMC * NDIMC <= 1024\n"),
            17956U);
}

TEST(PublicSpace, ConvolutionMiloInFrontMatter) {
  EXPECT_EQ(count_of_lines("//@ tune bx = 16:256:16 default 32\n//@ tune by = 1..16 x2\n"
                           "//@ tune tx = 1:4\n//@ tune ty = 1:4\n//@ tune read_only = false true\n"
                           "//@ tune pad = false true\n//@ tune shmem = no yes*\n"
                           "//@ require not pad or bx % 32 != 0\n"
                           "//@ require bx * by <= 1024\n"
                           "//@ require not pad or shmem == yes\n"
                           "//@ require shmem == no or (bx*tx + 14) * (by*ty + 14) < 12288\n"),
            4362U);
}

TEST(PublicSpace, DedispersionInFrontMatter) {
  EXPECT_EQ(count_of_lines("//@ tune bx = 1..32 x2\n//@ tune by = 32:256:8\n"
                           "//@ tune tx = 1:4\n//@ tune ty = 1:8\n"
                           "//@ tune sx = 0 1\n//@ tune sy = 0 1\n"
                           "//@ require 32 <= bx * by <= 1024\n"
                           "//@ require tx > 1 or sx == 0\n"
                           "//@ require ty in (2, 3, 4, 5, 6, 7, 8) or sy not in (1,)\n"),
            11130U);
}

TEST(PublicSpace, ConvolutionOf2023) {
  expect_counts(convolution_of_2023(), 16896, 6768);
}

TEST(PublicSpace, PointInPolygon) {
  expect_counts(point_in_polygon(), 4092, 4092);
}

// The digests are those of the configurations in the published measurements of each space.
TEST(PublicSpace, SetsAreThePublishedOnes) {
  EXPECT_EQ(digest_of_set(all_of(clblast_gemm())), "a70b409ce5ddf26e864eea33cb94ebdd");
  EXPECT_EQ(digest_of_set(all_of(convolution_of_2023())), "7353fe497800463f67cd127a019494ba");
  EXPECT_EQ(digest_of_set(all_of(point_in_polygon())), "55e9575892e6da1376fafd25f808daff");
}

}  // namespace
}  // namespace kiln
