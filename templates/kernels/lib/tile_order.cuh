// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which tile of D a block computes. The grid is one-dimensional, because its second dimension ends
/// at 65535 blocks.
///
/// Blocks that run at the same time share operand tiles through the L2 cache, the more so the
/// squarer the patch of D that they cover. So tiles are numbered down groups of `group_m` tile
/// rows:
///
///     group_m = 3:   0  3  6  9 ...
///                    1  4  7 10 ...
///                    2  5  8 11 ...
///                   first of the next group ...

#include "common/annotations.cuh"

/// Reciprocals for TileGrid below. Templates that use this define `row_tiles` and `col_tiles`, the
/// tiles of D, and the tunable `group_m`.
struct TileOrderLaunch {  //@ at launch
  int inverse_group;      //@ let 2147483647 / max(1, min(group_m, row_tiles) * col_tiles)
  int inverse_rows;       //@ let 2147483647 / max(1, min(group_m, row_tiles))
  int inverse_last;       //@ let 2147483647 / max(1, (row_tiles - 1) % group_m + 1)
};

namespace kiln {

struct TilePlace {
  int row;  ///< in tiles
  int col;
};

/// Every tile of a grid of tiles_m x tiles_n is the place of one block of as many. Preconditions:
/// all at least 1, block < tiles_m * tiles_n < 2^31.
KILN_DEVICE TilePlace grouped_tile(unsigned block, int tiles_m, int tiles_n, int group_m) {
  const unsigned group_size = static_cast<unsigned>(group_m) * static_cast<unsigned>(tiles_n);
  const unsigned group = block / group_size;
  const int first_row = static_cast<int>(group) * group_m;
  const unsigned rows = static_cast<unsigned>(min(tiles_m - first_row, group_m));
  const unsigned within = block - group * group_size;
  return {first_row + static_cast<int>(within % rows), static_cast<int>(within / rows)};
}

/// A divisor that is known before the launch, with floor((2^31 - 1) / by): to multiply by that
/// takes a third of the instructions of a division, for which the hardware has none.
struct Divisor {
  int by;
  int inverse;
};

/// floor(n / by) for n < 2^30: 2 inverse lies at most 2 below 2^32 / by, the estimate therefore
/// less than 1.5 below n / by.
KILN_DEVICE unsigned quotient(unsigned n, Divisor divisor) {
  const unsigned estimate = __umulhi(n, 2U * static_cast<unsigned>(divisor.inverse));
  const unsigned by = static_cast<unsigned>(divisor.by);
  return estimate + (n - estimate * by >= by ? 1 : 0);  // mutant: correct_quotient
}

/// What to divide by, and the inverses that the launch knows: of the tiles of a group, of its rows,
/// and of those of the last group.
struct TileGrid {
  int rows;  ///< tiles of D
  int cols;
  int group_m;
  int inverse_group;
  int inverse_rows;
  int inverse_last;
};

/// The same place. Precondition: fewer than 2^30 tiles.
KILN_DEVICE TilePlace grouped_tile(unsigned tile, const TileGrid& grid) {
  const int group_rows = min(grid.group_m, grid.rows);
  const Divisor tiles{group_rows * grid.cols, grid.inverse_group};
  const auto group = static_cast<int>(quotient(tile, tiles));
  const int within = static_cast<int>(tile) - group * tiles.by;
  const int first_row = group * group_rows;
  const bool is_whole = first_row + group_rows <= grid.rows;
  const Divisor rows = is_whole ? Divisor{group_rows, grid.inverse_rows}
                                : Divisor{grid.rows - first_row, grid.inverse_last};
  const auto col = static_cast<int>(quotient(static_cast<unsigned>(within), rows));
  return {first_row + within - col * rows.by, col};
}

}  // namespace kiln
