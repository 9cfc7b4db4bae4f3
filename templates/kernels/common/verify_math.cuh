// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What verification computes with: random values, element encodings and error bounds. All of it is
/// exact integer arithmetic or plain IEEE double, and neither CUDA's headers nor its conversions
/// are used: it compiles as host C++ with the same results, and it does not trust the code it
/// judges. Elements are handled as the bits that lie in memory, in an unsigned long long.

#include "common/annotations.cuh"
#include "common/verify_args.cuh"

/// For large functions with many callers. Compiled once and called, the kernels of verify.cu take
/// 1.3 s to compile; with a copy for each caller it was 2.8 s, which every first session waited
/// for.
#if defined(__CUDACC__)
#define KILN_CALLED __host__ __device__ __noinline__
#else
#define KILN_CALLED inline
#endif

namespace kiln {

/// In the order of kiln::DType.
enum class ElementKind : int {
  f16,
  bf16,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  s8,
  u8,
  s32,
  s4,
  u4,
  b1,
  b1_xor,
  s16,
  u16,
  u32,
  s64,
  u64,
  cf32,
  cf64
};

KILN_HD int element_bytes(ElementKind kind) {
  switch (kind) {
    case ElementKind::f16:
    case ElementKind::bf16:
    case ElementKind::s16:
    case ElementKind::u16:
      return 2;
    case ElementKind::tf32:
    case ElementKind::f32:
    case ElementKind::s32:
    case ElementKind::u32:
      return 4;
    case ElementKind::f64:
    case ElementKind::s64:
    case ElementKind::u64:
    case ElementKind::cf32:
      return 8;
    case ElementKind::cf64:
      return 16;
    default:
      return 1;
  }
}

/// How many values share a byte, the first in its lowest bits; 1 for what has bytes of its own.
KILN_HD int packed_values(ElementKind kind) {
  switch (kind) {
    case ElementKind::s4:
    case ElementKind::u4:
      return 2;
    case ElementKind::b1:
    case ElementKind::b1_xor:
      return 8;
    default:
      return 1;
  }
}
/// Of one value.
KILN_HD int value_bits(ElementKind kind) {
  return 8 * element_bytes(kind) / packed_values(kind);
}

/// A complex number is two of real_kind(), the real part first; what follows is about real kinds.
KILN_HD bool is_complex(ElementKind kind) {
  return kind == ElementKind::cf32 || kind == ElementKind::cf64;
}
KILN_HD ElementKind real_kind(ElementKind kind) {
  if (!is_complex(kind)) return kind;
  return kind == ElementKind::cf32 ? ElementKind::f32 : ElementKind::f64;
}

KILN_HD bool is_signed_integer(ElementKind kind) {
  switch (kind) {
    case ElementKind::s8:
    case ElementKind::s16:
    case ElementKind::s32:
    case ElementKind::s64:
    case ElementKind::s4:
      return true;
    default:
      return false;
  }
}
KILN_HD bool is_integer(ElementKind kind) {
  switch (kind) {
    case ElementKind::u8:
    case ElementKind::u16:
    case ElementKind::u32:
    case ElementKind::u64:
      return true;
    default:
      return is_signed_integer(kind) || packed_values(kind) > 1;
  }
}
/// Integers of which float64 does not have all: they are drawn and compared as they are.
KILN_HD bool is_wide_integer(ElementKind kind) {
  return kind == ElementKind::s64 || kind == ElementKind::u64;
}

/// A binary floating-point format of up to 32 bits.
struct FloatFormat {
  int exponent_bits;
  int fraction_bits;
  bool has_infinity;  ///< e4m3 has none: its largest exponent holds numbers, but for one NaN
};

/// tf32 is in memory what f32 is. Precondition: a float kind other than f64.
KILN_HD FloatFormat float_format(ElementKind kind) {
  switch (kind) {
    case ElementKind::f16:
      return {5, 10, true};
    case ElementKind::bf16:
      return {8, 7, true};
    case ElementKind::e4m3:
      return {4, 3, false};
    case ElementKind::e5m2:
      return {5, 2, true};
    default:
      return {8, 23, true};
  }
}

KILN_HD unsigned long long double_bits(double value) {
  return __builtin_bit_cast(unsigned long long, value);
}
KILN_HD double double_of_bits(unsigned long long bits) {
  return __builtin_bit_cast(double, bits);
}
KILN_HD double magnitude(double value) {
  return double_of_bits(double_bits(value) & ~(1ULL << 63));
}
KILN_HD bool is_nan(double value) {
  return !(value == value);
}
KILN_HD bool is_finite(double value) {
  return (double_bits(value) >> 52 & 0x7ff) != 0x7ff;
}
/// 2^exponent for the exponents of normal doubles.
KILN_HD double power_of_two(int exponent) {
  return double_of_bits(static_cast<unsigned long long>(exponent + 1023) << 52);
}

/// Rounds to the nearest integer, ties to even. Precondition: 0 <= value < 2^64.
KILN_HD unsigned long long round_to_integer(double value) {
  unsigned long long whole = static_cast<unsigned long long>(value);
  const double rest = value - static_cast<double>(whole);
  if (rest > 0.5 || (rest == 0.5 && whole % 2 == 1)) ++whole;
  return whole;
}

KILN_HD int least_exponent(FloatFormat format) {
  return 2 - (1 << (format.exponent_bits - 1));
}

KILN_HD unsigned long long encode_float(double value, FloatFormat format) {
  const int width = format.exponent_bits + format.fraction_bits;
  const unsigned long long sign = double_bits(value) >> 63 << width;
  const unsigned long long exponent_mask = (1ULL << format.exponent_bits) - 1;
  const unsigned long long infinity = exponent_mask << format.fraction_bits;
  // Formats without infinity saturate, as CUDA's conversions do; their NaN is all ones.
  const unsigned long long overflow = format.has_infinity ? infinity : (1ULL << width) - 2;
  if (is_nan(value)) {
    return format.has_infinity ? infinity | 1ULL << (format.fraction_bits - 1)
                               : (1ULL << width) - 1;
  }
  if (!is_finite(value)) return sign | overflow;
  const double size = magnitude(value);
  const int least = least_exponent(format);
  int exponent = static_cast<int>(double_bits(size) >> 52) - 1023;
  if (exponent < least) exponent = least;
  // Biased far beyond any of the formats: no scaling below can overflow.
  if (exponent > 1 - least + 1) return sign | overflow;
  // In units of the last place; a carry out of the fraction moves into the exponent by itself.
  const unsigned long long units =
      round_to_integer(size * power_of_two(format.fraction_bits - exponent));
  const unsigned long long hidden = 1ULL << format.fraction_bits;
  const unsigned long long bits =
      units < hidden
          ? units
          : (static_cast<unsigned long long>(exponent - least) << format.fraction_bits) + units;
  return sign | (bits > overflow ? overflow : bits);
}

KILN_HD double decode_float(unsigned long long bits, FloatFormat format) {
  const int width = format.exponent_bits + format.fraction_bits;
  const unsigned long long fraction_mask = (1ULL << format.fraction_bits) - 1;
  const unsigned long long exponent_mask = (1ULL << format.exponent_bits) - 1;
  const unsigned long long fraction = bits & fraction_mask;
  const unsigned long long exponent = bits >> format.fraction_bits & exponent_mask;
  const bool negative = (bits >> width & 1) != 0;
  double size = 0.0;
  if (format.has_infinity && exponent == exponent_mask) {
    size = double_of_bits(fraction == 0 ? 0x7ff0000000000000ULL : 0x7ff8000000000000ULL);
  } else if (!format.has_infinity && exponent == exponent_mask && fraction == fraction_mask) {
    size = double_of_bits(0x7ff8000000000000ULL);
  } else if (exponent == 0) {
    size =
        static_cast<double>(fraction) * power_of_two(least_exponent(format) - format.fraction_bits);
  } else {
    size = static_cast<double>(fraction + fraction_mask + 1) *
           power_of_two(static_cast<int>(exponent) - 1 + least_exponent(format) -
                        format.fraction_bits);
  }
  return negative ? -size : size;
}

/// Bits that the largest value of an integer kind takes.
KILN_HD int integer_digits(ElementKind kind) {
  return value_bits(kind) - (is_signed_integer(kind) ? 1 : 0);
}
KILN_HD unsigned long long greatest_bits(ElementKind kind) {
  return ~0ULL >> (64 - integer_digits(kind));
}
/// Smallest and largest value of an integer kind; of a wide one the latter is rounded up.
KILN_HD double integer_least(ElementKind kind) {
  return is_signed_integer(kind) ? -power_of_two(value_bits(kind) - 1) : 0.0;
}
KILN_HD double integer_greatest(ElementKind kind) {
  return power_of_two(integer_digits(kind)) - 1.0;
}

/// The bits of `value` in that type, the lowest ones of a byte where it has several: rounded to
/// nearest even; integers clamped to their range.
KILN_CALLED unsigned long long encode(double value, ElementKind kind) {
  if (kind == ElementKind::f64) return double_bits(value);
  if (!is_integer(kind)) return encode_float(value, float_format(kind));
  if (is_nan(value)) return 0;
  const double least = integer_least(kind);
  const double greatest = integer_greatest(kind);
  const double clamped = value < least ? least : value > greatest ? greatest : value;
  if (clamped >= power_of_two(integer_digits(kind))) return greatest_bits(kind);
  const unsigned long long size = round_to_integer(magnitude(clamped));
  return (clamped < 0.0 ? 0 - size : size) & ~0ULL >> (64 - value_bits(kind));
}

/// The value that those bits begin with.
KILN_CALLED double decode(unsigned long long bits, ElementKind kind) {
  if (kind == ElementKind::f64) return double_of_bits(bits);
  if (!is_integer(kind)) return decode_float(bits, float_format(kind));
  const int unused = 64 - value_bits(kind);
  if (!is_signed_integer(kind)) return static_cast<double>(bits << unused >> unused);
  return static_cast<double>(static_cast<long long>(bits << unused) >> unused);
}

/// What padding holds: a NaN, or the extreme of an integer type.
KILN_HD unsigned long long poison_bits(ElementKind kind) {
  if (packed_values(kind) > 1) return 0xff;
  if (is_signed_integer(kind)) return encode(integer_least(kind), kind);
  if (is_integer(kind)) return greatest_bits(kind);
  return encode(double_of_bits(0x7ff8000000000000ULL), kind);
}

KILN_HD unsigned long long absolute_bits(unsigned long long bits, ElementKind kind) {
  unsigned long long result = 0;
  if (kind == ElementKind::u64) return bits;
  if (kind == ElementKind::s64) return bits >> 63 != 0 ? 0 - bits : bits;
  for (int at = 0; at < 8 * element_bytes(kind); at += value_bits(kind)) {
    result |= encode(magnitude(decode(bits >> at, kind)), kind) << at;
  }
  return result;
}

/// A random word that depends only on its counter: xor-shifts and multiplications in turns, each a
/// bijection, so that neighbours have nothing in common.
KILN_HD unsigned long long scramble(unsigned long long word) {
  word = (word ^ word >> 32) * 0xd6e8feb86659fd93ULL;
  word = (word ^ word >> 32) * 0xd6e8feb86659fd93ULL;
  return word ^ word >> 32;
}
KILN_HD unsigned long long random_word(unsigned long long seed, long long row, long long col) {
  const unsigned long long line = scramble(seed + 0x9e3779b97f4a7c15ULL) +
                                  static_cast<unsigned long long>(row) * 0xc2b2ae3d27d4eb4fULL;
  return scramble(scramble(line) + static_cast<unsigned long long>(col));
}

/// Near-normal with mean 0 and deviation 1, within +-3.5: the sum of four uniform 16-bit numbers.
KILN_HD double random_normal(unsigned long long word) {
  const int sum = static_cast<int>(word & 0xffff) + static_cast<int>(word >> 16 & 0xffff) +
                  static_cast<int>(word >> 32 & 0xffff) + static_cast<int>(word >> 48);
  // Four uniform numbers of [0, 65535] have mean 131070 and this deviation together.
  return (sum - 131070) / 37837.22;
}

/// The same in the units of an integer type.
KILN_HD double random_normal(unsigned long long word, ElementKind kind) {
  const double value = random_normal(word);
  switch (kind) {
    case ElementKind::s8:
      return value * 32.0;
    case ElementKind::s16:
    case ElementKind::s32:
      return value * 1024.0;
    case ElementKind::u8:
      return 128.0 + value * 32.0;
    case ElementKind::u16:
    case ElementKind::u32:
      return 4096.0 + value * 1024.0;
    case ElementKind::s64:  // far beyond 32 bits, and float64 has all of them
      return value * power_of_two(40);
    case ElementKind::u64:
      return (4.0 + value) * power_of_two(40);
    case ElementKind::s4:
      return value * 4.0;
    case ElementKind::u4:
      return 8.0 + value * 4.0;
    default:
      return value;
  }
}

/// The upper 64 of the 128 bits of x * y.
KILN_HD unsigned long long high_product(unsigned long long x, unsigned long long y) {
  const unsigned long long low = 0xffffffffULL;
  // (2^32 - 1)^2 + 2^32 - 1 < 2^64: neither sum overflows.
  const unsigned long long upper = (x >> 32) * (y & low) + ((x & low) * (y & low) >> 32);
  const unsigned long long lower = (x & low) * (y >> 32) + (upper & low);
  return (x >> 32) * (y >> 32) + (upper >> 32) + (lower >> 32);
}

/// How many integers [lo, hi] has; of all 2^64, one is not counted. Precondition: lo <= hi.
KILN_HD unsigned long long count_integers(long long lo, long long hi) {
  const unsigned long long more =
      static_cast<unsigned long long>(hi) - static_cast<unsigned long long>(lo);
  return more == ~0ULL ? more : more + 1;
}
/// Any of them: lo + offset.
KILN_HD long long integer_at(long long lo, unsigned long long offset) {
  return static_cast<long long>(static_cast<unsigned long long>(lo) + offset);
}

/// Each integer of [lo, hi] with equal probability (up to 2^-32 of it). Precondition: lo <= hi.
KILN_HD long long random_integer(unsigned long long word, long long lo, long long hi) {
  const unsigned long long count = count_integers(lo, hi);
  // The short product decides what known seeds give.
  if (count <= 1ULL << 32) return integer_at(lo, (word >> 32) * count >> 32);
  return integer_at(lo, high_product(word, count));
}

/// Number `place` of `places` that ascend from lo to hi: as even as whole numbers can be, and no
/// intermediate result exceeds `places` or what [lo, hi] has. Precondition: lo <= hi,
/// place < places.
KILN_HD long long sorted_integer(unsigned long long place, unsigned long long places, long long lo,
                                 long long hi) {
  const unsigned long long count = count_integers(lo, hi);
  if (places <= count) {
    // Steps, the first ones longer by one.
    const unsigned long long longer = count % places;
    return integer_at(lo, place * (count / places) + (place < longer ? place : longer));
  }
  // Runs of equal numbers, the first ones longer by one.
  const unsigned long long run = places / count;
  const unsigned long long longer = places % count;
  const unsigned long long in_longer = longer * (run + 1);
  return integer_at(lo, place < in_longer ? place / (run + 1) : longer + (place - in_longer) / run);
}

/// Uniform in [0, 1), and no number of that type that it is rounded to is 1. Precondition: a float
/// kind.
KILN_HD double random_uniform(unsigned long long word, ElementKind kind) {
  const double value = static_cast<double>(word >> 11) * power_of_two(-53);
  if (kind == ElementKind::f64) return value;
  // Kernels round TF32 once more, from memory to a fraction of 10 bits.
  const int fraction_bits = kind == ElementKind::tf32 ? 10 : float_format(kind).fraction_bits;
  const double below_one = 1.0 - power_of_two(-1 - fraction_bits);
  return value < below_one ? value : below_one;
}

/// What `args` say of number `place` of a row that has `row_values` of them, before it is rounded.
KILN_HD double drawn_value(const FillArgs& args, long long row, long long place,
                           long long row_values, ElementKind kind) {
  if (args.distribution == kFillSorted) {
    return static_cast<double>(
        sorted_integer(static_cast<unsigned long long>(row * row_values + place),
                       static_cast<unsigned long long>(args.rows * row_values), args.lo, args.hi));
  }
  const unsigned long long word = random_word(args.seed, row, place);
  // A bit is what a coin says.
  if (packed_values(kind) == 8) return word >> 63 != 0 ? 1.0 : 0.0;
  if (args.distribution == kFillInteger) {
    return static_cast<double>(random_integer(word, args.lo, args.hi));
  }
  if (args.distribution == kFillNormal) return random_normal(word, kind);
  const bool positive = args.distribution == kFillPositive;
  if (is_integer(kind)) {
    const long long greatest = static_cast<long long>(integer_greatest(kind));
    const long long least = positive ? 1 : is_signed_integer(kind) ? -greatest : 0;
    return static_cast<double>(random_integer(word, least, greatest));
  }
  return random_uniform(word, kind) + (positive ? 0.0625 : 0.0);
}

/// The same of a wide integer, exactly. The least of s64 is left out; what u64 has not is 0.
KILN_HD unsigned long long drawn_wide_integer(const FillArgs& args, long long row, long long place,
                                              long long row_values, ElementKind kind) {
  const bool has_sign = is_signed_integer(kind);
  const long long greatest = static_cast<long long>(greatest_bits(kind));
  const unsigned long long word = random_word(args.seed, row, place);
  long long value = 0;
  switch (args.distribution) {
    case kFillSorted:
      value =
          sorted_integer(static_cast<unsigned long long>(row * row_values + place),
                         static_cast<unsigned long long>(args.rows * row_values), args.lo, args.hi);
      break;
    case kFillInteger:
      value = random_integer(word, args.lo, args.hi);
      break;
    case kFillNormal:
      return encode(random_normal(word, kind), kind);
    default: {  // of u64 the ends are bits, and the distance between them is right
      const bool positive = args.distribution == kFillPositive;
      const long long least = positive ? 1 : has_sign ? -greatest : 0;
      return static_cast<unsigned long long>(random_integer(word, least, greatest));
    }
  }
  if (value < (has_sign ? -greatest : 0)) value = has_sign ? -greatest : 0;
  return static_cast<unsigned long long>(value);
}

/// The bits of one value.
KILN_HD unsigned long long value_of_fill(const FillArgs& args, long long row, long long place,
                                         long long row_values, ElementKind kind) {
  if (is_wide_integer(kind)) return drawn_wide_integer(args, row, place, row_values, kind);
  double value = drawn_value(args, row, place, row_values, kind);
  // The absolute value of the least, e.g. -128, would not fit.
  if (is_signed_integer(kind) && value < -integer_greatest(kind)) value = -integer_greatest(kind);
  const unsigned long long bits = encode(value, kind);
  // A tie between two numbers of TF32 may go either way, and no error bound covers that.
  return kind == ElementKind::tf32 && (bits & 0x1fff) == 0x1000 ? bits + 1 : bits;
}

/// What kiln_fill_random writes at (row, col) within [0, cols), which may be several values.
KILN_HD unsigned long long random_element(const FillArgs& args, long long row, long long col) {
  const ElementKind kind = static_cast<ElementKind>(args.dtype);
  const int values = packed_values(kind);
  unsigned long long bits = 0;
  for (int i = 0; i < values; ++i) {
    bits |= value_of_fill(args, row, col * values + i, args.cols * values, kind)
            << i * value_bits(kind);
  }
  return bits;
}

}  // namespace kiln
