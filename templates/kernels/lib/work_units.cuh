// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The work of kernels whose blocks stay: units, each a tile of D or, where k is split, a part of
/// one, which the clusters of a launch take in turn:
///
///     cluster 0    unit 0   unit 3   unit 6 ...
///     cluster 1    unit 1   unit 4   unit 7 ...      as many at a time as there are clusters
///     cluster 2    unit 2   unit 5   unit 8 ...
///
/// A cluster's blocks have neighbouring tiles; or they share one along k, stage by stage, so that
/// what they read at a time lies side by side in memory:
///
///     k     | 0 | 1 | 2 | 3 | 0 | 1 | 2 | 3 | 0 ...     stages, by the block that multiplies them

#include "common/annotations.cuh"
#include "common/arithmetic.cuh"
#include "lib/tile_order.cuh"

namespace kiln {

struct UnitShape {
  int tile_rows;
  int tile_cols;
  int depth;         ///< of a stage
  int cluster_rows;  ///< blocks of a cluster
  int cluster_cols;
  int cluster_parts;  ///< blocks that share a tile along k

  /// From a stage of a block to its next.
  KILN_HD constexpr int step() const { return depth * cluster_parts; }
};

/// What a block does in one turn.
struct Unit {
  int row;  ///< of its tile
  int col;
  int part;     ///< of k, a cluster's
  int first_k;  ///< of the block's first stage
  int steps;    ///< its stages, each cluster_parts behind the one before
};

/// Unit `unit` for the block of that rank in its cluster. Launch: the struct at launch, with the
/// numbers of tiles, k_each and group_m.
template <UnitShape kShape, class Launch>
KILN_DEVICE Unit unit_at(unsigned unit, int rank, int k, const Launch& launch) {
  const auto tiles = static_cast<unsigned>(launch.row_tiles * launch.col_tiles);
  const TilePlace place =
      grouped_tile(unit % tiles, launch.row_tiles, launch.col_tiles, launch.group_m);
  constexpr int kPlaces = kShape.cluster_rows * kShape.cluster_cols;
  const int part = static_cast<int>(unit / tiles);
  constexpr int kParts = kShape.cluster_parts;
  const int own = rank / kPlaces;
  const long long each = static_cast<long long>(launch.k_each) * kParts;
  const long long left = k - part * each;
  const long long depth = left < 0 ? 0 : left < each ? left : each;
  const int steps = ceil_div(static_cast<int>(depth), kShape.depth);
  return {
      (place.row * kShape.cluster_rows + rank % kShape.cluster_rows) * kShape.tile_rows,
      (place.col * kShape.cluster_cols + rank % kPlaces / kShape.cluster_rows) * kShape.tile_cols,
      part, static_cast<int>(part * each) + own * kShape.depth,
      (steps + kParts - 1 - own) / kParts};
}

}  // namespace kiln
