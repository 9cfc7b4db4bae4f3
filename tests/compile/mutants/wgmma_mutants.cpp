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
  examine(
      specimen,
      {
          reported("no_wait_for_copies", at("ring_full").removed(), Finding::missing_wait,
                   kProduct),
          reported("wrong_parity", at("wait_full").with("at.parity", "at.parity ^ 1"),
                   Finding::missing_wait, kProduct),
          reported("parity_never_flips", at("flip_parity").removed(), Finding::invalid_operand,
                   kExpect),
          reported("no_wait_for_readers", at("fill_wait").removed(), Finding::invalid_operand,
                   kExpect),
          reported("waits_for_ever", at("wait_empty").without(" ^ 1"), Finding::deadlock, kWait),
          reported("too_few_bytes", at("fill_bytes").with("bytes", "bytes - 128"),
                   Finding::deadlock, kWait),
          reported("too_many_bytes", at("fill_bytes").with("bytes", "bytes + 128"),
                   Finding::deadlock, kWait),
          reported("too_few_arrivals", at("readers").with("kBlocks", "kBlocks + 1"),
                   Finding::deadlock, kWait),
          reported("every_lane_copies", at("producer").without(" && elect_one()"),
                   Finding::invalid_operand, kExpect),
          reported("early_release", at("ring_release").replaced_by("ring.release(place, thread);"),
                   Finding::missing_wait, kLoad),
          reported("no_wgmma_wait", at("products_done").removed(), Finding::missing_wait, kScaled),
          reported("no_wgmma_fence", at("products_fence").removed(), Finding::missing_fence,
                   kProduct),
          reported("no_commit", at("products_commit").removed(), Finding::missing_wait, kLoad),
          reported("no_wait_for_the_launch_before", at("operands_ready").removed(),
                   Finding::missing_wait, kLoad),
          reported("stores_without_that_wait", at("inputs_ready").removed(), Finding::missing_wait,
                   kStore),
          reported("no_fence_of_barriers", at("init_fence").removed(), Finding::missing_fence,
                   kLoad),
          reported("no_barrier_after_initialisation", at("wait_for_block").removed(), Finding::race,
                   kWait),
          reported("columns_in_the_place_of_rows", at("start_cols").without(" + kBytes.rows"),
                   Finding::uninitialised, kProduct),
          reported("wrong_step", at("operand_offset").with("step * bytes", "step * bytes * 16"),
                   Finding::uninitialised, kProduct),
          miscounts("wrong_swizzle", at("swizzle_mode").with("128 ? 1", "128 ? 2"), {0, 1}),
          miscounts("wrong_stride", at("swizzle_stride").with("8 *", "4 *"), {0, 1}),
          miscounts("only_the_last_stage", at("ring_multiply").with("step", "0"), {0, 1}),
          miscounts("rows_of_the_other_consumer",
                    at("first_rows").with("first_row", "64 - first_row"), {0, 1}),
      });
}

TEST_F(WgmmaMutants, TurnsAndStores) {
  CatalogSpecimen specimen(
      "gemm_wgmma", config("cluster_parts=1 cluster_m=1", "schedule=pingpong", 128),
      problem(Gemm::of(DType::f16, 200, 264, 328), Storage::n, Storage::t, 16), 2);
  examine(
      specimen,
      {
          reported("no_wait_for_the_turn", at("wait_for_turn").removed(), Finding::missing_wait,
                   kProductOf128),
          reported("turns_are_not_skipped", at("skip_turn").removed(), Finding::invalid_operand,
                   kExpect),
          reported("no_proxy_fence", at("slab_fence").removed(), Finding::missing_fence, kStore),
          reported("no_warp_barrier", at("slab_filled").removed(), Finding::race, kStore),
          reported("slab_filled_too_early", at("slab_free").removed(), Finding::missing_wait,
                   kFill),
          miscounts("unswizzled_slab",
                    at("chunk").with("(chunk ^ row * kSpan / 128 % (kSpan / 16))", "chunk"),
                    {0, 8}),
          reported("box_to_the_wrong_row", at("box").with("64", "16"), Finding::race, kStore),
      });
}

TEST_F(WgmmaMutants, ShortTilesAndTheirOrder) {
  // Tiles of two slabs, which are copied together; six tiles for two blocks, in groups of one row.
  CatalogSpecimen specimen(
      "gemm_wgmma", config("cluster_parts=1 cluster_m=1", "schedule=cooperative", 64),
      problem(Gemm::of(DType::f16, 200, 136, 72), Storage::n, Storage::t, 16), 2);
  examine(specimen, {
                        reported("both_slabs_filled_too_early", at("wait_for_slab").removed(),
                                 Finding::race, kFill),
                        miscounts("quotient_that_is_not_corrected",
                                  at("correct_quotient").replaced_by("return estimate;"), {0, 1}),
                    });
}

TEST_F(WgmmaMutants, TurnsOfOneStage) {
  // No products are over when the turn is passed on.
  CatalogSpecimen specimen("gemm_wgmma", config("cluster_parts=1 cluster_m=1", "schedule=pingpong"),
                           problem(Gemm::of(DType::f16, 200, 72, 40), Storage::n, Storage::t, 16),
                           2);
  examine(specimen,
          {
              reported("one_warp_passes_the_turn_on_for_all",
                       at("pass_turn")
                           .with("if (lane == 0)",
                                 "for (int i = threadIdx.x % 128 == 0 ? 0 : 4; i < 4; ++i)"),
                       Finding::race, kWait),
          });
}

TEST_F(WgmmaMutants, Cluster) {
  CatalogSpecimen specimen("gemm_wgmma",
                           config("cluster_parts=1 cluster_m=2", "schedule=cooperative"),
                           problem(Gemm::of(DType::f16, 136, 40, 328), Storage::n, Storage::t, 16));
  examine(
      specimen,
      {
          reported("releases_only_its_own", at("release").with("kBlocks", "1"), Finding::deadlock,
                   kWait),
          reported("ends_too_early", at("drain").removed(), Finding::missing_wait, kArriveAtBlock),
          reported("copies_to_itself_only",
                   at("multicast").replaced_by("tma_load_2d<kLeavesFirst>(to, map, from, full);"),
                   Finding::deadlock, kWait),
          reported("part_of_the_other", at("copy_to").without(" + index * kBoxBytes"),
                   Finding::uninitialised, kProduct),
      });
}

TEST_F(WgmmaMutants, Parts) {
  CatalogSpecimen specimen("gemm_wgmma",
                           config("cluster_parts=2 cluster_m=1", "schedule=cooperative"),
                           problem(Gemm::of(DType::f16, 136, 40, 328), Storage::n, Storage::t, 16));
  examine(
      specimen,
      {
          reported("leaves_sums_in_stages_that_others_read", at("stages_read").removed(),
                   Finding::race, kLeave),
          reported("collects_before_all_left", at("parts_left").removed(), Finding::race, kCollect),
          reported("ends_while_others_collect", at("parts_read").removed(), Finding::missing_wait,
                   kCollect),
          miscounts("only_the_first_part", at("load_part").with("mine, from", "mine, 0"), {0, 1}),
          miscounts("both_take_the_same_stages", at("own_part").replaced_by("const int own = 0;"),
                    {0, 1}),
          reported("share_to_the_wrong_columns", at("share_col").removed(), Finding::race, kStore),
      });
}

}  // namespace
}  // namespace kiln::testing
