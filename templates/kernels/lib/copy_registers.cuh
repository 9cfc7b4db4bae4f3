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
/// Chunks that reach beyond the matrix are read element by element and filled up with zeros; those
/// that are longer than what the matrix's rows are aligned to are read in parts (chunk_load.cuh).
/// The parts stay apart until they are stored: what joins them waits for them, and would make each
/// pass of load() wait for memory in its turn.

#include "common/annotations.cuh"
#include "lib/chunk_load.cuh"
#include "lib/tile_chunks.cuh"

namespace kiln {

template <class Chunks, int kAligned = Chunks::vec()>
class CopyRegisters {
  using T = typename Chunks::Element;
  using Vector = typename Chunks::Vector;
  using Load = ChunkLoad<T, Chunks::vec(), kAligned>;

 public:
  using Element = T;
  struct Registers {
    bool odd;  ///< where its chunks of halfwords begin
    typename Load::Loaded chunk[Chunks::grid().passes];
  };

  KILN_DEVICE explicit CopyRegisters(const Panel<T>& panel) : chunks_(panel) {}

  /// Reads the current tile into registers and steps to the next one.
  KILN_DEVICE void load(Registers& registers) {
    constexpr int kPasses = Chunks::grid().passes;
    registers.odd = is_odd();
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      if (!chunks_.in_tile(pass)) continue;
      Load::load(registers.chunk[pass], chunks_.source(pass), chunks_.valid(pass), registers.odd);
    }
    chunks_.advance();
  }

  KILN_DEVICE void store(const Registers& registers, T* tile) const {
    constexpr auto kPlaces = Chunks::layout();
    T* to = kPlaces.at(tile, chunks_.row_, chunks_.col_);
    constexpr int kStep = Chunks::step();
    constexpr int kPasses = Chunks::grid().passes;
    const bool odd = is_odd();
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      if (!chunks_.in_tile(pass)) continue;
      *reinterpret_cast<Vector*>(to + pass * kStep) = Load::joined(registers.chunk[pass], odd);
    }
  }

 private:
  /// Whether the thread's chunks of halfwords begin in the middle of a word: all of them do or
  /// none, since passes and tiles are an even number of rows or of elements apart.
  KILN_DEVICE bool is_odd() const {
    static_assert(!Load::kHalfwords || Chunks::grid().rows_per_pass % 2 == 0,
                  "Passes must take an even number of rows");
    return Load::is_odd(chunks_.source(0));
  }

  Chunks chunks_;
};

}  // namespace kiln
