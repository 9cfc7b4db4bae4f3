// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The two ends of a ring of stages (lib/tensor_ring.cuh): a thread that fills them with the tiles
/// of a unit of work, and a warpgroup that multiplies them. In a stage the tile of the rows comes
/// first, then that of the columns.

#include "common/overlap.cuh"
#include "lib/ptx_wgmma.cuh"
#include "lib/tensor_ring.cuh"
#include "lib/work_units.cuh"

namespace kiln {

struct StageBytes {
  int rows;  ///< of the tile of the rows
  int all;
};

/// Asks L2 for the first stages of a block's first unit, so that memory is busy while the launch
/// before ends. L2 fetches anew for each such request, also for what another is on its way for. So
/// of what several clusters read at a time each asks for other stages:
///
///     row of tiles, mod 4    0  1  2  3  0  1 ...    asks for the columns' stage of that number,
///                                                    with four rows, or stages, at a time
template <int kStages, UnitShape kShape, class Rows, class Cols, class Launch>
KILN_DEVICE void ask_ahead(const Rows& rows, const Cols& cols, const Unit& unit,
                           const Launch& launch) {
  const int group = min(launch.group_m, launch.row_tiles);
  const int groups = ceil_div(launch.clusters, group * launch.col_tiles);  // at a time
  const int row_tiles = min(kStages, min(launch.row_tiles, groups * group));
  const int col_tiles = min(kStages, min(launch.col_tiles, ceil_div(launch.clusters, group)));
  int for_cols = unit.row / (kShape.tile_m * kShape.cluster_m) % row_tiles;
  int for_rows = unit.col / (kShape.tile_n * kShape.cluster_n) % col_tiles;
#pragma unroll 1
  for (int step = 0; step < min(kStages, unit.steps); ++step) {
    const int k = unit.first_k + step * kShape.step();
    if (step == for_cols) {
      cols.ask_for(unit.col, k);
      for_cols += row_tiles;
    }
    if (step == for_rows) {
      rows.ask_for(unit.row, k);
      for_rows += col_tiles;
    }
  }
}

/// Starts the copies of all stages of the unit, kStep of k apart, as they come free. `memory`: the
/// first stage. The columns' copies go first: blocks of a cluster share these more often, and then
/// they take longer. Operands may come from the launch before: its end is waited for when all else
/// is ready.
template <int kStages, StageBytes kBytes, int kStep, class Ring, class Rows, class Cols>
KILN_DEVICE void fill_stages(Ring& ring, RingPlace& place, const Rows& rows, const Cols& cols,
                             unsigned char* memory, const Unit& unit) {
#pragma unroll 1
  for (int step = 0; step < unit.steps; ++step) {
    ring.begin_fill(place, kBytes.all);
    if (step == 0) wait_for_previous_launch();  // mutant: operands_ready
    unsigned char* const stage = memory + place.stage * kBytes.all;
    const int k = unit.first_k + step * kStep;
    cols.start(stage + kBytes.rows, unit.col, k, ring.full[place.stage]);  // mutant: start_cols
    rows.start(stage, unit.row, k, ring.full[place.stage]);
    place.template advance<kStages>();
  }
}

/// Multiplies that many stages, and returns the place of the last, whose products still run.
/// `rows_at`, `cols_at`: addresses of what the warpgroup multiplies in the first stage of the ring.
template <int kStages, StageBytes kBytes, class Ring, class Tile>
KILN_DEVICE RingPlace multiply_stages(Ring& ring, RingPlace& place, Tile& tile, unsigned rows_at,
                                      unsigned cols_at, int steps, int thread) {
  RingPlace before = place;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    ring.wait_until_full(place);  // mutant: ring_full
    const unsigned stage = place.stage * kBytes.all;
    tile.multiply(rows_at + stage, cols_at + stage, step);  // mutant: ring_multiply
    // While these products run, those of the stage before are over.
    wgmma_wait<1>();
    if (step > 0) ring.release(before, thread);  // mutant: ring_release
    before = place;
    place.template advance<kStages>();
  }
  return before;
}

}  // namespace kiln
