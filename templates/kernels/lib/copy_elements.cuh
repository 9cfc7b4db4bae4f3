// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Copies tiles element by element and converts on the way: each element goes to shared memory as a
/// number of the accumulator's type, so that the arithmetic has nothing left to convert.
///
///     memory (rows along k)          shared memory (rows across k)
///
///     t0  t1  t2  t3   line 0        t0 t4 t8 ...
///     t4  t5  t6  t7   line 1        t1 t5 t9 ...       kLength = 4, kLines = threads / kLength
///     t8  t9  ...                    t2 ...
///
/// Neighbouring threads take neighbours in memory, whichever way those run; one pass of all threads
/// takes kLines whole lines. Beyond the matrix there are zeros, so that the arithmetic needs no
/// edge case. It works for any alignment, and reads one element at a time.
///
/// copy() does it at once. load() and store() are its two halves, between which there is time for
/// arithmetic: the elements wait in registers, still as they are in memory.

#include "common/annotations.cuh"
#include "common/element.cuh"
#include "lib/panel.cuh"
#include "lib/shared_layout.cuh"

namespace kiln {

template <class T, class Acc, TileShape kTile, auto kLayout, int kThreads>
class CopyElements {
  static constexpr int kLineLength = kTile.cols();
  static constexpr int kTileLines = kTile.rows();
  static constexpr int kEachPass = kThreads / kLineLength;  // lines
  static constexpr int kPasses = (kTileLines + kEachPass - 1) / kEachPass;
  static constexpr int kTileDepth = kTile.depth;
  static constexpr bool kLinesAcross = kTile.k_major;

 public:
  struct Registers {
    T element[kPasses];
  };

  KILN_DEVICE explicit CopyElements(const Panel<T>& panel)
      : source_(panel.origin), ld_(panel.ld), across_(panel.across()), left_(panel.depth) {}

  /// Copies the current tile; `depth` elements of k are left, of which it takes what it needs.
  KILN_DEVICE void copy(Acc* tile, int depth) const {
    constexpr int kLength = kTile.cols();
    constexpr int kAllLines = kTile.rows();
    constexpr int kLines = kThreads / kLength;
    constexpr bool kDepthContiguous = kTile.k_major;
    constexpr auto kPlaces = kLayout;
    static_assert(kThreads % kLength == 0, "A pass must take whole lines");
    const int along = static_cast<int>(threadIdx.x) % kLength;
    int line = static_cast<int>(threadIdx.x) / kLength;
    const T* from = source_ + line * ld_ + along;
#pragma unroll
    for (int pass = 0; pass < (kAllLines + kLines - 1) / kLines; ++pass) {
      if (kAllLines % kLines != 0 && line >= kAllLines) break;
      const int x = kDepthContiguous ? line : along;
      const int z = kDepthContiguous ? along : line;
      // mutant: copy_element
      tile[kPlaces.offset(x, z)] = x < across_ && z < depth ? to_accumulator<Acc>(*from) : Acc(0);
      line += kLines;
      from += kLines * ld_;
    }
  }

  /// Reads the current tile into registers and steps to the next one.
  KILN_DEVICE void load(Registers& registers) {
    const T* element = source_ + first_line() * ld_ + place_in_line();
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      if (in_tile(pass)) {
        const bool exists = across(pass) < across_ && depth(pass) < left_;  // mutant: exists
        registers.element[pass] = exists ? *element : static_cast<T>(0.0F);
      }
      element += kEachPass * ld_;
    }
    advance();
    left_ -= kTileDepth;  // mutant: element_depth
  }

  KILN_DEVICE void store(const Registers& registers, Acc* tile) const {
    constexpr auto kPlaces = kLayout;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      if (!in_tile(pass)) continue;
      tile[kPlaces.offset(across(pass), depth(pass))] =
          to_accumulator<Acc>(registers.element[pass]);
    }
  }

  /// Steps to the panel's next tile.
  KILN_DEVICE void advance() {
    constexpr int kDepth = kTile.depth;
    source_ += kTile.k_major ? kDepth : kDepth * ld_;  // mutant: next_elements
  }

 private:
  KILN_DEVICE static int first_line() {
    return static_cast<int>(threadIdx.x) / kLineLength;
  }
  KILN_DEVICE static int place_in_line() {
    return static_cast<int>(threadIdx.x) % kLineLength;
  }
  KILN_DEVICE static bool in_tile(int pass) {
    return kTileLines % kEachPass == 0 || first_line() + pass * kEachPass < kTileLines;
  }
  /// Where the pass's element is in the tile.
  KILN_DEVICE static int across(int pass) {
    return kLinesAcross ? first_line() + pass * kEachPass : place_in_line();
  }
  KILN_DEVICE static int depth(int pass) {
    return kLinesAcross ? place_in_line() : first_line() + pass * kEachPass;
  }

  const T* source_;
  long long ld_;
  int across_;
  int left_;  ///< of the depth, for load()
};

}  // namespace kiln
