// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Arguments and results of the kernels in support/verify.cu, shared by host and device: the host
/// includes this file too, so each layout has one home. No header is included: NVRTC resolves none.
///
/// Every kernel is extern "C", takes its one struct by value, walks its elements with a grid-stride
/// loop over a 1-D grid and so is right for any grid and any block of up to 1024 threads. Matrices
/// are row-major: element (row, col) at `row * ld + col`, and a buffer ends with the last of them.
/// `dtype` is the number of a kiln::DType; only comparisons take a complex one: to others, complex
/// numbers are two real ones beside each other. Results are added to, so the host copies a
/// default-initialised result struct to the device before the launch.

namespace kiln {

/// Values that `kiln_fill_random` can draw. All are rounded to the type. Of integer types,
/// kFillUniform draws all that they have, and kFillPositive all above zero, with equal probability.
/// One-bit types get fair bits unless they are sorted.
enum FillDistribution : int {
  /// Near-normal. Floats: mean 0, deviation 1; s8: 0 and 32; u8: 128 and 32; of 16 and 32 bits:
  /// 1024,
  /// of 64 bits: 2^40, and where there is no sign the mean is four times that.
  kFillNormal = 0,
  kFillInteger = 1,   ///< each integer of [lo, hi] with equal probability
  kFillUniform = 2,   ///< floats: uniform in [0, 1); rounding never makes it 1
  kFillPositive = 3,  ///< floats: 1/16 more than such a number, so that dividing by it is harmless
  /// Integers of [lo, hi] that ascend in the order of memory, evenly spread; not random. No two
  /// integers differ by more than one in how often they occur.
  kFillSorted = 4,
};

/// kiln_fill_random(FillArgs): fills rows x cols; columns cols..ld-1 of every row but the last get
/// NaN (integers: the extreme value), so that a kernel that lets padding matter is found out. A
/// value depends only on seed, row, col, distribution, lo, hi and dtype; a sorted one on rows and
/// cols, not on the seed. The least value of signed integers, e.g. -128, is never drawn.
struct FillArgs {
  void* data;
  long long rows;
  long long cols;
  long long ld;
  unsigned long long seed;
  int dtype;
  int distribution;  ///< a FillDistribution
  long long lo;      ///< of kFillInteger and kFillSorted, clamped to what an integer type can hold
  long long hi;      ///< likewise, and not below lo
};

/// kiln_absolute(AbsoluteArgs): to = |from|, same type, padding of `to` untouched. In-place is
/// fine.
struct AbsoluteArgs {
  const void* from;
  void* to;
  long long rows;
  long long cols;
  long long ld_from;
  long long ld_to;
  int dtype;
  int reserved;
};

/// kiln_convert(ConvertArgs): to = from in float64, exactly but for 64-bit integers beyond 2^53;
/// padding of `to` untouched. Not for packed types. The two matrices must not overlap.
struct ConvertArgs {
  const void* from;
  double* to;
  long long rows;
  long long cols;
  long long ld_from;
  long long ld_to;
  int dtype;  ///< of `from`
  int reserved;
};

enum CompareMode : int {
  kCompareExact = 0,  ///< D equals the reference rounded to D's type (nearest, ties to even)
  /// |D - ref| <= u_out * |ref| + c_factor * absolute + atol (+ subnormal rounding)
  kCompareBounded = 1,
};

/// What a comparison found.
struct CompareResult {
  unsigned long long failures = 0;           ///< elements outside their bound
  unsigned long long first_failure = ~0ULL;  ///< smallest row * cols + col of them; ~0: none
  unsigned long long unbounded = 0;          ///< elements whose error nothing bounds
  double first_value = 0.0;            ///< of D there, and the two below: by kiln_compare_detail
  double first_expected = 0.0;         ///< exact mode: rounded to D's type
  double first_bound = 0.0;            ///< on the absolute error; 0 in exact mode
  double first_value_imaginary = 0.0;  ///< of complex numbers
  double first_expected_imaginary = 0.0;
  unsigned long long first_value_bits = 0;  ///< of 64-bit integers
  unsigned long long first_expected_bits = 0;
  float worst_ratio = 0.0F;  ///< largest error over bound; infinite for a NaN or a zero bound
  int reserved = 0;
};

/// kiln_compare(CompareArgs) over rows x cols, then kiln_compare_detail(CompareArgs) with one
/// thread, which fills first_value, first_expected and first_bound when there is a failure.
/// A NaN or infinity in D fails unless the reference, rounded to D's type, is the same.
/// Of complex numbers |x| is the absolute value, `ref` has two parts for each, `absolute` one
/// number.
struct CompareArgs {
  const void* d;           ///< what the candidate wrote
  const double* ref;       ///< what is right, in float64, such as alpha A B + beta C
  const double* absolute;  ///< of the numbers that ref is the sum of, such as |alpha| |A| |B| +
                           ///< |beta| |C|; null: |ref|. Not read in exact mode
  const void* own;         ///< of 64-bit integers: null, or what is right in that type, and ref is
                           ///< not read
  CompareResult* result;
  long long rows;
  long long cols;
  long long ld_d;
  long long ld_ref;  ///< of `ref` or `own`
  long long ld_absolute;
  double u_out;     ///< unit roundoff of D's type
  double c_factor;  ///< what multiplies `absolute`
  double atol;      ///< an error that is right everywhere, even where all of the above are 0
  int dtype;        ///< of D
  int mode;         ///< a CompareMode
};

/// What a count found.
struct CountResult {
  unsigned long long count = 0;
  unsigned long long first = ~0ULL;  ///< smallest offset of them; ~0: none
};

/// kiln_count_mismatch(MismatchArgs): counts the bytes that differ from `pattern` among
/// bytes [row * pitch + begin, row * pitch + end) of each row. Offsets are bytes from `data`.
/// A red zone is one row; leading-dimension padding is rows x [cols, ld) elements.
struct MismatchArgs {
  const void* data;
  CountResult* result;
  long long rows;
  long long pitch;  ///< bytes from row to row
  long long begin;  ///< bytes into the row
  long long end;
  int pattern;  ///< the expected byte, 0 to 255
  int reserved;
};

/// kiln_count_difference(DifferenceArgs): counts elements of x and y that differ in any bit.
/// Offsets are row * cols + col.
struct DifferenceArgs {
  const void* x;
  const void* y;
  CountResult* result;
  long long rows;
  long long cols;
  long long ld_x;
  long long ld_y;
  int element_bytes;  ///< 1, 2, 4, 8 or 16
  int reserved;
};

}  // namespace kiln
