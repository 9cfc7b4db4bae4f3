// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Mutants of gemm_wgmma: the ring, the copies, the descriptors, the cluster and the stores.
#include <gtest/gtest.h>

#include <string>

#include "tests/compile/mutants/catalog_specimen.hpp"

namespace kiln::testing {
namespace {

using WgmmaMutants = NvrtcTest;

// Where the instructions of the kernel are, which reports name.
const char* const kProduct = "KILN_WGMMA_OF(16, ";
const char* const kProductOf128 = "KILN_WGMMA_OF(64, ";
const char* const kLoad =
    "\"l\"(&map), \"r\"(from.x), \"r\"(from.y), \"r\"(shared_address(&barrier))";
const char* const kExpect = "\"r\"(bytes)";
const char* const kWait = "\"r\"(parity)";
const char* const kArriveAtBlock = "      \"r\"(rank)";
const char* const kScaled = "value[i] = alpha * product[i];";
const char* const kFill = "\"r\"(from[0]), \"r\"(from[1]), \"r\"(from[2]), \"r\"(from[3])";
const char* const kStore = "\"r\"(to.x), \"r\"(to.y), \"r\"(shared_address(from))";

const char* const kLeave = "= tile.four(block, group);";
const char* const kCollect = "\"r\"(theirs)";

std::string config(const std::string& shape, const std::string& schedule, int tile_n = 32) {
  return "ahead=0 cluster_n=1 " + shape +
         " consumers=2 depth_bytes=128 evict_first=none group_m=1 " + schedule +
         " promote=128 repack=none splits=1 stages=2 store=tma stream=0 swap=0 tile_n=" +
         std::to_string(tile_n) + " tile_m=128";
}

TEST_F(WgmmaMutants, Ring) {
  CatalogSpecimen specimen("gemm_wgmma",
                           config("cluster_parts=1 cluster_m=1", "schedule=cooperative"),
                           problem(Gemm::of(DType::f16, 136, 40, 328), Storage::n, Storage::t, 16));
  const std::string expect = "mbarrier_arrive_expect_tx(full[at.stage], bytes);";
  examine(
      specimen,
      {
          reported("no_wait_for_copies", "    ring.wait_until_full(place);\n", "",
                   Finding::missing_wait, kProduct),
          reported("wrong_parity", "mbarrier_wait(full[at.stage], at.parity);",
                   "mbarrier_wait(full[at.stage], at.parity ^ 1);", Finding::missing_wait,
                   kProduct),
          reported("parity_never_flips", "      parity ^= 1;\n", "", Finding::invalid_operand,
                   kExpect),
          reported("no_wait_for_readers",
                   "    wait_until_empty(at);\n    mbarrier_arrive_expect_tx",
                   "    mbarrier_arrive_expect_tx", Finding::invalid_operand, kExpect),
          reported("waits_for_ever", "mbarrier_wait(empty[at.stage], at.parity ^ 1);",
                   "mbarrier_wait(empty[at.stage], at.parity);", Finding::deadlock, kWait),
          reported("too_few_bytes", expect,
                   "mbarrier_arrive_expect_tx(full[at.stage], bytes - 128);", Finding::deadlock,
                   kWait),
          reported("too_many_bytes", expect,
                   "mbarrier_arrive_expect_tx(full[at.stage], bytes + 128);", Finding::deadlock,
                   kWait),
          reported("too_few_arrivals", "kConsumers * kBlocks);", "kConsumers * kBlocks + 1);",
                   Finding::deadlock, kWait),
          reported("every_lane_copies",
                   "if (warp == 4 * C.consumers && elect_one()) {\n      const ClusterPlace",
                   "if (warp == 4 * C.consumers) {\n      const ClusterPlace",
                   Finding::invalid_operand, kExpect),
          reported("early_release", "if (step > 0) ring.release(before, thread);",
                   "ring.release(place, thread);", Finding::missing_wait, kLoad),
          reported("no_wgmma_wait", "      wgmma_wait<0>();\n", "", Finding::missing_wait, kScaled),
          reported("no_wgmma_fence", "    wgmma_fence();\n", "", Finding::missing_fence, kProduct),
          reported("no_commit", "    wgmma_commit();\n", "", Finding::missing_wait, kLoad),
          reported("no_wait_for_the_launch_before",
                   "    if (step == 0) wait_for_previous_launch();\n", "", Finding::missing_wait,
                   kLoad),
          reported("stores_without_that_wait", "    wait_for_previous_launch();\n    for (int i",
                   "    for (int i", Finding::missing_wait, kStore),
          reported("no_fence_of_barriers", "    fence_mbarrier_init();\n", "",
                   Finding::missing_fence, kLoad),
          reported("no_barrier_after_initialisation",
                   "  if constexpr (kBlocks == 1) {\n    __syncthreads();\n  } else {",
                   "  if constexpr (kBlocks == 1) {\n  } else {", Finding::race, kWait),
          reported("columns_in_the_place_of_rows", "cols.start(stage + kBytes.rows,",
                   "cols.start(stage,", Finding::uninitialised, kProduct),
          reported("wrong_step", "k_major ? at * span + step * bytes :",
                   "k_major ? at * span + step * bytes * 16 :", Finding::uninitialised, kProduct),
          miscounts("wrong_swizzle", "kRows.span == 128 ? 1 :", "kRows.span == 128 ? 2 :", {0, 1}),
          miscounts("wrong_stride", "8 * kRows.span / 16;", "4 * kRows.span / 16;", {0, 1}),
          miscounts("only_the_last_stage", "tile.multiply(rows_at + stage, cols_at + stage, step);",
                    "tile.multiply(rows_at + stage, cols_at + stage, 0);", {0, 1}),
          miscounts("rows_of_the_other_consumer", "kRows.offset(first_row, 0);",
                    "kRows.offset(64 - first_row, 0);", {0, 1}),
      });
}

TEST_F(WgmmaMutants, TurnsAndStores) {
  CatalogSpecimen specimen(
      "gemm_wgmma", config("cluster_parts=1 cluster_m=1", "schedule=pingpong", 128),
      problem(Gemm::of(DType::f16, 200, 264, 328), Storage::n, Storage::t, 16), 2);
  examine(
      specimen,
      {
          reported("no_wait_for_the_turn",
                   "      if constexpr (kPingPong) ring.wait_for_turn(warpgroup, turn / "
                   "C.consumers);\n",
                   "", Finding::missing_wait, kProductOf128),
          reported("turns_are_not_skipped", "        place.template skip<C.stages>(unit.steps);",
                   "", Finding::invalid_operand, kExpect),
          reported("no_proxy_fence", "    fence_proxy_async();\n", "", Finding::missing_fence,
                   kStore),
          reported("no_warp_barrier", "    fence_proxy_async();\n    __syncwarp();\n",
                   "    fence_proxy_async();\n", Finding::race, kStore),
          reported("slab_filled_too_early", "tma_store_wait_read<1>();", "", Finding::missing_wait,
                   kFill),
          miscounts("unswizzled_slab", "(chunk ^ row * kSpan / 128 % (kSpan / 16)) * 16",
                    "chunk * 16", {0, 8}),
          reported("box_to_the_wrong_row",
                   "const BoxPlace place{col + i % kPieces * kCols, row + i / kPieces * 64}",
                   "const BoxPlace place{col + i % kPieces * kCols, row + i / kPieces * 16}",
                   Finding::race, kStore),
      });
}

TEST_F(WgmmaMutants, ShortTilesAndTheirOrder) {
  // Tiles of two slabs, which are copied together; six tiles for two blocks, in groups of one row.
  CatalogSpecimen specimen(
      "gemm_wgmma", config("cluster_parts=1 cluster_m=1", "schedule=cooperative", 64),
      problem(Gemm::of(DType::f16, 200, 136, 72), Storage::n, Storage::t, 16), 2);
  examine(specimen, {
                        reported("both_slabs_filled_too_early",
                                 "      if (begin == 0 && (!kTogether || piece == 0)) "
                                 "wait_for_slab<kOdd || kTogether>(piece);\n",
                                 "", Finding::race, kFill),
                        miscounts("quotient_that_is_not_corrected",
                                  "(n - estimate * by >= by ? 1 : 0)", "0", {0, 1}),
                    });
}

TEST_F(WgmmaMutants, TurnsOfOneStage) {
  // No products are over when the turn is passed on.
  CatalogSpecimen specimen("gemm_wgmma", config("cluster_parts=1 cluster_m=1", "schedule=pingpong"),
                           problem(Gemm::of(DType::f16, 200, 72, 40), Storage::n, Storage::t, 16),
                           2);
  examine(
      specimen,
      {
          reported(
              "one_warp_passes_the_turn_on_for_all", "    if (lane == 0) mbarrier_arrive(turn[",
              "    for (int i = threadIdx.x % 128 == 0 ? 0 : 4; i < 4; ++i) mbarrier_arrive(turn[",
              Finding::race, kWait),
      });
}

TEST_F(WgmmaMutants, Cluster) {
  CatalogSpecimen specimen("gemm_wgmma",
                           config("cluster_parts=1 cluster_m=2", "schedule=cooperative"),
                           problem(Gemm::of(DType::f16, 136, 40, 328), Storage::n, Storage::t, 16));
  examine(specimen,
          {
              reported("releases_only_its_own", "if (thread < kBlocks) mbarrier_arrive_remote",
                       "if (thread < 1) mbarrier_arrive_remote", Finding::deadlock, kWait),
              reported("ends_too_early", "      ring.drain(place);\n", "", Finding::missing_wait,
                       kArriveAtBlock),
              reported("copies_to_itself_only",
                       "tma_load_2d_multicast<kLeavesFirst>(blocks, to, map, from, full);",
                       "tma_load_2d<kLeavesFirst>(to, map, from, full);", Finding::deadlock, kWait),
              reported("part_of_the_other", "tile + slab * kSlabBytes + index * kBoxBytes;",
                       "tile + slab * kSlabBytes;", Finding::uninitialised, kProduct),
          });
}

TEST_F(WgmmaMutants, Parts) {
  CatalogSpecimen specimen("gemm_wgmma",
                           config("cluster_parts=2 cluster_m=1", "schedule=cooperative"),
                           problem(Gemm::of(DType::f16, 136, 40, 328), Storage::n, Storage::t, 16));
  examine(specimen,
          {
              reported("leaves_sums_in_stages_that_others_read",
                       "  named_barrier_sync<kThreads>();", "", Finding::race, kLeave),
              reported("collects_before_all_left", "  cluster_sync();\n  collect_share",
                       "  collect_share", Finding::race, kCollect),
              reported("ends_while_others_collect",
                       "  if constexpr (C.cluster_parts > 1) cluster_wait();", "",
                       Finding::missing_wait, kCollect),
              miscounts("only_the_first_part", "load_from_cluster_block(mine, from);",
                        "load_from_cluster_block(mine, 0);", {0, 1}),
              miscounts("both_take_the_same_stages",
                        "own = rank / (kShape.cluster_m * kShape.cluster_n);", "own = 0;", {0, 1}),
              reported("share_to_the_wrong_columns",
                       "  col += rank % kShares.along_cols * Share::shape().cols;\n", "",
                       Finding::race, kStore),
          });
}

}  // namespace
}  // namespace kiln::testing
