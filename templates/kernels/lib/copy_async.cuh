// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Copies tiles in the background with cp.async: no registers, no waiting. A copy is of 4, 8 or 16
/// bytes; of a chunk that reaches beyond the matrix only the valid bytes are read, and zeros fill
/// the rest.
///
///     global memory  == cp.async ==>  shared memory        start(i + 3), start(i + 4), ...
///                                                          committed and awaited as groups (ring)
///
/// The address moves on after the copies of a tile, or (kAdvanceFirst) before those of the next.
/// Copies read it late, and what overwrites it waits for that, which matters where a multiprocessor
/// has only one or two warps for each scheduler.

#include "common/annotations.cuh"
#include "lib/ptx_async_copy.cuh"
#include "lib/tile_chunks.cuh"

namespace kiln {

template <class Chunks, bool kAdvanceFirst = false>
class CopyAsync : public Chunks {
  using T = typename Chunks::Element;

 public:
  using Element = T;
  KILN_DEVICE explicit CopyAsync(const Panel<T>& panel) : Chunks(panel) {
    if constexpr (kAdvanceFirst) this->retreat();
  }

  /// Starts to copy the next tile, which lies in the matrix.
  KILN_DEVICE void start_whole(T* tile) {
    constexpr int kBytes = Chunks::vec() * static_cast<int>(sizeof(T));
    constexpr int kPasses = Chunks::grid().passes;
    constexpr int kStep = Chunks::step();
    if constexpr (kAdvanceFirst) this->advance();
    T* to = Chunks::layout().at(tile, this->row_, this->col_);
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      if (this->in_tile(pass)) copy_async<kBytes>(to + pass * kStep, this->source(pass));
    }
    if constexpr (!kAdvanceFirst) this->advance();
  }

  /// The same of any tile.
  KILN_DEVICE void start(T* tile) {
    constexpr int kBytes = Chunks::vec() * static_cast<int>(sizeof(T));
    constexpr int kRowsPerPass = Chunks::grid().rows_per_pass;
    constexpr int kPasses = Chunks::grid().passes;
    constexpr int kVec = Chunks::vec();
    constexpr int kStep = Chunks::step();
    constexpr auto kPlaces = Chunks::layout();
    constexpr int kStride = kPlaces.stride;
    if constexpr (kAdvanceFirst) this->advance();
    // Spelled out for padded rows: through at() the compiler orders the loop differently, which
    // costs a transposed A 2 % of the speed.
    T* to = tile + this->row_ * kStride + this->col_;  // mutant: copy_async_to
    if constexpr (kPlaces.period() > 1) to = kPlaces.at(tile, this->row_, this->col_);
    if (this->cols_ >= kVec && this->rows_ > (kPasses - 1) * kRowsPerPass) {
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass) {
        if (this->in_tile(pass)) {
          copy_async<kBytes>(to + pass * kStep, this->source(pass));
        }
      }
    } else {
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass) {
        if (this->in_tile(pass)) {
          // mutant: copy_bytes
          copy_async<kBytes>(to + pass * kStep, this->source(pass),
                             this->valid(pass) * static_cast<int>(sizeof(T)));
        }
      }
    }
    if constexpr (!kAdvanceFirst) this->advance();
  }
};

}  // namespace kiln
