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
/// Chunks that reach beyond the matrix are read element by element and filled up with zeros. A
/// chunk may be longer than what the matrix's rows are aligned to (`kAligned` elements): it is then
/// read in parts. Of 16-bit elements that are aligned to nothing more, 8 take 5 loads, of which 3
/// are words, wherever the chunk begins:
///
///     even address   | w0    | w1    | w2    | h0 h1 |
///     odd address    h0 | w0    | w1    | w2    | h1         one shift by 16 bits brings w in line
///
/// They stay apart until they are stored: what joins them waits for them, and would make each pass
/// of load() wait for memory in its turn.

#include "common/annotations.cuh"
#include "common/meta.cuh"
#include "lib/tile_chunks.cuh"

namespace kiln {

template <class Chunks, int kAligned = Chunks::vec()>
class CopyRegisters {
  using T = typename Chunks::Element;
  using Vector = typename Chunks::Vector;

 public:
  using Element = T;
  /// A chunk of halfwords as loaded.
  struct Halfwords {
    unsigned words[3];
    unsigned h0;
    unsigned h1;
  };
  static constexpr bool kHalfwords = sizeof(T) == 2 && kAligned == 1 && Chunks::vec() == 8;
  struct Registers {
    bool odd;  ///< where its chunks of halfwords begin
    Conditional<kHalfwords, Halfwords, Vector> chunk[Chunks::grid().passes];
  };

  KILN_DEVICE explicit CopyRegisters(const Panel<T>& panel) : chunks_(panel) {}

  /// Reads the current tile into registers and steps to the next one.
  KILN_DEVICE void load(Registers& registers) {
    constexpr int kPasses = Chunks::grid().passes;
    constexpr int kVec = Chunks::vec();
    if constexpr (kHalfwords) registers.odd = is_odd();
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      if (!chunks_.in_tile(pass)) continue;
      if constexpr (kHalfwords) {
        load_halfwords(registers.chunk[pass], chunks_.source(pass), chunks_.valid(pass),
                       registers.odd ? 1 : 0);
      } else if (chunks_.valid(pass) == kVec) {
        registers.chunk[pass] = load_whole(chunks_.source(pass));
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
      if (!chunks_.in_tile(pass)) continue;
      if constexpr (kHalfwords) {
        *reinterpret_cast<Vector*>(to + pass * kStep) = joined(registers.chunk[pass], is_odd());
      } else {
        *reinterpret_cast<Vector*>(to + pass * kStep) = registers.chunk[pass];
      }
    }
  }

 private:
  KILN_DEVICE static Vector load_whole(const T* source) {
    if constexpr (kAligned == Chunks::vec()) {
      return *reinterpret_cast<const Vector*>(source);
    } else {
      using Part = typename Word<kAligned* static_cast<int>(sizeof(T))>::type;
      constexpr int kParts = Chunks::vec() / kAligned;
      Part parts[kParts];
#pragma unroll
      for (int i = 0; i < kParts; ++i) parts[i] = reinterpret_cast<const Part*>(source)[i];
      Vector vector;
      memcpy(&vector, parts, sizeof(vector));
      return vector;
    }
  }

  /// Whether the thread's chunks of halfwords begin in the middle of a word: all of them do or
  /// none, since passes and tiles are an even number of rows or of elements apart.
  KILN_DEVICE bool is_odd() const {
    static_assert(Chunks::grid().rows_per_pass % 2 == 0, "Passes must take an even number of rows");
    return reinterpret_cast<unsigned long long>(chunks_.source(0)) % 4 != 0;
  }

  KILN_DEVICE static void load_halfwords(Halfwords& to, const T* source, int count, int odd) {
    const unsigned short* halves = reinterpret_cast<const unsigned short*>(source);
    const unsigned* words = reinterpret_cast<const unsigned*>(halves + odd);
    const int lone = odd != 0 ? 0 : 6;
    if (count == 8) {
#pragma unroll
      for (int i = 0; i < 3; ++i) to.words[i] = words[i];
      to.h0 = halves[lone];
      to.h1 = halves[7];
    } else {
      to = {};
      if (count == 0) return;
#pragma unroll
      for (int i = 0; i < 3; ++i) {
        const int first = 2 * i + odd;
        if (first + 1 < count) {
          to.words[i] = words[i];
        } else if (first < count) {
          to.words[i] = halves[first];
        }
      }
      if (lone < count) to.h0 = halves[lone];
    }
  }

  KILN_DEVICE static uint4 joined(const Halfwords& from, bool odd) {
    const unsigned(&w)[3] = from.words;
    const unsigned lone = from.h0 << 16;
    const unsigned shift = odd ? 16 : 32;  // 32 leaves the second word
    return {__funnelshift_rc(lone, w[0], shift), __funnelshift_rc(w[0], w[1], shift),
            __funnelshift_rc(w[1], w[2], shift), __funnelshift_r(odd ? w[2] : lone, from.h1, 16)};
  }

  KILN_DEVICE static Vector load_partial(const T* source, int count) {
    using Part = typename Word<sizeof(T) == 1 ? 1 : 2>::type;
    constexpr int kParts = static_cast<int>(sizeof(Vector) / sizeof(Part));
    constexpr int kPartsEach = static_cast<int>(sizeof(T) / sizeof(Part));
    const Part* from = reinterpret_cast<const Part*>(source);
    Part words[kParts] = {};
    // Often next to nothing is left, and asking for it costs more than the loads.
    constexpr int kFew = kParts / 8 < 1 ? 1 : kParts / 8;
    const int valid = count * kPartsEach;
    if (valid > 0) {
#pragma unroll
      for (int i = 0; i < kFew; ++i) {
        if (i < valid) words[i] = from[i];
      }
    }
    if (valid > kFew) {
#pragma unroll
      for (int i = kFew; i < kParts; ++i) {
        if (i < valid) words[i] = from[i];
      }
    }
    Vector vector;
    memcpy(&vector, words, sizeof(vector));
    return vector;
  }

  Chunks chunks_;
};

}  // namespace kiln
