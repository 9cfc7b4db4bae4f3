// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Launches that repeat (see repeated/), scratch arrays and inputs that kernels may overwrite (see
// scratch/), and mutants of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/compile/operations/folder_bench.hpp"

namespace kiln::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class RepeatedLaunches : public FolderBench {
 protected:
  RepeatedLaunches() : FolderBench("repeated") {}
};

class ScratchArrays : public FolderBench {
 protected:
  ScratchArrays() : FolderBench("scratch") {}
};

TEST_F(RepeatedLaunches, SwapTheirBuffers) {
  const Sizes sizes{{"height", 24}, {"width", 40}, {"steps", 6}};
  examine("heat", "heat_tiles", sizes);
  const auto complaint = [&](const std::string& from, const std::string& to) {
    return complaint_of("heat", "heat_tiles", sizes, from, to);
  };
  EXPECT_THAT(complaint("repeat   ceil_div(steps, tile_t)", "repeat   max(1, steps / tile_t)"),
              HasSubstr("wrong_result: height=19 width=37 steps=7"));
  EXPECT_THAT(complaint("min(tile_t, steps - repeat_index * tile_t)", "tile_t"),
              HasSubstr("wrong_result: height=1 width=1 steps=1"));
  EXPECT_THAT(complaint("% 2 == 0 ? after : between", "% 2 == 1 ? after : between"),
              HasSubstr("wrong_result: height=19 width=37 steps=7"));
}

TEST_F(RepeatedLaunches, TakeTurnsInGroups) {
  const Sizes sizes{{"height", 24}, {"width", 40}, {"steps", 5}};
  examine("heat", "heat_halves", sizes);
  EXPECT_THAT(complaint_of("heat", "heat_halves", sizes, "; launches 2", "; launches 1"),
              HasSubstr("wrong_result: height=19 width=37 steps=2"));
}

TEST_F(ScratchArrays, DependOnTunables) {
  const Sizes sizes{{"n", 3000}};
  examine("total", "total_partials", sizes);
  const auto complaint = [&](const std::string& from, const std::string& to) {
    return complaint_of("total", "total_partials", sizes, from, to);
  };
  // An array of its own has nothing behind it, though the workspace has room there.
  EXPECT_THAT(complaint("sums[blockIdx.x] =", "sums[blockIdx.x + (gridDim.x > 1)] ="),
              HasSubstr("scratch array partial"));
  EXPECT_THAT(complaint("if (threadIdx.x == 0) sums",
                        "if (threadIdx.x == 0 && (gridDim.x == 1 || blockIdx.x != 1)) sums"),
              HasSubstr("uninitialised"));
}

TEST_F(ScratchArrays, InputsMayBeOverwritten) {
  const Sizes sizes{{"n", 3000}};
  examine("total", "total_in_place", sizes);
  EXPECT_THAT(complaint_of("total", "total_in_place", sizes, "n; scratch", "n", true),
              HasSubstr("changed input x"));
  EXPECT_THAT(complaint_of("total", "total_in_place", sizes, "x[i] += x[i + half]",
                           "x[i] += x[i + half - (n > 100)]"),
              HasSubstr("wrong_result"));
}

}  // namespace
}  // namespace kiln::testing
