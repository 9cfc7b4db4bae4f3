// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The matrix atom of mma.sync: a warp multiplies 16 rows of A by 16 columns of B over 32 bytes of
/// k, with two instructions whose fragments one ldmatrix each brings:
///
///                    B  | 0 | 2 |  k, first 16 bytes        0 ... 3: the matrices of 8 x 8 16-bit
///                       | 1 | 3 |  k, the others            elements, in the order of registers
///                       +---+---+
///                         8   8
///      A  +---+---+     +---+---+
///       8 | 0 | 2 |     |   |   |
///       8 | 1 | 3 |     |   |   |
///         +---+---+     +---+---+
///
/// Operands whose rows run along k come as they are, whatever their type; those of 16 bits whose
/// rows run across it are transposed by ldmatrix on the way, those of 32 bits are read word by
/// word. So is f64, of which 32 bytes are one word for each row and column of a lane, 64 two, 128
/// four (where tensor copies brought them: lib/boxed_f64.cuh). A lane's address depends on the atom
/// and the step along k by an addition (other rows of the tile) and an exclusive or (other chunks
/// of a swizzled row), so that a warp tile needs one such address per operand.

#include "common/annotations.cuh"
#include "common/epilogue.cuh"
#include "common/meta.cuh"
#include "lib/boxed_f64.cuh"
#include "lib/ptx_matrix.cuh"

namespace kiln {

/// What is multiplied of the words that a fragment is loaded as: they themselves, unless there is a
/// rule below.
template <class T>
struct MmaOperand {
  using Factor = T;
  using Word = Conditional<sizeof(T) == 8, double, unsigned>;
  static constexpr int kParts = 1;
  template <int kWords>
  KILN_DEVICE static void prepare(const Word (&words)[kWords], Word (&parts)[1][kWords]) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) parts[0][i] = words[i];
  }
};
template <>
struct MmaOperand<tf32> {
  using Factor = tf32;
  using Word = unsigned;
  static constexpr int kParts = 1;
  KILN_DEVICE static void prepare(const unsigned (&words)[4], unsigned (&parts)[1][4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) parts[0][i] = tf32_operand(__uint_as_float(words[i]));
  }
};
#if defined(KILN_USES_FP8)
/// 8-bit floats become f16, which has all of their values. Of a word's four neighbours along k two
/// go to the first product and two to the second, in A as in B, so that nothing has to move between
/// lanes.
template <class T, __nv_fp8_interpretation_t kKind>
struct MmaOperandFp8 {
  using Factor = __half;
  using Word = unsigned;
  static constexpr int kParts = 2;
  KILN_DEVICE static void prepare(const unsigned (&words)[4], unsigned (&parts)[2][4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int part = 0; part < 2; ++part) {
        const auto pair = static_cast<__nv_fp8x2_storage_t>(words[i] >> 16 * part);
        const __half2_raw converted = __nv_cvt_fp8x2_to_halfraw2(pair, kKind);
        memcpy(&parts[part][i], &converted, sizeof(unsigned));
      }
    }
  }
};
template <>
struct MmaOperand<__nv_fp8_e4m3> : MmaOperandFp8<__nv_fp8_e4m3, __NV_E4M3> {};
template <>
struct MmaOperand<__nv_fp8_e5m2> : MmaOperandFp8<__nv_fp8_e5m2, __NV_E5M2> {};
#endif

/// Stages hold elements of both operands as A's, of the same size: bits are bits. The atom is so
/// many bytes of k deep: 32, of f64 also 64 or 128.
template <class A, class B, class AccType, int kBytes = 32>
struct AtomMma {
  static_assert(sizeof(A) == sizeof(B), "The operands' elements are of one size");
  static_assert(kBytes == 32 || (sizeof(A) == 8 && (kBytes == 64 || kBytes == 128)),
                "No product is of that depth");
  using Acc = AccType;
  using Word = typename MmaOperand<A>::Word;
  static constexpr int kWordsDeep = kBytes / (4 * static_cast<int>(sizeof(Word)));
  static constexpr int kWords = 2 * kWordsDeep;
  /// Elements of four words along k, one for each lane of a group.
  static constexpr int kChunk = 4 * static_cast<int>(sizeof(Word)) / static_cast<int>(sizeof(A));
  using OperandA = MmaOperand<A>;
  using OperandB = MmaOperand<B>;
  /// As loaded.
  struct FragmentA {
    Word words[kWords];
  };
  struct FragmentB {
    Word words[kWords];
  };
  /// As multiplied. Made from a fragment when it is used, not when it is loaded: its words are
  /// there by then, and no multiplication waits for a conversion that waits for shared memory.
  template <class Operand>
  struct Factors {
    Word parts[Operand::kParts][kWords];
  };
  using FactorsA = Factors<OperandA>;
  using FactorsB = Factors<OperandB>;
  struct Accumulator {
    Acc halves[2][4];  ///< columns 0 to 7, 8 to 15
  };
  KILN_HD static constexpr bool addressed_by_lane() { return true; }
  KILN_HD static constexpr int rows() { return 16; }
  KILN_HD static constexpr int cols() { return 16; }
  KILN_HD static constexpr int depth() { return kWordsDeep * kChunk; }

  KILN_DEVICE static void clear(Accumulator& sum) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sum.halves[0][i] = sum.halves[1][i] = Acc(0);
  }

  /// Where the lane's address for the atom at `row` (of A; column of B) lies in the stage.
  template <auto kOperand>
  KILN_DEVICE static int origin_a(int row) {
    return origin<kOperand, Order::across_first>(row);
  }
  template <auto kOperand>
  KILN_DEVICE static int origin_b(int col) {
    return origin<kOperand, Order::depth_first>(col);
  }
  /// The same so much further along k, a multiple of what all steps take.
  template <auto kOperand>
  KILN_DEVICE static int deeper(int origin, int depth) {
    constexpr auto kPlaces = kOperand;
    return kPlaces.k_major ? kPlaces.layout.along(origin, depth)
                           : origin + depth * kPlaces.layout.stride;
  }
  /// Where it lies for that step along k.
  struct Place {
    const A* stage;
    int origin;
  };
  template <auto kOperand>
  KILN_DEVICE static Place at_step(const A* stage, int origin, int step) {
    constexpr auto kPlaces = kOperand;
    if constexpr (kPlaces.k_major) {
      return {stage, kPlaces.layout.along(origin, step * depth())};
    } else {
      return {stage + step * depth() * kPlaces.layout.stride, origin};
    }
  }
  template <auto kOperand>
  KILN_DEVICE static void load_a(FragmentA& a, Place place, int atom) {
    load<kOperand, Order::across_first>(a, place, atom);
  }
  template <auto kOperand>
  KILN_DEVICE static void load_b(FragmentB& b, Place place, int atom) {
    load<kOperand, Order::depth_first>(b, place, atom);
  }

  KILN_DEVICE static FactorsA factors_of(const FragmentA& a) {
    FactorsA factors;
    OperandA::prepare(a.words, factors.parts);
    return factors;
  }
  KILN_DEVICE static FactorsB factors_of(const FragmentB& b) {
    FactorsB factors;
    OperandB::prepare(b.words, factors.parts);
    return factors;
  }

  KILN_DEVICE static void multiply(Accumulator& sum, const FactorsA& a, const FactorsB& b) {
    const TypeTag<typename OperandA::Factor> type_a;
    const TypeTag<typename OperandB::Factor> type_b;
#pragma unroll
    for (int part = 0; part < OperandA::kParts; ++part) {
      const Word(&words)[kWords] = b.parts[part];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        if constexpr (kWordsDeep == 1) {
          mma(sum.halves[half], a.parts[part], words[half], type_a, type_b);
        } else if constexpr (kWordsDeep == 2) {
          mma(sum.halves[half], a.parts[part], words[2 * half], words[2 * half + 1], type_a,
              type_b);
        } else {
          mma(sum.halves[half], a.parts[part], words + 4 * half, type_a, type_b);
        }
      }
    }
  }

  /// To rows of D in shared memory, `stride` apart, of products of those operands.
  template <auto kOperandA, auto kOperandB>
  KILN_DEVICE static void store(const Accumulator& sum, Acc* to, int stride) {
    if constexpr (boxed<kOperandA>()) {
      store_sums_of_boxed<kOperandA, kOperandB>(sum.halves, to, stride);
    } else {
      const int lane = static_cast<int>(threadIdx.x) % 32;
      Acc* place = to + lane / 4 * stride + lane % 4 * 2;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const Acc(&d)[4] = sum.halves[half];
        using Pair = ElementVector<Acc, 2>;
        *reinterpret_cast<Pair*>(place + half * 8) = Pair{{d[0], d[1]}};
        *reinterpret_cast<Pair*>(place + half * 8 + 8 * stride) = Pair{{d[2], d[3]}};
      }
    }
  }

  /// The lane's first row of the atom; the other is 8 below.
  KILN_DEVICE static int row_of_lane() {
    return static_cast<int>(threadIdx.x) % 32 / 4;
  }
  /// The lane's sums with their places, two neighbours of a row at a time: each(y, x, sums).
  template <class Each>
  KILN_DEVICE static void pairs(const Accumulator& sum, int col, const Each& each) {
    static_assert(sizeof(A) < 8, "The sums of f64 may lie elsewhere");
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int lower = 0; lower < 2; ++lower) {
        const Acc two[2] = {sum.halves[half][2 * lower], sum.halves[half][2 * lower + 1]};
        each(row_of_lane() + 8 * lower, col + half * 8 + static_cast<int>(threadIdx.x) % 4 * 2,
             two);
      }
    }
  }

 private:
  /// What the second of the matrices is, seen from the first: the next 8 rows of A, the next half
  /// of k for B.
  enum class Order { across_first, depth_first };
  KILN_DEVICE static constexpr int across_of(Order order, int matrix) {
    return (order == Order::across_first ? matrix % 2 : matrix / kWordsDeep) * 8;
  }
  KILN_DEVICE static constexpr int depth_of(Order order, int matrix) {
    return (order == Order::across_first ? matrix / 2 : matrix % kWordsDeep) * kChunk;
  }
  /// ldmatrix transposes 16 bits, and knows rows of 16 bytes.
  template <auto kOperand>
  KILN_DEVICE static constexpr bool by_words() {
    return sizeof(A) == 8 || (sizeof(A) == 4 && !kOperand.k_major);
  }

  template <auto kOperand>
  KILN_DEVICE static constexpr bool boxed() {
    return sizeof(A) == 8 && BoxedF64<kOperand>::is();
  }

  template <auto kOperand, Order kOrder>
  KILN_DEVICE static int origin(int across) {
    constexpr auto kPlaces = kOperand;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if constexpr (boxed<kOperand>()) {
      return kPlaces.first + BoxedF64<kOperand>::origin(across);
    } else if constexpr (by_words<kOperand>()) {
      return kPlaces.first + kPlaces.offset(across + lane / 4, lane % 4);
    } else {
      const int x = across_of(kOrder, lane / 8);
      const int z = depth_of(kOrder, lane / 8);
      const int row = lane % 8;
      return kPlaces.first + (kPlaces.k_major ? kPlaces.offset(across + x + row, z)
                                              : kPlaces.offset(across + x, z + row));
    }
  }

  template <auto kOperand, Order kOrder, class Fragment>
  KILN_DEVICE static void load(Fragment& fragment, Place place, int atom) {
    constexpr auto kPlaces = kOperand;
    constexpr auto kRows = kPlaces.layout;
    constexpr bool kAlong = kPlaces.k_major;
    static_assert(kAlong || sizeof(A) != 1, "8-bit operands lie along k");
    const auto at = [&](int across, int depth) {
      return kAlong ? place.stage + kRows.along(place.origin, depth) + across * kRows.stride
                    : place.stage + kRows.along(place.origin, across) + depth * kRows.stride;
    };
    if constexpr (boxed<kOperand>()) {
      static_assert(kWordsDeep > 1, "Eight rows have a swizzle of their own each");
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        fragment.words[i] = place.stage[BoxedF64<kOperand>::at(
            place.origin, atom, across_of(kOrder, i) / 8, depth_of(kOrder, i) / 4)];
      }
    } else if constexpr (by_words<kOperand>()) {
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        fragment.words[i] = *reinterpret_cast<const Word*>(
            at(atom * 16 + across_of(kOrder, i), depth_of(kOrder, i)));
      }
    } else {
      ldmatrix<!kAlong>(fragment.words, at(atom * 16, 0));
    }
  }
};

}  // namespace kiln
