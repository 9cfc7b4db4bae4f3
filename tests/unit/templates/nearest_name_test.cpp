// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/nearest_name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kiln {
namespace {

using Names = std::vector<std::string>;

TEST(NearestName, IsTheOneWithTheFewestEdits) {
  EXPECT_EQ(nearest_name("tile_q", Names{"tile", "tile_k"}), "tile_k");
  EXPECT_EQ(nearest_name("blokc", Names{"blocks", "block"}), "block") << "a swap is one edit";
  EXPECT_EQ(nearest_name("cuda_fp61.h", Names{"cuda_fp16.h", "cuda_fp6.h"}), "cuda_fp16.h");
  EXPECT_EQ(nearest_name("weight", Names{"tile_k"}), "");
}

TEST(NearestName, AShortNameIsNoTypoOfAnother) {
  EXPECT_EQ(nearest_name("m", Names{"sm", "n"}), "");
  EXPECT_EQ(nearest_name("bb", Names{"b", "ba"}), "");
  EXPECT_EQ(nearest_name("N", Names{"m", "n"}), "n");
  EXPECT_EQ(nearest_name("row", Names{"rows"}), "rows");
}

TEST(NearestName, TellsThingsApartFromTypos) {
  EXPECT_TRUE(is_typo_of("block_sizex", "block_size_x"));
  EXPECT_TRUE(is_typo_of("block_size", "block_size_x"));
  EXPECT_TRUE(is_typo_of("TILE", "tile"));
  EXPECT_TRUE(is_typo_of("unrol", "unroll"));
  EXPECT_FALSE(is_typo_of("tile", "tile"));
  EXPECT_FALSE(is_typo_of("tile_x", "tile_y"));
  EXPECT_FALSE(is_typo_of("size_a_rows", "size_b_rows"));
  EXPECT_FALSE(is_typo_of("part1", "part2"));
  EXPECT_FALSE(is_typo_of("block", "blocks"));
  EXPECT_FALSE(is_typo_of("BM", "BN"));
}

TEST(NearestName, AllNamesFollowTheOneThatIsMeant) {
  EXPECT_EQ(meant_or_known("tile", Names{"tiles", "depth"}),
            "; did you mean \"tiles\"? There are tiles, depth");
  EXPECT_THAT(meant_or_known("tile", Names{"tiles"}), ::testing::EndsWith("\"tiles\"?"));
  EXPECT_EQ(meant_or_known("other", Names{"tiles", "depth"}), "; there are tiles, depth");
  EXPECT_EQ(meant_or_known("other", Names{"tiles"}), "; there is tiles");
  EXPECT_EQ(meant_or_known("other", Names{}), "");
}

}  // namespace
}  // namespace kiln
