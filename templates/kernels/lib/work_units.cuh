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
/// Stream-K: where the last turns would leave clusters without work, their tiles are cut into equal
/// shares of stages, one for each cluster, without regard to where a tile ends. A share has pieces
/// of two tiles or more, the units of as many turns. Three tiles of five stages for four clusters:
///
///     tiles   |         0         |         1         |         2         |
///     shares  |     0     |       1       |       2       |       3       |
///     pieces  |    0.0    |  1.0  |  1.1  |    2.0    |2.1|      3.0      |
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
  int tile_m;
  int tile_n;
  int depth;      ///< of a stage
  int cluster_m;  ///< blocks of a cluster
  int cluster_n;
  int cluster_parts;  ///< blocks that share a tile along k
  int stream;         ///< turns at the end whose tiles are cut into shares

  /// From a stage of a block to its next.
  KILN_HD constexpr int step() const { return depth * cluster_parts; }
};

/// Of a configuration with tunables of these names.
template <auto kConfig>
KILN_HD constexpr UnitShape unit_shape() {
  return {kConfig.tile_m,    kConfig.tile_n,        kConfig.tile_k, kConfig.cluster_m,
          kConfig.cluster_n, kConfig.cluster_parts, kConfig.stream};
}

/// What a block does in one turn.
struct Unit {
  int row;  ///< of its tile
  int col;
  int part;       ///< of k, a cluster's
  int first_k;    ///< of the block's first stage
  int steps;      ///< its stages, each cluster_parts behind the one before
  bool is_piece;  ///< less than a tile of stream-K
  int to_row;     ///< where its sums belong: as above, or among the pieces
  int to_col;
};

/// Computes it here and now, not where the compiler would: behind a barrier, when others wait.
KILN_DEVICE void compute_now(Unit& unit) {
  asm volatile("" : "+r"(unit.row), "+r"(unit.col), "+r"(unit.first_k), "+r"(unit.steps));
}

/// Where a tile lies, in elements.
struct TileCorner {
  int row;
  int col;
};

/// That tile, in the order in which they are computed, for the block of that rank in its cluster.
/// Launch, here and below: the struct at launch, with the numbers of tiles, what divides by
/// them, group_m, k_each, and the units and clusters of the launch.
template <UnitShape kShape, class Launch>
KILN_DEVICE TileCorner tile_at(unsigned tile, int rank, const Launch& launch) {
  constexpr int kPlaces = kShape.cluster_m * kShape.cluster_n;
  const TilePlace place =
      grouped_tile(tile, TileGrid{launch.row_tiles, launch.col_tiles, launch.group_m,
                                  launch.inverse_group, launch.inverse_rows, launch.inverse_last});
  return {(place.row * kShape.cluster_m + rank % kShape.cluster_m) * kShape.tile_m,
          (place.col * kShape.cluster_n + rank % kPlaces / kShape.cluster_m) * kShape.tile_n};
}

/// How the stages of the tiles that are cut are shared out, one share to each of the first
/// clusters.
struct Shares {
  int whole;  ///< tiles before them
  int steps;  ///< stages of a tile
  int clusters;
  int count;         ///< at most the clusters, so that each has a stage
  long long stages;  ///< of all

  KILN_DEVICE int first(int share) const { return static_cast<int>(share * stages / count); }
  /// The last share that begins at that stage or before.
  KILN_DEVICE int with(long long stage) const {
    return static_cast<int>(((stage + 1) * count - 1) / stages);
  }
};

template <UnitShape kShape, class Launch>
KILN_DEVICE Shares shares_of(const Launch& launch) {
  // Behind the whole tiles each cluster has a piece of `stream` tiles and of the next.
  const int whole = launch.units - (kShape.stream + 1) * launch.clusters;
  const int steps = ceil_div(launch.k_each, kShape.depth);
  const long long stages =
      static_cast<long long>(launch.row_tiles * launch.col_tiles - whole) * steps;
  const long long count = stages < launch.clusters ? stages : launch.clusters;
  return {whole, steps, launch.clusters, static_cast<int>(count), stages};
}

/// Where a share's piece of less than a tile is left, its first or its last, by the block of that
/// rank: a row of a matrix of tiles below each other, as many as twice the blocks.
template <UnitShape kShape>
KILN_DEVICE int piece_row(const Shares& shares, int share, bool is_first, int rank) {
  const int piece = is_first ? share : shares.clusters + share;
  return (piece * kShape.cluster_m * kShape.cluster_n + rank) * kShape.tile_m;
}

/// Piece `nth` of the share of a cluster. Behind its last come some without stages.
template <UnitShape kShape, class Launch>
KILN_DEVICE Unit piece_at(const Shares& shares, int share, int nth, int rank,
                          const Launch& launch) {
  constexpr Unit kNone{0, 0, 0, 0, 0, true, 0, 0};
  if (share >= shares.count) return kNone;
  const int first = shares.first(share);
  const int end = shares.first(share + 1);
  const int tile = first / shares.steps + nth;
  const int from = max(first, tile * shares.steps);
  const int steps = max(0, min(end, (tile + 1) * shares.steps) - from);
  if (steps == 0) return kNone;
  const auto [row, col] = tile_at<kShape>(static_cast<unsigned>(shares.whole + tile), rank, launch);
  const int first_k = (from - tile * shares.steps) * kShape.depth;
  if (steps == shares.steps) return {row, col, 0, first_k, steps, false, row, col};
  const int to_row = piece_row<kShape>(shares, share, nth == 0, rank);
  return {row, col, 0, first_k, steps, true, to_row, 0};
}

/// Unit `unit` for the block of that rank in its cluster.
template <UnitShape kShape, class Launch>
KILN_DEVICE Unit unit_at(unsigned unit, int rank, int k, const Launch& launch) {
  if constexpr (kShape.stream > 0) {
    const Shares shares = shares_of<kShape>(launch);
    const int piece = static_cast<int>(unit) - shares.whole;
    if (piece >= 0) {
      return piece_at<kShape>(shares, piece % shares.clusters, piece / shares.clusters, rank,
                              launch);
    }
  }
  const auto part = static_cast<int>(quotient(unit, {launch.tiles, launch.inverse_tiles}));
  const auto [row, col] =
      tile_at<kShape>(unit - static_cast<unsigned>(part * launch.tiles), rank, launch);
  constexpr int kParts = kShape.cluster_parts;
  const int own = rank / (kShape.cluster_m * kShape.cluster_n);  // mutant: own_part
  const long long each = static_cast<long long>(launch.k_each) * kParts;
  const long long left = k - part * each;
  const long long depth = left < 0 ? 0 : left < each ? left : each;
  const int steps = ceil_div(static_cast<int>(depth), kShape.depth);
  const int first_k = static_cast<int>(part * each) + own * kShape.depth;
  return {row, col, part, first_k, (steps + kParts - 1 - own) / kParts, false, row, col};
}

}  // namespace kiln
