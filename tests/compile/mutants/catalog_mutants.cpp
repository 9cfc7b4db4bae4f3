// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Mutants of the catalog's kernels, as rendered for a configuration in which the mistake matters.
#include <gtest/gtest.h>

#include <string>

#include "tests/compile/mutants/catalog_specimen.hpp"

namespace kiln::testing {
namespace {

using CatalogMutants = NvrtcTest;

TEST_F(CatalogMutants, Naive) {
  CatalogSpecimen specimen("gemm_naive", "block_x=16 block_y=4",
                           problem(Gemm::of(DType::f32, 18, 21, 10), Storage::n, Storage::n, 4));
  examine(
      specimen,
      {
          reported("no_edge", at("naive_edge").without("row >= static_cast<unsigned>(args.m) || "),
                   Finding::out_of_bounds, "return to_accumulator<Acc>(row[index]);"),
          reported("edge_off_by_one", at("naive_edge").with("col >=", "col >"),
                   Finding::out_of_bounds, "return to_accumulator<Acc>(row[index]);"),
          reported("one_product_too_many", at("naive_k_loop").with("<", "<="),
                   Finding::out_of_bounds, "return to_accumulator<Acc>(row[index]);"),
          reported("reads_c_without_beta", at("add_c").without("if (kReadsC && beta != T(0)) "),
                   Finding::out_of_bounds, "value += beta * to_accumulator<T>(*c);"),
          miscounts("wrong_step", at("naive_step_b").with("args.ldb", "args.lda"), {0, 1}),
      });
}

TEST_F(CatalogMutants, Tiled) {
  CatalogSpecimen specimen(
      "gemm_tiled",
      "group_m=1 min_blocks=1 pad=4 stages=1 thread_m=2 thread_n=2 tile_k=8 tile_m=32 tile_n=32",
      problem(Gemm::of(DType::f32, 40, 50, 20), Storage::n, Storage::t, 4));
  const std::string store = "tile[kPlaces.offset(x, z)] =";
  const std::string load = "const Vector vector = *reinterpret_cast";
  examine(specimen,
          {
              reported("no_barrier_after_loading", at("unbuffered_filled").removed(), Finding::race,
                       load),
              reported("no_barrier_after_computing", at("unbuffered_read").removed(), Finding::race,
                       store),
              reported("no_edge_across", at("copy_element").without("x < across_ && "),
                       Finding::out_of_bounds, store),
              reported("no_edge_in_depth", at("copy_element").without(" && z < depth"),
                       Finding::out_of_bounds, store),
              reported("no_zeros",
                       at("copy_element")
                           .replaced_by("if (x < across_ && z < depth) tile[kPlaces.offset(x, z)] "
                                        "= to_accumulator<Acc>(*from);"),
                       Finding::uninitialised, load),
              reported("tiles_overlap", at("tiled_b").with("C.a_numbers", "C.a_numbers - 32"),
                       Finding::race, store),
              reported("tiles_too_far", at("tiled_b").with("C.a_numbers", "C.a_numbers + 32"),
                       Finding::out_of_bounds, store),
              reported("misaligned_vectors", at("tiled_b").with("C.a_numbers", "C.a_numbers - 1"),
                       Finding::misaligned, load),
              reported("one_row_too_many", at("direct_edge").with(">=", ">"),
                       Finding::out_of_bounds, "*d = from_accumulator<D>(value);"),
              reported("wrong_share", at("spread").with("i % kVec", "i % kVec + kVec * kThreads"),
                       Finding::uninitialised, load),
              miscounts("half_of_a_tile_twice",
                        at("next_elements").with("? kDepth", "? kDepth / 2"), {0, 1}),
          });
}

TEST_F(CatalogMutants, TiledTwoStages) {
  CatalogSpecimen specimen(
      "gemm_tiled",
      "group_m=1 min_blocks=1 pad=4 stages=2 thread_m=2 thread_n=2 tile_k=8 tile_m=32 tile_n=32",
      problem(Gemm::of(DType::f32, 40, 50, 44), Storage::n, Storage::t, 4));
  const std::string store = "tile[kPlaces.offset(across(pass), depth(pass))] =";
  const std::string load = "const Vector vector = *reinterpret_cast";
  const std::string read = "registers.element[pass] = exists ? *element";
  examine(specimen,
          {
              reported("no_barrier", at("next_filled").removed(), Finding::race, load),
              reported("no_first_barrier", at("first_filled").removed(), Finding::race, load),
              reported("one_stage_for_two", at("next_stage").with("(tile + 1)", "tile"),
                       Finding::race, store),
              reported("no_edge_across", at("exists").without("across(pass) < across_ && "),
                       Finding::out_of_bounds, read),
              reported("no_edge_in_depth", at("exists").without(" && depth(pass) < left_"),
                       Finding::out_of_bounds, read),
              reported("never_less_left", at("element_depth").with("kTileDepth", "1"),
                       Finding::out_of_bounds, read),
          });
}

constexpr const char* kRing =
    "copy=cp_async frag_m=16 group_m=1 min_blocks=1 pad=8 stages=3 tile_k=32 tile_m=32 tile_n=64 "
    "warp_m=32 warp_n=32";

TEST_F(CatalogMutants, WmmaRing) {
  CatalogSpecimen specimen("gemm_wmma", kRing,
                           problem(Gemm::of(DType::f16, 40, 72, 184), Storage::n, Storage::n, 16));
  const std::string load_a = "nvcuda::wmma::load_matrix_sync(parts[i], ";
  const std::string copy = "asm volatile(\"cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\"";
  examine(
      specimen,
      {
          reported("no_wait", at("async_wait").removed(), Finding::missing_wait, load_a),
          reported("waits_for_one_less", at("async_wait").with("kStages - 2", "kStages - 1"),
                   Finding::missing_wait, load_a),
          reported("no_barrier", at("async_barrier").removed(), Finding::race, load_a),
          reported("no_first_barrier", at("async_filled").removed(), Finding::race, load_a),
          reported("ring_one_stage_shorter", at("ring_end").with("kStages *", "(kStages - 1) *"),
                   Finding::missing_wait, load_a),
          reported("no_wrap", at("ring_end").removed(), Finding::out_of_bounds, copy),
          reported("copy_too_early", at("async_fill").with("kStages - 1", "kStages"),
                   Finding::missing_wait, load_a),
          reported("no_group", at("async_group").removed(), Finding::missing_wait, load_a),
          reported("results_in_place_too_early", at("wmma_tiles_read").removed(), Finding::race,
                   "nvcuda::wmma::store_matrix_sync(to, sum, stride"),
          reported("no_warp_barrier", at("staged").removed(), Finding::race,
                   "*reinterpret_cast<Sums*>(to) = *reinterpret_cast<const Sums*>(from);"),
          reported("divergent_wmma",
                   at("wmma").with("nvcuda::", "if (threadIdx.x % 32 < 31) nvcuda::"),
                   Finding::divergent, "nvcuda::wmma::mma_sync(sum"),
          reported(
              "partial_rows_read_whole",
              at("copy_bytes").with("this->valid(pass) * static_cast<int>(sizeof(T))", "kBytes"),
              Finding::out_of_bounds, "     \"r\"(source_bytes)"),
          reported("misaligned_copy", at("copy_async_to").with("this->col_", "this->col_ + 1"),
                   Finding::misaligned, copy),
          reported("row_too_far", at("staged_edge").with("to_row >=", "to_row >"),
                   Finding::out_of_bounds, "*reinterpret_cast<ElementVector<D, kCount>*>(d) = to;"),
          miscounts("fragment_twice", at("multiply_fragments").with("a_[slot][i]", "a_[slot][0]"),
                    {16, 17}),
          miscounts("rows_off_by_one", at("staged_row").with("+ y", "+ (y ^ 1)"), {0, 1}),
      });
}

// Two rows and two columns of tiles, of which one each lies in the matrix; whole tiles along k and
// a part of one.
TEST_F(CatalogMutants, SimtRing) {
  CatalogSpecimen specimen(
      "gemm_simt",
      "columns_first=1 early=0 group_m=1 lanes_m=8 loads_first=1 min_blocks=1 parted=0 slice_k=8 "
      "slices=1 splits=1 stages=3 thread_m=4 thread_n=8 tile_m=32 tile_n=64 turned=0",
      problem(Gemm::of(DType::f32, 40, 72, 83), Storage::n, Storage::n, 16));
  const std::string load = "const Vector vector = *reinterpret_cast<const Vector*>(from + i /";
  examine(specimen,
          {
              reported("no_barrier", at("async_barrier").removed(), Finding::race, load),
              reported("no_wait", at("async_wait").removed(), Finding::missing_wait, load),
              reported("one_whole_tile_too_many",
                       at("whole_first").with("kStages - 1", "kStages - 2"), Finding::out_of_bounds,
                       "asm volatile(\"cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\""),
              reported("edge_taken_for_whole",
                       at("whole_tiles").replaced_by("return depth / tile.depth;"),
                       Finding::out_of_bounds, "\"n\"(kBytes), \"r\"(source_bytes)"),
              miscounts("whole_tiles_do_not_move_on", at("next_scattered").removed(), {0, 1}),
              miscounts("fragments_of_this_step",
                        at("async_load").with("(step + 1) % kSteps", "step % kSteps"), {0, 1}),
          });
}

TEST_F(CatalogMutants, WmmaThroughRegisters) {
  CatalogSpecimen specimen("gemm_wmma",
                           "copy=registers frag_m=16 group_m=1 min_blocks=1 pad=8 stages=2 "
                           "tile_k=16 tile_m=32 tile_n=64 "
                           "warp_m=32 warp_n=32",
                           problem(Gemm::of(DType::bf16, 40, 72, 88), Storage::n, Storage::t, 16));
  const std::string load = "nvcuda::wmma::load_matrix_sync(halves, ";
  examine(specimen,
          {
              reported("no_barrier_in_the_loop", at("next_filled").removed(), Finding::race, load),
              reported("no_first_barrier", at("first_filled").removed(), Finding::race, load),
              reported("buffers_not_swapped", at("next_stage").with("(tile + 1)", "tile"),
                       Finding::race, load),
              reported("b_in_the_place_of_a", at("store_next_b").without(" + kFirstB"),
                       Finding::uninitialised, load),
              miscounts("layout_of_b", at("wmma_layout").with("kIsA == kAlongDepth", "kAlongDepth"),
                        {0, 1}),
              miscounts("tail_dropped",
                        at("wmma_tiles").with("ceil_div(a.depth, C.tile_k)", "a.depth / C.tile_k"),
                        {0, 1}),
          });
}

TEST_F(CatalogMutants, WmmaOfBytes) {
  CatalogSpecimen specimen("gemm_wmma",
                           "copy=registers frag_m=16 group_m=1 min_blocks=1 pad=16 stages=1 "
                           "tile_k=32 tile_m=32 tile_n=32 "
                           "warp_m=32 warp_n=32",
                           problem(Gemm::of(DType::s8, 40, 40, 72), Storage::n, Storage::t, 8));
  examine(specimen,
          {
              miscounts("registers_of_b", at("wmma_together").with("==", "!="), {0, 1}),
              miscounts("one_part_of_two", at("wmma_parts").with("FragmentA::kParts", "1"), {0, 1}),
          });
}

TEST_F(CatalogMutants, ClusterSum) {
  CatalogSpecimen specimen(
      "gemm_mma",
      "atom_bytes=32 buffers=1 cluster_sum=1 copy=cp_async depth_bytes=64 early=1 group_m=1 "
      "min_blocks=1 "
      "repack=none slices=1 splits=4 stages=3 tile_m=32 tile_n=64 warp_m=32 warp_n=32",
      problem(Gemm::of(DType::f16, 40, 72, 184), Storage::n, Storage::t, 16));
  const std::string load = ": \"r\"(theirs)";
  examine(
      specimen,
      {
          reported("reads_too_early", at("sums_left").removed(), Finding::race, load),
          reported("ends_too_early", at("sums_read").removed(), Finding::missing_wait, load),
          reported("beyond_the_cluster", at("load_sums").with("from < blocks", "from <= blocks"),
                   Finding::invalid_operand, "__cvta_generic_to_shared(mine))), \"r\"(rank)"),
          miscounts("own_part_only", at("load_sums").with("x, from", "x, rank"), {0, 1}),
          miscounts("last_share_dropped", at("next_sums").with("blocks * kThreads", "kAll"),
                    {16, 17}),
      });
}

TEST_F(CatalogMutants, RingOfBoxes) {
  CatalogSpecimen specimen(
      "gemm_mma",
      "atom_bytes=64 buffers=2 cluster_sum=0 copy=tma depth_bytes=128 early=0 group_m=1 "
      "min_blocks=1 "
      "repack=none slices=1 splits=1 stages=3 tile_m=64 tile_n=32 warp_m=32 warp_n=16",
      problem(Gemm::of(DType::f64, 40, 24, 136), Storage::n, Storage::n, 16));
  const std::string load = "fragment.words[i] = place.stage[BoxedF64";
  const std::string copy =
      "\"l\"(&map), \"r\"(from.x), \"r\"(from.y), \"r\"(shared_address(&barrier))";
  const std::string wait = "\"r\"(parity)";
  examine(
      specimen,
      {
          reported("no_wait_for_copies",
                   at("wait_full").without("mbarrier_wait(full[at.stage], at.parity);"),
                   Finding::missing_wait, load),
          reported("no_wait_for_readers", at("fill_wait").removed(), Finding::race, copy),
          reported("too_few_bytes", at("box_bytes").with("kBytes", "kBytes - 128"),
                   Finding::deadlock, wait),
          reported("released_before_it_is_read",
                   at("last_step")
                       .with("if (", "if (step == 0) ring.release({stage, parity}, lane);\nif ("),
                   Finding::race, copy),
          reported("refilled_too_early", at("refill").with("(stage", "(kLag + stage"),
                   Finding::deadlock, wait),
          reported("wrong_parity_of_the_next", at("next_box").without(" ^ 1"),
                   Finding::missing_wait, load),
          reported("beyond_the_last_tile", at("last_step").without(" && tile + 1 < tiles"),
                   Finding::deadlock, wait),
          miscounts("one_depth_too_far", at("box_k").with("tile *", "(tile + 1) *"), {0, 1}),
          miscounts("columns_next_to_each_other", at("boxed_word").with("half * 4", "half * 2"),
                    {0, 1}),
          miscounts("sums_in_the_other_half", at("boxed_pair").with("half", "1 - half"), {0, 1}),
      });
}

}  // namespace
}  // namespace kiln::testing
