// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   gemm_wgmma
//@ purpose    Hopper's tensor cores at their full rate: wgmma on tiles that TMA brings.
//@ operation  gemm
//@ epilogue   yes
//@ arch       sm == 90
//@ priority   300   // whatever it takes
//@ types      a=f16|bf16 b=a c=a|f32 d=c acc=f32
//@ types      a=f16 b=a c=a d=a acc=f16
//@ types      a=tf32 b=tf32 c=f32 d=f32 acc=f32
//@ types      a=s8|u8 b=s8|u8 c=s32|f16|bf16|f32|s8|u8 d=c acc=s32

/// \file
/// D = alpha op(A) op(B) + beta C where no thread loads an operand: one thread of a producer
/// warpgroup starts TMA copies into a ring of stages, and consumer warpgroups start the products:
///
///     producer     | copy 0 | copy 1 | copy 2 | copy 3 |  ...  as stages come free
///     consumer 0            | multiply 0 | multiply 1 | ...  64 or more rows of the tile
///     consumer 1            | multiply 0 | multiply 1 | ...  the rows below
///
/// The producer needs few registers and gives the others to the consumers, whose sums take most of
/// theirs. Blocks stay for several tiles of D: while one is stored, the ring fills for the next.
///
///                      tile_n
///                   +-----------+              wgmma counts rows in 64s and columns in 8s.
///                   |  columns  | tile_k       Usually rows are those of D. With few of them,
///                   +-----------+              `swap` lays D on its side: its columns, of which
///     +--+          +-----------+              there are many, on the axis of 64.
///     |  |   64     | consumer 0|
///     |  |          +-----------+ tile_m
///     |  |   64     | consumer 1|
///     +--+          +-----------+
///
/// Blocks of a cluster copy for each other. Rows not on 16 bytes, and MN-major operands of 8 and 32
/// bits, are repacked (lib/repack.cuh). Few tiles are cut along k, for a launch (lib/split_k.cuh)
/// or a cluster (lib/cluster_parts.cuh) to add up; the last waves are shared out
/// (lib/stream_k.cuh).

#include "common/meta.cuh"
#include "common/overlap.cuh"
#include "lib/cluster_parts.cuh"
#include "lib/epilogue_boxes.cuh"
#include "lib/epilogue_warpgroup.cuh"
#include "lib/main_loop_ring.cuh"
#include "lib/operand_copies.cuh"
#include "lib/output.cuh"
#include "lib/ptx_cluster.cuh"
#include "lib/repack.cuh"
#include "lib/split_k.cuh"
#include "lib/stream_k.cuh"
#include "lib/tile_order.cuh"
#include "lib/warpgroup_tile.cuh"

enum class Schedule { cooperative, pingpong };
enum class Store { threads, tma };
enum class Evict { none, rows, cols, both };

//@ use        lib/output.cuh            // vec_c, vec_d: elements of one access
//@ use        lib/split_k.cuh           // splits; parts_bytes, sum_blocks
//@ use        lib/repack.cuh            // repack; k_major_a, packed_a_at, packed_ld_a, chunks_a
//@ use        lib/operand_copies.cuh    // box_a, span_a
//@ use        lib/tile_order.cuh        // reciprocals of group_m and the tiles
struct GemmWgmmaConfig : OutputConfig, SplitKConfig, RepackConfig, OperandCopiesConfig {  //@ config
  int tile_m;         //@ tune 64 128* 192 256   // rows of a tile, along wgmma's M
  int tile_n;         //@ tune 8 16 32 48 64 80 96 112 128* 144 160 176 192 208 224 240 256
  int depth_bytes;    //@ tune 32 128*   // of one stage, in bytes of A
  int consumers;      //@ tune 1 2* 3   // warpgroups that multiply
  Schedule schedule;  //@ tune cooperative* pingpong   // consumers share each tile, or alternate
  int swap;           //@ tune 0* 1     // 1: the tile is that of the transposed D
  Store store;        //@ tune threads tma*   // how D gets to memory
  int cluster_parts;  //@ tune 1* 2 4 8 // blocks of a cluster that split k
  int stages;         //@ tune 2 3 4* 5 6 7 8 10 12
  Evict evict_first;  //@ tune none* rows cols both   // operands that leave L2 first
  int ahead;          //@ tune 0* 1     // prefetch to L2 before the previous launch ends
  int cluster_m;      //@ tune 1* 2 4   // rows of blocks in a cluster
  int cluster_n;      //@ tune 1* 2 4   // columns of blocks in a cluster
  int stream;         //@ tune 0* 1 2   // last waves that stream-K divides
  int tile_k;         //@ let depth_bytes / a_bytes
  int packs_k_major;  //@ let a_bytes != 2
  int threads;        //@ let 128 * (consumers + 1)
  int entry_regs;     //@ let 512 / (consumers + 1) / 8 * 8
  int producer_regs;  //@ let consumers == 3 ? 32 : 40
  int consumer_regs;  //@ let min(240, (entry_regs * (consumers + 1) - producer_regs) /
                      //@                 consumers / 8 * 8)
  int sharers;        //@ let schedule.pingpong ? 1 : consumers   // of a tile
  int blocks_each;    //@ let tile_m / 64 / sharers       // of 64 rows
  int shares_cols;    //@ let gcd(tile_n / 8, cluster_parts)   // of a tile in a cluster
  int shares_rows;    //@ let cluster_parts / shares_cols
  int share_cols;     //@ let tile_n / shares_cols
  int evicts_rows;    //@ let evict_first.rows || evict_first.both
  int evicts_cols;    //@ let evict_first.cols || evict_first.both
  int cluster;        //@ let cluster_m * cluster_n * cluster_parts
  int tile_a;         //@ let swap == 1 ? tile_n : tile_m
  int tile_b;         //@ let swap == 1 ? tile_m : tile_n
  int share_a;        //@ let swap == 1 ? cluster_m : cluster_n   // blocks that share A
  int share_b;        //@ let swap == 1 ? cluster_n : cluster_m
  int stage_bytes;    //@ let (tile_m + tile_n) * depth_bytes
  int chunk_cols;     //@ let swap == 1 ? 16 : gcd(share_cols, 32)   // stored at a time
  int wide_cols;      //@ let gcd(share_cols, 256 / d_bytes)   // in lines, if there is room
  int line_cols;      //@ let swap == 0 && align_d <= 4 && d_bytes <= acc_bytes &&
                      //@     stages * stage_bytes + 512 + consumers *
                      //@     (64 * wide_cols * d_bytes + 5120) <= device.smem_optin
                      //@     ? wide_cols : chunk_cols
  int slab_row;       //@ let max((chunk_cols + 8) * acc_bytes, line_cols * d_bytes + 16)
  int span_d;         //@ let gcd(share_cols * d_bytes, 128)   // of the swizzle of D's boxes
  int slab_bytes;     //@ let round_up(max((swap == 1 ? 8 : 16) * slab_row,
                      //@                  store.tma * 32 * span_d), 1024)   // of a warp
  int slabs_at;       //@ let stages * stage_bytes
  int barriers_at;    //@ let slabs_at + consumers * 4 * slab_bytes
  int smem_bytes;     //@ let barriers_at + 16 * stages + 8 * (schedule.pingpong ? consumers : 1)
};

struct GemmWgmmaLaunch : SplitKLaunch, TileOrderLaunch {  //@ at launch
  int group_m;        //@ tune 1 4 8* 16   // tile rows of a group, visited column by column
  int promote;        //@ tune 128* 256   // granularity of L2 fetches, in bytes
  int parts;          //@ let splits == 1 ? 0 : splits   // in the workspace
  int k_each;         //@ let min(k, ceil_div(ceil_div(k, tile_k), splits * cluster_parts) *
                      //@           tile_k)   // of a block
  int row_tiles;      //@ let ceil_div(swap == 1 ? n : m, tile_m * cluster_m)
  int col_tiles;      //@ let ceil_div(swap == 1 ? m : n, tile_n * cluster_n)
  int tiles;          //@ let row_tiles * col_tiles   // of clusters
  int inverse_tiles;  //@ let 2147483647 / max(1, tiles)
  int units;          //@ let stream == 0 ? tiles * splits : whole + (stream + 1) * fitting
  int clusters;       //@ let cluster_parts > 1 ? units : min(units, fitting)
  int packed_chunks;  //@ let chunks_a + chunks_b
};
//@ let fitting = max(1, device.sm_count * (cluster > 2 ? 10 : 11) / 11 / cluster)   // clusters
//@ let whole = stream == 0 ? tiles : max(0, tiles / fitting - stream + 1) * fitting   // not cut
//@ let waves = ceil_div(units, clusters)
//@ let cut_bytes = stream > 0 ? 2 * fitting * cluster * tile_m * tile_n * acc_bytes : 0

//@ require    a_bytes == 2 || k_major_a == 1 && k_major_b == 1   // as wgmma wants other types
//@ require    tile_m % (64 * sharers) == 0 && (schedule.cooperative || consumers > 1)
//@ require    store.threads || swap == 0 && align_d >= 16 && d_bytes >= 2 && span_d >= 32 &&
//@              n * d_bytes % 16 == 0      // TMA stores whole chunks
//@ require    acc_bytes == 4 || tile_n == 16 || tile_n % 32 == 0
//@ require    a_bytes > 1 || tile_n % 32 == 0 || tile_n <= 16   // shapes of s8
//@ require    stage_bytes % 1024 == 0 && smem_bytes <= device.smem_optin
//@ require    cluster_parts == 1 || schedule.cooperative && acc_bytes == 4 &&
//@              blocks_each % shares_rows == 0 && tile_m * tile_n * 4 <= slabs_at
//@ require    cluster <= 8 && (cluster_parts == 1 || cluster == cluster_parts)
//@ require    tiles * splits <= 1073741824
//@ require    stream == 0 || cluster_parts * splits == 1 && swap == 0 && k > 0 && k <= 1048576
//@ require    tile_n / 2 + 26 <= entry_regs   // as ptxas wants for one instruction
//@ launch     gemm_wgmma_repack
//@   when     !repack.none && k > 0
//@   grid     repack_blocks
//@   block    256
//@ launch     gemm_wgmma
//@   grid     clusters * cluster
//@   block    threads
//@   cluster  cluster
//@   overlap  1
//@   smem     smem_bytes
//@   map      a: k_major_a == 1 ? k : m, k_major_a == 1 ? m : k;
//@            box k_major_a == 1 ? tile_k : 64, box_a; swizzle span_a; promote promote;
//@            pitch packed_ld_a; in_workspace packed_a_at
//@   map      b: k_major_b == 1 ? k : n, k_major_b == 1 ? n : k;
//@            box k_major_b == 1 ? tile_k : 64, box_b; swizzle span_b; promote promote;
//@            pitch packed_ld_b; in_workspace packed_b_at
//@   map      d: store.tma ? n : 0, m; box store.tma ? span_d / d_bytes : 16, 16;
//@            swizzle store.tma ? span_d : 0
//@ launch     gemm_wgmma_sum
//@   when     parts > 0 || tiles > whole
//@   grid     tiles == whole ? sum_blocks
//@            : (tiles - whole) * cluster * ceil_div(tile_m * tile_n, vec_sum * 128)
//@   block    128
//@   smem     40960   // so that they do not crowd where the first come free
//@   overlap  1
//@ workspace  parts_bytes + 16 * (chunks_a + chunks_b) + cut_bytes

template <GemmWgmmaConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void __launch_bounds__(256)
    gemm_wgmma_repack(const kiln::GemmArgs args, const GemmWgmmaLaunch at_launch) {
  kiln::repack_operands<kiln::repack_plan<C>(), 256, A, B, Acc>(args, at_launch.parts);
}

template <GemmWgmmaConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void __launch_bounds__(C.threads, 1)
    gemm_wgmma(const kiln::GemmArgs args, const GemmWgmmaLaunch at_launch,
               const __grid_constant__ kiln::TensorMap map_a,
               const __grid_constant__ kiln::TensorMap map_b,
               const __grid_constant__ kiln::TensorMap map_d) {
  using namespace kiln;
  constexpr int kBlocks = C.cluster_m * C.cluster_n;  // that share operands
  constexpr bool kPingPong = C.schedule == Schedule::pingpong;
  constexpr StageOperand kA{C.k_major_a != 0, C.span_a, C.tile_a, C.tile_k, sizeof(A)};
  constexpr StageOperand kB{C.k_major_b != 0, C.span_b, C.tile_b, C.tile_k, sizeof(B)};
  constexpr StageOperand kRows = C.swap == 1 ? kB : kA;
  constexpr StageOperand kCols = C.swap == 1 ? kA : kB;
  constexpr StageBytes kStage{C.tile_m * C.depth_bytes, C.stage_bytes};
  constexpr UnitShape kUnits = unit_shape<C>();
  using Ring = RingBarriers<C.stages, C.sharers, kBlocks, kPingPong ? C.consumers : 0>;
  extern __shared__ __align__(1024) unsigned char shared_memory[];
  Ring& ring = *reinterpret_cast<Ring*>(shared_memory + C.barriers_at);
  const int thread = static_cast<int>(threadIdx.x) % 128;
  const int warp = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 32, 0);
  const int warpgroup = warp / 4;
  const int rank = C.cluster == 1 ? 0 : cluster_block_rank();
  const int first_unit = static_cast<int>(blockIdx.x) / C.cluster;
  if (warp == 0 && elect_one()) ring.init();
  if (warp == 4 * C.consumers && args.k > 0 && elect_one()) tma_prefetch_descriptors(map_a, map_b);
  arrive_at_block_or_cluster<kBlocks>();
  Unit next = unit_at<kUnits>(first_unit, rank, args.k, at_launch);
  compute_now(next);
  wait_for_block_or_cluster<kBlocks>();
  RingPlace place;
  if (warpgroup == C.consumers) {
    if constexpr (C.consumers > 1) setmaxnreg_dec<C.producer_regs>();
    if (warp == 4 * C.consumers && elect_one()) {  // mutant: producer
      const ClusterPlace<C.cluster_m, C.cluster_n> at(kBlocks == 1 ? 0 : rank);
      const OperandCopies<kRows, C.swap == 1 ? C.box_b : C.box_a, C.cluster_n, C.evicts_rows != 0>
          rows{C.swap == 1 ? map_b : map_a, at.col, at.same_row()};
      const OperandCopies<kCols, C.swap == 1 ? C.box_a : C.box_b, C.cluster_m, C.evicts_cols != 0>
          cols{C.swap == 1 ? map_a : map_b, at.row, at.same_col()};
      if constexpr (C.ahead == 1) ask_ahead<C.stages, kUnits>(rows, cols, next, at_launch);
      for (int i = first_unit; i < at_launch.units; i += at_launch.clusters) {
        fill_stages<C.stages, kStage, kUnits.step()>(ring, place, rows, cols, shared_memory, next);
        next = unit_at<kUnits>(i + at_launch.clusters, rank, args.k, at_launch);
      }
      ring.drain(place);  // mutant: drain
    }
    __syncwarp();
    wait_for_previous_launch();
    if constexpr (C.cluster_parts > 1) attend_sum_in_cluster();
  } else {
    if constexpr (C.consumers > 1) setmaxnreg_inc<C.consumer_regs>();
    constexpr WarpgroupTileShape kTile{C.blocks_each, C.tile_n, C.tile_k, kRows, kCols};
    constexpr ShareShape kShares{C.shares_rows, C.shares_cols};
    constexpr SlabShape kSlab{C.swap == 1, C.line_cols, C.line_cols + 8};
    constexpr SlabShape kPartSlab{C.swap == 1, C.chunk_cols, C.chunk_cols + 8};
    constexpr int kVecD = C.vec_d < C.chunk_cols ? C.vec_d : C.chunk_cols;
    const int first_row = kPingPong ? 0 : warpgroup * kTile.blocks * 64;
    // mutant: first_rows
    const unsigned rows_at = shared_address(shared_memory) + kRows.offset(first_row, 0);
    const unsigned cols_at = shared_address(shared_memory) + kStage.rows;
    unsigned char* const slabs =
        shared_memory + C.slabs_at + static_cast<int>(threadIdx.x) / 32 * C.slab_bytes;
    const Output<CIn, D, Acc, C.reads_matrix_c != 0> output(args);
    using Tile =
        WarpgroupTile<Conditional<C.swap == 1, B, A>, Conditional<C.swap == 1, A, B>, Acc, kTile>;
    using Share = ShareOf<Tile, kShares>;  // or the same
    Tile tile;
    int turn = -1;               // of all consumers
    wait_for_previous_launch();  // mutant: inputs_ready
    for (int i = first_unit; i < at_launch.units; i += at_launch.clusters) {
      const Unit unit = unit_at<kUnits>(i, rank, args.k, at_launch);
      if (unit.is_piece && unit.steps == 0) break;  // the share ended with a tile
      if (kPingPong && ++turn % C.consumers != warpgroup) {
        place.template skip<C.stages>(unit.steps);  // mutant: skip_turn
        continue;
      }
      tile.clear();  // if there is no depth; else the first products replace the sums
      int row = unit.to_row + first_row;
      int col = unit.to_col;
      if (at_launch.parts == 0 && !unit.is_piece) {
        look_ahead_of_tile<kSlab, C.reads_matrix_c != 0, CIn, Tile>(args, row, col);
      }
      // mutant: wait_for_turn
      if constexpr (kPingPong) ring.wait_for_turn(warpgroup, turn / C.consumers);
      const RingPlace last = multiply_stages<C.stages, kStage>(ring, place, tile, rows_at, cols_at,
                                                               unit.steps, thread);
      if constexpr (kPingPong) ring.pass_turn(warpgroup, thread % 32);
      if (i + at_launch.clusters >= at_launch.units) let_next_launch_begin();
      wgmma_wait<0>();  // mutant: products_done
      if (unit.steps > 0) ring.release(last, thread);
      tile.finish();
      Share share;
      if constexpr (C.cluster_parts > 1) {
        sum_in_cluster<kShares, C.consumers * 128>(tile, share, shared_memory, rank, row, col);
      }
      const Share& sums = share_or_tile(share, tile);
      if (at_launch.parts > 0 || unit.is_piece) {
        const GemmArgs part = matrix_of_unit<kUnits, Acc>(args, unit, at_launch);
        if constexpr (C.store == Store::tma && C.stream > 0)
          wait_for_slab<true>(0);  // of a tile before
        store_tile<kPartSlab, 1, C.vec_part>(sums, PartOutput<Acc>(part),
                                             reinterpret_cast<Acc*>(slabs), row, col);
      } else if constexpr (C.store == Store::tma) {
        store_boxes<C.vec_c, C.span_d>(sums, output, map_d, slabs, row + thread / 32 * 16, col);
      } else {
        store_tile<kSlab, C.vec_c, kVecD>(sums, output, reinterpret_cast<Acc*>(slabs), row, col);
      }
      if constexpr (C.cluster_parts > 1) break;
    }
    if (C.store == Store::tma && elect_one()) tma_store_wait_read<0>();  // by the last copies
    __syncwarp();
  }
  // Others may still read this block's sums.
  if constexpr (C.cluster_parts > 1) cluster_wait();  // mutant: parts_read
}

template <GemmWgmmaConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void __launch_bounds__(128)
    gemm_wgmma_sum(const kiln::GemmArgs args, const GemmWgmmaLaunch at_launch) {
  kiln::sum_units<kiln::unit_shape<C>(), C.vec_c, C.vec_sum, C.reads_matrix_c != 0, CIn, D, Acc>(
      args, at_launch);
}
