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
  examine(specimen,
          {
              reported("no_edge", "if (row >= static_cast<unsigned>(args.m) || col", "if (col",
                       Finding::out_of_bounds, "return to_accumulator<Acc>(row[index]);"),
              reported("edge_off_by_one", "col >= static_cast<unsigned>(args.n)) return;",
                       "col > static_cast<unsigned>(args.n)) return;", Finding::out_of_bounds,
                       "return to_accumulator<Acc>(row[index]);"),
              reported("one_product_too_many", "for (int i = 0; i < args.k; ++i) {",
                       "for (int i = 0; i <= args.k; ++i) {", Finding::out_of_bounds,
                       "return to_accumulator<Acc>(row[index]);"),
              reported("reads_c_without_beta", "if (kReadsC && beta != T(0)) value", "value",
                       Finding::out_of_bounds, "value += beta * to_accumulator<T>(*c);"),
              miscounts("wrong_step", "C.k_major_b ? 1 : args.ldb;", "C.k_major_b ? 1 : args.lda;",
                        {0, 1}),
          });
}

TEST_F(CatalogMutants, Tiled) {
  CatalogSpecimen specimen(
      "gemm_tiled",
      "group_m=1 min_blocks=1 pad=4 stages=1 thread_m=2 thread_n=2 tile_k=8 tile_m=32 tile_n=32",
      problem(Gemm::of(DType::f32, 40, 50, 20), Storage::n, Storage::t, 4));
  const std::string store = "tile[kPlaces.offset(x, z)] =";
  const std::string load = "const Vector vector = *reinterpret_cast";
  examine(
      specimen,
      {
          reported("no_barrier_after_loading",
                   "    copy_b.copy(stage + kFirstB, left);\n    __syncthreads();\n",
                   "    copy_b.copy(stage + kFirstB, left);\n", Finding::race, load),
          reported("no_barrier_after_computing", "    __syncthreads();\n    copy_a.advance();",
                   "    copy_a.advance();", Finding::race, store),
          reported("no_edge_across", "x < across_ && z < depth", "z < depth",
                   Finding::out_of_bounds, store),
          reported("no_edge_in_depth", "x < across_ && z < depth", "x < across_",
                   Finding::out_of_bounds, store),
          reported("no_zeros",
                   "tile[kPlaces.offset(x, z)] = x < across_ && z < depth ? "
                   "to_accumulator<Acc>(*from) : Acc(0);",
                   "if (x < across_ && z < depth) tile[kPlaces.offset(x, z)] = "
                   "to_accumulator<Acc>(*from);",
                   Finding::uninitialised, load),
          reported("tiles_overlap", "{{C.b_stride}, false, C.a_numbers}",
                   "{{C.b_stride}, false, C.a_numbers - 32}", Finding::race, store),
          reported("tiles_too_far", "{{C.b_stride}, false, C.a_numbers}",
                   "{{C.b_stride}, false, C.a_numbers + 32}", Finding::out_of_bounds, store),
          reported("misaligned_vectors", "{{C.b_stride}, false, C.a_numbers}",
                   "{{C.b_stride}, false, C.a_numbers - 1}", Finding::misaligned, load),
          reported("one_row_too_many",
                   "if (to_row >= output.rows()) continue;\n#pragma unroll\n    for (int j = 0; j "
                   "< Mma::shape().n; ++j)",
                   "if (to_row > output.rows()) continue;\n#pragma unroll\n    for (int j = 0; j "
                   "< Mma::shape().n; ++j)",
                   Finding::out_of_bounds, "*d = from_accumulator<D>(value);"),
          reported("wrong_share", "(i / kVec * kThreads + thread) * kVec + i % kVec",
                   "(i / kVec * kThreads + thread) * kVec + i % kVec + kVec * kThreads",
                   Finding::uninitialised, load),
          miscounts("half_of_a_tile_twice", "source_ += kTile.k_major ? kDepth : kDepth * ld_;",
                    "source_ += kTile.k_major ? kDepth / 2 : kDepth * ld_;", {0, 1}),
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
  const std::string exists = "across(pass) < across_ && depth(pass) < left_";
  examine(
      specimen,
      {
          reported("no_barrier",
                   "      copy_b.store(b, next + kFirstB);\n    }\n    "
                   "__syncthreads();\n",
                   "      copy_b.store(b, next + kFirstB);\n    }\n", Finding::race, load),
          reported("no_first_barrier", "  copy_b.store(b, stages + kFirstB);\n  __syncthreads();\n",
                   "  copy_b.store(b, stages + kFirstB);\n", Finding::race, load),
          reported("one_stage_for_two", "T* next = stages + (tile + 1) % 2 * kElements;",
                   "T* next = stages + tile % 2 * kElements;", Finding::race, store),
          reported("no_edge_across", exists, "depth(pass) < left_", Finding::out_of_bounds, read),
          reported("no_edge_in_depth", exists, "across(pass) < across_", Finding::out_of_bounds,
                   read),
          reported("never_less_left", "    left_ -= kTileDepth;\n", "    left_ -= 1;\n",
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
  const std::string wait_in_loop =
      "        wait_async_groups<kStages - 2>();\n        __syncthreads();\n      }\n";
  // The shifted epilogue has a loop like it.
  const std::string loop_of_pieces =
      "#pragma unroll 2\n    for (int piece = lane; piece < Atom::rows() * kPieces; piece += 32) "
      "{\n"
      "      const int y = piece / kPieces;\n      const int x";
  examine(
      specimen,
      {
          reported("no_wait", wait_in_loop, "        __syncthreads();\n      }\n",
                   Finding::missing_wait, load_a),
          reported("waits_for_one_less", wait_in_loop,
                   "        wait_async_groups<kStages - 1>();\n        __syncthreads();\n      }\n",
                   Finding::missing_wait, load_a),
          reported("no_barrier", wait_in_loop,
                   "        wait_async_groups<kStages - 2>();\n      }\n", Finding::race, load_a),
          reported("no_first_barrier",
                   "    __syncthreads();\n    mma_.load_fragments(read_.stage(), 0, 0);",
                   "    mma_.load_fragments(read_.stage(), 0, 0);", Finding::race, load_a),
          reported("ring_one_stage_shorter",
                   "if (at_ == begin_ + kStages * kStageElements) at_ = begin_;",
                   "if (at_ == begin_ + (kStages - 1) * kStageElements) at_ = begin_;",
                   Finding::missing_wait, load_a),
          reported("no_wrap", "    if (at_ == begin_ + kStages * kStageElements) at_ = begin_;\n",
                   "", Finding::out_of_bounds, copy),
          reported("copy_too_early", "for (int i = 0; i < kStages - 1; ++i) start_next<false>();",
                   "for (int i = 0; i < kStages; ++i) start_next<false>();", Finding::missing_wait,
                   load_a),
          reported("no_group", "    commit_async_group();\n    --left_;", "    --left_;",
                   Finding::missing_wait, load_a),
          reported("results_in_place_too_early",
                   "  __syncthreads();\n  Acc* slab = reinterpret_cast<Acc*>(shared_memory)",
                   "  Acc* slab = reinterpret_cast<Acc*>(shared_memory)", Finding::race,
                   "nvcuda::wmma::store_matrix_sync(to, sum, stride"),
          reported("no_warp_barrier",
                   "    mma.store_row(i, slab, kSlabStride);\n    __syncwarp();\n" + loop_of_pieces,
                   "    mma.store_row(i, slab, kSlabStride);\n" + loop_of_pieces, Finding::race,
                   "*reinterpret_cast<Sums*>(to) = *reinterpret_cast<const Sums*>(from);"),
          reported("divergent_wmma", "  nvcuda::wmma::mma_sync(sum",
                   "  if (threadIdx.x % 32 < 31) nvcuda::wmma::mma_sync(sum", Finding::divergent,
                   "nvcuda::wmma::mma_sync(sum"),
          reported("partial_rows_read_whole", "this->valid(pass) * static_cast<int>(sizeof(T)));",
                   "kBytes);", Finding::out_of_bounds, "     \"r\"(source_bytes)"),
          reported("misaligned_copy", "T* to = tile + this->row_ * kStride + this->col_;",
                   "T* to = tile + this->row_ * kStride + this->col_ + 1;", Finding::misaligned,
                   copy),
          reported("row_too_far",
                   "if (to_row >= output.rows() || to_col >= output.cols()) continue;",
                   "if (to_row > output.rows() || to_col >= output.cols()) continue;",
                   Finding::out_of_bounds, "*reinterpret_cast<ElementVector<D, kCount>*>(d) = to;"),
          miscounts("fragment_twice", "sums_[i][j], a_[slot][i], b_[slot][j]);",
                    "sums_[i][j], a_[slot][0], b_[slot][j]);", {16, 17}),
          miscounts("rows_off_by_one",
                    "const int to_row = row + i * Atom::rows() + y;\n      const int to_col",
                    "const int to_row = row + i * Atom::rows() + (y ^ 1);\n      const int to_col",
                    {0, 1}),
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
  const std::string wait_in_loop =
      "        wait_async_groups<kStages - 2>();\n        __syncthreads();\n      }\n";
  examine(
      specimen,
      {
          reported("no_barrier", wait_in_loop,
                   "        wait_async_groups<kStages - 2>();\n      }\n", Finding::race, load),
          reported("no_wait", wait_in_loop, "        __syncthreads();\n      }\n",
                   Finding::missing_wait, load),
          reported("one_whole_tile_too_many", "tile < whole - (kStages - 1)",
                   "tile < whole - (kStages - 2)", Finding::out_of_bounds,
                   "asm volatile(\"cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\""),
          reported("edge_taken_for_whole", "across() >= tile.across ? depth / tile.depth : 0",
                   "depth / tile.depth", Finding::out_of_bounds,
                   "\"n\"(kBytes), \"r\"(source_bytes)"),
          miscounts("whole_tiles_do_not_move_on",
                    "    source_ += kTile.depth;\n    start_copies(tile + place_",
                    "    start_copies(tile + place_", {0, 1}),
          miscounts("fragments_of_this_step", "mma_.load_fragments(read_.stage(), (step + 1) % ",
                    "mma_.load_fragments(read_.stage(), step % ", {0, 1}),
      });
}

TEST_F(CatalogMutants, WmmaThroughRegisters) {
  CatalogSpecimen specimen("gemm_wmma",
                           "copy=registers frag_m=16 group_m=1 min_blocks=1 pad=8 stages=2 "
                           "tile_k=16 tile_m=32 tile_n=64 "
                           "warp_m=32 warp_n=32",
                           problem(Gemm::of(DType::bf16, 40, 72, 88), Storage::n, Storage::t, 16));
  const std::string load = "nvcuda::wmma::load_matrix_sync(halves, ";
  examine(
      specimen,
      {
          reported("no_barrier_in_the_loop",
                   "      copy_b.store(b, next + kFirstB);\n    }\n    __syncthreads();\n",
                   "      copy_b.store(b, next + kFirstB);\n    }\n", Finding::race, load),
          reported("no_first_barrier", "  copy_b.store(b, stages + kFirstB);\n  __syncthreads();\n",
                   "  copy_b.store(b, stages + kFirstB);\n", Finding::race, load),
          reported("buffers_not_swapped", "T* next = stages + (tile + 1) % 2 * kElements;",
                   "T* next = stages + tile % 2 * kElements;", Finding::race, load),
          reported("b_in_the_place_of_a", "copy_b.store(b, next + kFirstB);",
                   "copy_b.store(b, next);", Finding::uninitialised, load),
          miscounts("layout_of_b", "typename WmmaLayout<kIsA == kAlongDepth>::type>;",
                    "typename WmmaLayout<kAlongDepth>::type>;", {0, 1}),
          miscounts("tail_dropped", "const int tiles = ceil_div(a.depth, C.tile_k);",
                    "const int tiles = a.depth / C.tile_k;", {0, 1}),
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
              miscounts("registers_of_b", "constexpr int kTogether = kIsA == (kShape.m != 8)",
                        "constexpr int kTogether = kIsA != (kShape.m != 8)", {0, 1}),
              miscounts("one_part_of_two", "for (int i = 0; i < FragmentA::kParts; ++i) {",
                        "for (int i = 0; i < 1; ++i) {", {0, 1}),
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
  examine(specimen,
          {
              reported("reads_too_early", "  cluster_sync();\n  for (int piece", "  for (int piece",
                       Finding::race, load),
              reported("ends_too_early",
                       "  // Until the last of them is read, no block's sums may go.\n  "
                       "cluster_sync();\n",
                       "", Finding::missing_wait, load),
              reported("beyond_the_cluster", "if (from < blocks) parts[from]",
                       "if (from <= blocks) parts[from]", Finding::invalid_operand,
                       "__cvta_generic_to_shared(mine))), \"r\"(rank)"),
              miscounts("own_part_only", "load_from_cluster_block(tile + y * kStride + x, from)",
                        "load_from_cluster_block(tile + y * kStride + x, rank)", {0, 1}),
              miscounts("last_share_dropped", "piece += blocks * kThreads)", "piece += kAll)",
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
          reported("no_wait_for_copies", "mbarrier_wait(full[at.stage], at.parity);", "",
                   Finding::missing_wait, load),
          reported("no_wait_for_readers",
                   "    wait_until_empty(at);\n    mbarrier_arrive_expect_tx",
                   "    mbarrier_arrive_expect_tx", Finding::race, copy),
          reported("too_few_bytes", "ring.begin_fill({stage, parity}, kBytes);",
                   "ring.begin_fill({stage, parity}, kBytes - 128);", Finding::deadlock, wait),
          reported("released_before_it_is_read",
                   "        // After the last tile this reads a stage that",
                   "        if (step == 0) ring.release({stage, parity}, lane);\n//", Finding::race,
                   copy),
          reported("refilled_too_early", "start_copies(tile + kStages - kLag, (stage",
                   "start_copies(tile + kStages - kLag, (kLag + stage", Finding::deadlock, wait),
          reported("wrong_parity_of_the_next", "next == 0 ? parity ^ 1 : parity",
                   "next == 0 ? parity : parity", Finding::missing_wait, load),
          reported("beyond_the_last_tile", "if (step == kSteps - 1 && tile + 1 < tiles) {",
                   "if (step == kSteps - 1) {", Finding::deadlock, wait),
          miscounts("one_depth_too_far", "const int k = at.k + tile * kDepth;",
                    "const int k = at.k + (tile + 1) * kDepth;", {0, 1}),
          miscounts("columns_next_to_each_other", "^ (word % 2 * 8 + half * 4);",
                    "^ (word % 2 * 8 + half * 2);", {0, 1}),
          miscounts("sums_in_the_other_half", "B::across(2 * t, half)",
                    "B::across(2 * t, 1 - half)", {0, 1}),
      });
}

}  // namespace
}  // namespace kiln::testing
