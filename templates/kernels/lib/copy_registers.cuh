// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Copies tiles through registers, as vectors: load() brings the next tile into registers, store()
/// puts it into shared memory. Between the two there is time for arithmetic, which hides the
/// latency of global memory without cp.async:
///
///     load(i + 1) ... multiply(i) ... store(i + 1) | barrier
///
/// Chunks that reach beyond the matrix are read element by element and filled up with zeros.

#include "common/annotations.cuh"
#include "lib/tile_chunks.cuh"

namespace kiln {

template <class Chunks>
class CopyRegisters {
  using T = typename Chunks::Element;
  using Vector = typename Chunks::Vector;

 public:
  using Element = T;
  struct Registers {
    Vector chunk[Chunks::grid().passes];
  };

  KILN_DEVICE explicit CopyRegisters(const Panel<T>& panel) : chunks_(panel) {}

  /// Reads the current tile into registers and steps to the next one.
  KILN_DEVICE void load(Registers& registers) {
    constexpr int kPasses = Chunks::grid().passes;
    constexpr int kVec = Chunks::vec();
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      if (!chunks_.in_tile(pass)) continue;
      if (chunks_.valid(pass) == kVec) {
        registers.chunk[pass] = *reinterpret_cast<const Vector*>(chunks_.source(pass));
      } else {
        registers.chunk[pass] = load_partial(chunks_.source(pass), chunks_.valid(pass));
      }
    }
    chunks_.advance();
  }

  KILN_DEVICE void store(const Registers& registers, T* tile) const {
    constexpr auto kPlaces = Chunks::layout();
    T* to = kPlaces.at(tile, chunks_.row_, chunks_.col_);
    constexpr int kStep = Chunks::step();
    constexpr int kPasses = Chunks::grid().passes;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      if (chunks_.in_tile(pass)) {
        *reinterpret_cast<Vector*>(to + pass * kStep) = registers.chunk[pass];
      }
    }
  }

 private:
  KILN_DEVICE static Vector load_partial(const T* source, int count) {
    constexpr int kWords = static_cast<int>(sizeof(Vector) / sizeof(unsigned short));
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

  Chunks chunks_;
};

}  // namespace kiln
