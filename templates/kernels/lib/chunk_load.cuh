// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Chunks of neighbouring elements, read into registers as one vector. A chunk may be longer than
/// what the matrix's rows are aligned to (`kAligned` elements): it is then read in parts. Of 16-bit
/// elements that are aligned to nothing more, 8 take 5 loads, of which 3 are words, wherever the
/// chunk begins:
///
///     even address   | w0    | w1    | w2    | h0 h1 |
///     odd address    h0 | w0    | w1    | w2    | h1         one shift by 16 bits brings w in line
///
/// What joins them waits for them, so a thread that reads several chunks joins them afterwards.

#include "common/annotations.cuh"
#include "common/meta.cuh"
#include "lib/tile_chunks.cuh"

namespace kiln {

/// Chunks of kVec elements of type T.
template <class T, int kVec, int kAligned>
struct ChunkLoad {
  using Vector = typename Word<kVec* static_cast<int>(sizeof(T))>::type;
  /// Eight elements of 16 bits as they are loaded.
  struct Halfwords {
    unsigned words[3];
    unsigned h0;
    unsigned h1;
  };
  static constexpr bool kHalfwords = sizeof(T) == 2 && kAligned == 1 && kVec == 8;
  using Loaded = Conditional<kHalfwords, Halfwords, Vector>;

  /// Whether a chunk of halfwords begins in the middle of a word.
  KILN_DEVICE static bool is_odd(const T* source) {
    return kHalfwords && reinterpret_cast<unsigned long long>(source) % 4 != 0;
  }

  /// The first `count` elements at `source`, and zeros.
  KILN_DEVICE static void load(Loaded& to, const T* source, int count, bool odd) {
    if constexpr (kHalfwords) {
      load_halfwords(to, source, count, odd ? 1 : 0);
    } else if (count == kVec) {
      to = load_whole(source);
    } else {
      to = load_partial(source, count);
    }
  }

  KILN_DEVICE static Vector joined(const Loaded& from, bool odd) {
    if constexpr (kHalfwords) {
      return joined_halfwords(from, odd);
    } else {
      return from;
    }
  }

 private:
  KILN_DEVICE static Vector load_whole(const T* source) {
    if constexpr (kAligned == kVec) {
      return *reinterpret_cast<const Vector*>(source);
    } else {
      using Part = typename Word<kAligned* static_cast<int>(sizeof(T))>::type;
      constexpr int kParts = kVec / kAligned;
      Part parts[kParts];
#pragma unroll
      for (int i = 0; i < kParts; ++i) parts[i] = reinterpret_cast<const Part*>(source)[i];
      Vector vector;
      memcpy(&vector, parts, sizeof(vector));
      return vector;
    }
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

  KILN_DEVICE static uint4 joined_halfwords(const Halfwords& from, bool odd) {
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
};

}  // namespace kiln
