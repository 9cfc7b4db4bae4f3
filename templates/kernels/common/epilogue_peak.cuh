// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What amax(x, peak[]) of an expression does: the largest |x| of all elements of D goes to memory.
///
///     elements of a thread    |x| |x| |x| ...       the largest so far, in a register
///     lanes of a warp          2   7   1  ...       shuffles: 7
///     memory                   max(5, 7)            an atomic operation, if it has less
///
/// Numbers that are not negative are ordered as their bits are, with NaN above all others, so it is
/// the bits that are compared. A peak for each row is kept as long as a thread stays in the row.
/// Those of columns go to memory at once: a thread has a different one for each of its elements.

#include "common/epilogue_pack.cuh"
#include "common/gemm_args.cuh"
#include "common/meta.cuh"

namespace kiln::epilogue {

template <class T>
using MagnitudeBits = Conditional<sizeof(T) == 4, unsigned, unsigned long long>;

KILN_DEVICE unsigned magnitude_bits(float x) {
  return __float_as_uint(x) & 0x7fffffffU;
}
KILN_DEVICE unsigned long long magnitude_bits(double x) {
  return static_cast<unsigned long long>(__double_as_longlong(x)) & 0x7fffffffffffffffULL;
}

/// Peaks of an operand as they lie in memory.
template <class T>
KILN_DEVICE MagnitudeBits<T>* peaks_of(const GemmArgs& args, int operand) {
  return static_cast<MagnitudeBits<T>*>(const_cast<void*>(args.operand[operand]));
}

/// What memory has, without an order to anything else.
template <class Bits>
KILN_DEVICE Bits recorded(const Bits* at) {
  return *static_cast<const volatile Bits*>(at);
}

/// Memory only grows: if it has as much already, it need not be asked for exclusively.
template <class Bits>
KILN_DEVICE void raise(Bits* to, Bits bits) {
  if (recorded(to) < bits) atomicMax(to, bits);
}

/// Raises element `at`, by one lane for all those of a whole warp that have the same in common.
template <class Bits>
KILN_DEVICE void raise_together(Bits* peaks, int at, Bits bits) {
  constexpr unsigned kAll = 0xffffffffU;
  constexpr int kDone = -1;  // a lower lane does it
  if (__activemask() == kAll) {
    int lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
#pragma unroll 1  // it is at many places, where unrolled it doubles the time to compile a kernel
    for (int offset = 16; offset > 0; offset /= 2) {
      const int its = __shfl_xor_sync(kAll, at, offset);
      const Bits other = __shfl_xor_sync(kAll, bits, offset);
      if (its != at) continue;
      if ((lane & offset) != 0) {
        at = kDone;
      } else {
        bits = bits < other ? other : bits;
      }
    }
  }
  if (at != kDone) raise(peaks + at, bits);
}

/// The peaks that a thread has not put into memory yet. The bits of kOnes are the operands with one
/// for all of D, those of kRows the ones with one for each row. The last ones go there when its
/// life ends, after the thread's last element of D.
template <class T, unsigned kOnes, unsigned kRows>
class PeakKeeper {
 public:
  using Bits = MagnitudeBits<T>;

  KILN_DEVICE explicit PeakKeeper(const GemmArgs& args) : args_(args) {}
  PeakKeeper(const PeakKeeper&) = delete;
  PeakKeeper& operator=(const PeakKeeper&) = delete;
  KILN_DEVICE ~PeakKeeper() {
    if (row_ < 0) return;
    put<kOnes | kRows>();
  }

  /// Before elements of that row are noted: what is kept of another goes to memory.
  KILN_DEVICE void enter_row(int row) {
    const bool moved = row_ != row;
    if (moved && row_ >= 0) put<kRows>();
    // Without a branch, so that the compiler knows that a thread stays where it is.
    row_ = row;
#pragma unroll
    for (int i = 0; i < GemmArgs::kMostOperands; ++i) {
      if (((kRows >> i) & 1U) != 0 && moved) bits_[i] = 0;
    }
  }
  template <int kOperand>
  KILN_DEVICE void note(Bits bits) {
    if (bits_[kOperand] < bits) bits_[kOperand] = bits;
  }

 private:
  template <unsigned kOperands, int kOperand = 0>
  KILN_DEVICE void put() const {
    if constexpr (((kOperands >> kOperand) & 1U) != 0) {
      constexpr bool kByRow = ((kRows >> kOperand) & 1U) != 0;
      raise_together(peaks_of<T>(args_, kOperand), kByRow ? row_ : 0, bits_[kOperand]);
    }
    if constexpr (kOperand + 1 < GemmArgs::kMostOperands) put<kOperands, kOperand + 1>();
  }

  const GemmArgs& args_;
  int row_ = -1;
  Bits bits_[GemmArgs::kMostOperands] = {};
};

/// How amax() records what it is given, at a Place of D (common/epilogue.cuh).
template <class T>
struct PeakRecorder {
  template <int kOperand, class Place>
  KILN_DEVICE static void only(const Place& place, const T& x) {
    place.peaks.template note<kOperand>(magnitude_bits(x));
  }
  template <int kOperand, class Place>
  KILN_DEVICE static void of_row(const Place& place, const T& x) {
    only<kOperand>(place, x);
  }
  template <int kOperand, class Place>
  KILN_DEVICE static void of_column(const Place& place, const T& x) {
    raise(peaks_of<T>(place.args, kOperand) + place.col, magnitude_bits(x));
  }
};
/// Of neighbours in a row of D.
template <class T, int kCount>
struct PeakRecorder<Pack<T, kCount>> {
  using Bits = MagnitudeBits<T>;

  KILN_DEVICE static Bits largest(const Pack<T, kCount>& x) {
    Bits bits = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const Bits one = magnitude_bits(x.value[i]);
      if (bits < one) bits = one;
    }
    return bits;
  }
  template <int kOperand, class Place>
  KILN_DEVICE static void only(const Place& place, const Pack<T, kCount>& x) {
    place.peaks.template note<kOperand>(largest(x));
  }
  template <int kOperand, class Place>
  KILN_DEVICE static void of_row(const Place& place, const Pack<T, kCount>& x) {
    only<kOperand>(place, x);
  }
  template <int kOperand, class Place>
  KILN_DEVICE static void of_column(const Place& place, const Pack<T, kCount>& x) {
    Bits* const to = peaks_of<T>(place.args, kOperand) + place.col;
    // All reads are on their way before the first is needed.
    Bits before[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) before[i] = recorded(to + i);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const Bits bits = magnitude_bits(x.value[i]);
      if (before[i] < bits) atomicMax(to + i, bits);
    }
  }
};
/// Of the reference: the range that a kernel's may be in, two numbers for each peak.
template <class C>
struct PeakRecorder<Bounded<C>> {
  template <class Place>
  KILN_DEVICE static void record(const Place& place, int operand, int at, const Bounded<C>& x) {
    unsigned long long* const range = peaks_of<double>(place.args, operand) + 2LL * at;
    const PeakRange one = peak_range(x);
    raise(range, magnitude_bits(one.least));
    raise(range + 1, magnitude_bits(one.most));
  }
  template <int kOperand, class Place>
  KILN_DEVICE static void only(const Place& place, const Bounded<C>& x) {
    record(place, kOperand, 0, x);
  }
  template <int kOperand, class Place>
  KILN_DEVICE static void of_row(const Place& place, const Bounded<C>& x) {
    record(place, kOperand, place.row, x);
  }
  template <int kOperand, class Place>
  KILN_DEVICE static void of_column(const Place& place, const Bounded<C>& x) {
    record(place, kOperand, place.col, x);
  }
};

}  // namespace kiln::epilogue
