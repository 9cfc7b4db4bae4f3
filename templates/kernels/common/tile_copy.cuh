// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Moves tiles of a matrix in global memory to shared memory, one after another along k, with
/// zeros where a tile hangs over the matrix's edge. The tile keeps the orientation that it has in
/// memory: kRows rows of kCols contiguous elements, kStride elements from row to row.
///
///      thread t copies the chunk of kVec elements at row t / (kCols / kVec), and the one that many
///      rows further down in each following pass:
///
///            0    kVec               kCols
///            +----+----+----+----+----+
///     row 0  | t0 | t1 | t2 | t3 | .. |   pass 0
///     row 1  |    |    |    |    |    |
///            +----+----+----+----+----+
///     row R  | t0 | t1 | t2 | t3 | .. |   pass 1, R = kThreads * kVec / kCols
///            +----+----+----+----+----+
///
/// Each thread's chunks share one column, so that the edge test across columns is made once.

#include "common/annotations.cuh"
#include "common/async_copy.cuh"

namespace kiln {

/// A machine word of that many bytes to move elements in.
template <int kBytes>
struct Word;
template <>
struct Word<2> {
  using type = unsigned short;
};
template <>
struct Word<4> {
  using type = unsigned;
};
template <>
struct Word<8> {
  using type = uint2;
};
template <>
struct Word<16> {
  using type = uint4;
};

template <class T, int kRows, int kCols, int kStride, int kVec, int kThreads, bool kAlongRows>
class TileCopy {
  static constexpr int kChunksPerRow = kCols / kVec;
  static constexpr int kRowsPerPass = kThreads / kChunksPerRow;
  static constexpr int kBytes = kVec * static_cast<int>(sizeof(T));
  static_assert(kCols % kVec == 0, "A row of the tile must be whole vectors");
  static_assert(kRowsPerPass > 0, "One pass of all threads must cover a row of the tile");
  static_assert(kStride >= kCols, "Rows of the tile must not overlap");
  static constexpr int kPasses = (kRows + kRowsPerPass - 1) / kRowsPerPass;
  // Threads that are left over when a row does not divide their number stay idle.
  static constexpr bool kEven = kThreads % kChunksPerRow == 0 && kRows % kRowsPerPass == 0;

 public:
  using Vector = typename Word<kBytes>::type;
  /// One tile's share of a thread, on its way through registers.
  struct Registers {
    Vector chunk[kPasses];
  };

  /// `origin` is the first tile's first element; `rows` and `cols` what the matrix still has from
  /// there. The tiles follow each other down the rows (kAlongRows) or across the columns.
  KILN_DEVICE TileCopy(const T* origin, long long ld, int rows, int cols)
      : row_(static_cast<int>(threadIdx.x) / kChunksPerRow),
        col_(static_cast<int>(threadIdx.x) % kChunksPerRow * kVec),
        rows_(rows - row_),
        cols_(cols - col_),
        ld_(ld),
        source_(origin + row_ * ld + col_) {}

  /// Starts copying the current tile in the background and steps to the next one.
  KILN_DEVICE void start(T* tile) {
    T* to = tile + row_ * kStride + col_;
    if (cols_ >= kVec && rows_ > (kPasses - 1) * kRowsPerPass) {
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass) {
        if (in_tile(pass)) {
          copy_async<kBytes>(to + pass * kRowsPerPass * kStride, at(pass));
        }
      }
    } else {
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass) {
        if (in_tile(pass)) {
          copy_async<kBytes>(to + pass * kRowsPerPass * kStride, at(pass),
                             valid(pass) * static_cast<int>(sizeof(T)));
        }
      }
    }
    advance();
  }

  /// Reads the current tile into registers and steps to the next one.
  KILN_DEVICE void load(Registers& registers) {
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      if (!in_tile(pass)) continue;
      if (valid(pass) == kVec) {
        registers.chunk[pass] = *reinterpret_cast<const Vector*>(at(pass));
      } else {
        registers.chunk[pass] = load_partial(at(pass), valid(pass));
      }
    }
    advance();
  }

  KILN_DEVICE void store(const Registers& registers, T* tile) const {
    T* to = tile + row_ * kStride + col_;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      if (in_tile(pass)) {
        *reinterpret_cast<Vector*>(to + pass * kRowsPerPass * kStride) = registers.chunk[pass];
      }
    }
  }

 private:
  KILN_DEVICE bool in_tile(int pass) const {
    if constexpr (kEven) return true;
    return row_ < kRowsPerPass && row_ + pass * kRowsPerPass < kRows;
  }
  KILN_DEVICE const T* at(int pass) const {
    return source_ + static_cast<long long>(pass * kRowsPerPass) * ld_;
  }
  /// Elements of the pass's chunk that exist.
  KILN_DEVICE int valid(int pass) const {
    return pass * kRowsPerPass < rows_ ? min(max(cols_, 0), kVec) : 0;
  }
  KILN_DEVICE static Vector load_partial(const T* source, int count) {
    constexpr int kWords = kBytes / static_cast<int>(sizeof(unsigned short));
    constexpr int kWordsEach = static_cast<int>(sizeof(T) / sizeof(unsigned short));
    const unsigned short* from = reinterpret_cast<const unsigned short*>(source);
    unsigned short words[kWords];
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      words[i] = i < count * kWordsEach ? from[i] : static_cast<unsigned short>(0);
    }
    Vector vector;
    memcpy(&vector, words, sizeof(vector));
    return vector;
  }
  KILN_DEVICE void advance() {
    if constexpr (kAlongRows) {
      source_ += kRows * ld_;
      rows_ -= kRows;
    } else {
      source_ += kCols;
      cols_ -= kCols;
    }
  }

  int row_;  ///< of the thread's first chunk in the tile
  int col_;
  int rows_;  ///< rows and columns of the matrix from that chunk on; may be negative
  int cols_;
  long long ld_;
  const T* source_;
};

}  // namespace kiln
