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

}  // namespace kiln
