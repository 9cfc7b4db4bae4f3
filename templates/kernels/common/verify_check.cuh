// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The verdict on one element: exact, or within a bound. Host C++ as well, with the same results
/// (common/verify_math.cuh says why).

#include "common/verify_args.cuh"
#include "common/verify_math.cuh"

namespace kiln {

/// Half of the smallest positive number: what rounding can lose where relative error says nothing.
KILN_HD double subnormal_rounding(ElementKind kind) {
  if (is_integer(kind)) return 0.5;
  if (kind == ElementKind::f64) return double_of_bits(1);
  const FloatFormat format = float_format(kind);
  return power_of_two(least_exponent(format) - format.fraction_bits - 1);
}

/// The verdict on one element.
struct ElementCheck {
  bool ok;
  double value;     ///< of D
  double expected;  ///< exact: rounded to D's type; bounded: the reference
  double bound;     ///< on |value - expected|; 0 when exact
  double ratio;     ///< error over bound; infinite when that is no number
  /// Of complex numbers the imaginary parts; of wide integers all bits.
  double value_imaginary = 0.0, expected_imaginary = 0.0;
  unsigned long long value_bits = 0, expected_bits = 0;

  /// Whether any number would do.
  KILN_HD bool is_unbounded() const { return is_finite(expected) && !is_finite(bound); }
};

KILN_HD double infinite() {
  return double_of_bits(0x7ff0000000000000ULL);
}

KILN_HD bool same_number(double x, double y) {
  return x == y || (is_nan(x) && is_nan(y));
}

/// Exact: D must be the reference rounded to its type; the two zeros are the same number.
KILN_HD ElementCheck check_exact(unsigned long long bits, double reference, ElementKind kind) {
  const double value = decode(bits, kind);
  const unsigned long long wanted = encode(reference, kind);
  const double expected = decode(wanted, kind);
  const bool ok = is_wide_integer(kind) ? bits == wanted : same_number(value, expected);
  ElementCheck check{ok, value, expected, 0.0, ok ? 0.0 : infinite()};
  check.value_bits = bits;
  check.expected_bits = wanted;
  return check;
}

/// Bounded: |D - reference| <= u_out |reference| + c_factor * absolute + atol + rounding of
/// subnormals. Types without infinity saturate, so a reference beyond their range stands for its
/// end. Infinity is right where the error of the sum alone (the terms in the middle) can carry the
/// reference there. A reference that is not finite demands just that in D.
KILN_HD ElementCheck check_bounded(unsigned long long bits, double reference, double absolute,
                                   double u_out, double c_factor, ElementKind kind,
                                   double atol = 0.0) {
  const double value = decode(bits, kind);
  const double least = decode(encode(-infinite(), kind), kind);
  const double greatest = decode(encode(infinite(), kind), kind);
  const double expected = reference < least ? least : reference > greatest ? greatest : reference;
  const double slack = c_factor * absolute + atol;
  const double bound = u_out * magnitude(expected) + slack + subnormal_rounding(kind);
  if (!is_finite(reference)) {
    const bool ok = same_number(value, decode(encode(reference, kind), kind));
    return {ok, value, reference, bound, ok ? 0.0 : infinite()};
  }
  if (!is_finite(value)) {
    const double farthest = reference < 0.0 ? reference - slack : reference + slack;
    const bool ok = value == decode(encode(farthest, kind), kind);  // NaN equals nothing
    return {ok, value, expected, bound, ok ? 0.0 : infinite()};
  }
  const double error = magnitude(value - expected);
  // Written so that a bound that is no number fails.
  const bool ok = error <= bound;
  ElementCheck check{ok, value, expected, bound,
                     ok || error / bound > 1.0 ? error / bound : infinite()};
  check.value_bits = bits;
  check.expected_bits = is_wide_integer(kind) ? encode(expected, kind) : 0;
  return check;
}

/// Either, of a wide integer whose reference is one as well. Only the bound is rounded.
KILN_HD ElementCheck check_wide(unsigned long long bits, unsigned long long wanted, double slack,
                                double u_out, bool exact, ElementKind kind) {
  const bool is_less = is_signed_integer(kind)
                           ? static_cast<long long>(bits) < static_cast<long long>(wanted)
                           : bits < wanted;
  const double error = static_cast<double>(is_less ? wanted - bits : bits - wanted);
  const double expected = decode(wanted, kind);
  const double bound = exact ? 0.0 : u_out * magnitude(expected) + slack + subnormal_rounding(kind);
  const bool ok = error <= bound;
  const bool has_ratio = error > 0.0 && bound > 0.0;
  const double ratio = has_ratio ? error / bound : ok ? 0.0 : infinite();
  return {ok, decode(bits, kind), expected, bound, ratio, 0.0, 0.0, bits, wanted};
}

/// sqrt(x^2 + y^2) of finite numbers, to a few units in the last place.
KILN_HD double distance_of(double x, double y) {
  const double larger = magnitude(x) > magnitude(y) ? magnitude(x) : magnitude(y);
  const double smaller = magnitude(x) > magnitude(y) ? magnitude(y) : magnitude(x);
  if (larger == 0.0) return 0.0;
  const double ratio = smaller / larger;
  const double square = 1.0 + ratio * ratio;
  double root = 1.2;  // Newton's method: sqrt(1) to sqrt(2) is close
  for (int i = 0; i < 5; ++i) root = 0.5 * (root + square / root);
  return larger * root;
}

/// A complex number. Exact: both parts are. Bounded: the distance from the reference is no more
/// than the bound, in which |reference| is an absolute value as well. Where a part is not finite
/// each one is judged by itself. `kind` is that of a part.
KILN_HD ElementCheck check_complex(const unsigned long long (&bits)[2],
                                   const double (&reference)[2], double slack, double u_out,
                                   bool exact, ElementKind kind) {
  ElementCheck parts[2];
  bool finite = true;
  for (int i = 0; i < 2; ++i) {
    parts[i] = exact ? check_exact(bits[i], reference[i], kind)
                     : check_bounded(bits[i], reference[i], 0.0, u_out, 0.0, kind, slack);
    finite = finite && is_finite(parts[i].value) && is_finite(reference[i]);
  }
  ElementCheck check = parts[0];
  check.ok = parts[0].ok && parts[1].ok;
  if (parts[1].ratio > check.ratio) check.ratio = parts[1].ratio;
  check.value_imaginary = parts[1].value;
  check.expected_imaginary = parts[1].expected;
  if (exact || !finite) return check;
  const double error =
      distance_of(parts[0].value - parts[0].expected, parts[1].value - parts[1].expected);
  check.bound = u_out * distance_of(parts[0].expected, parts[1].expected) + slack +
                2.0 * subnormal_rounding(kind);
  check.ok = error <= check.bound;
  check.ratio = check.ok || error / check.bound > 1.0 ? error / check.bound : infinite();
  return check;
}

/// The bits of an element of 1, 2, 4 or 8 bytes.
KILN_HD unsigned long long load_bits(const void* base, long long index, int bytes) {
#if defined(__CUDACC__)
  switch (bytes) {
    case 1:
      return static_cast<const unsigned char*>(base)[index];
    case 2:
      return static_cast<const unsigned short*>(base)[index];
    case 4:
      return static_cast<const unsigned*>(base)[index];
    default:
      return static_cast<const unsigned long long*>(base)[index];
  }
#else
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, static_cast<const char*>(base) + index * bytes,
                   static_cast<decltype(sizeof(0))>(bytes));
  return bits;
#endif
}

/// Whether two elements of 1, 2, 4, 8 or 16 bytes have the same bits.
KILN_HD bool same_bits(const void* x, long long x_at, const void* y, long long y_at, int bytes) {
  if (bytes <= 8) return load_bits(x, x_at, bytes) == load_bits(y, y_at, bytes);
  return load_bits(x, 2 * x_at, 8) == load_bits(y, 2 * y_at, 8) &&
         load_bits(x, 2 * x_at + 1, 8) == load_bits(y, 2 * y_at + 1, 8);
}

/// What differs from the reference beside the rounding to D's type.
KILN_HD double slack_at(const CompareArgs& args, long long row, long long col, double size) {
  if (args.absolute != nullptr) size = args.absolute[row * args.ld_absolute + col];
  return args.c_factor * size + args.atol;
}

KILN_HD ElementCheck check_complex_element(const CompareArgs& args, long long row, long long col,
                                           ElementKind part) {
  unsigned long long bits[2];
  double reference[2];
  for (int i = 0; i < 2; ++i) {
    bits[i] = load_bits(args.d, 2 * (row * args.ld_d + col) + i, element_bytes(part));
    reference[i] = args.ref[2 * (row * args.ld_ref + col) + i];
  }
  const bool exact = args.mode == kCompareExact;
  const double size = distance_of(reference[0], reference[1]);
  return check_complex(bits, reference, exact ? 0.0 : slack_at(args, row, col, size), args.u_out,
                       exact, part);
}

KILN_HD ElementCheck check_element(const CompareArgs& args, long long row, long long col) {
  const ElementKind kind = static_cast<ElementKind>(args.dtype);
  if (is_complex(kind)) return check_complex_element(args, row, col, real_kind(kind));
  const unsigned long long bits = load_bits(args.d, row * args.ld_d + col, element_bytes(kind));
  const bool exact = args.mode == kCompareExact;
  if (args.own != nullptr) {
    const unsigned long long wanted = load_bits(args.own, row * args.ld_ref + col, 8);
    const double size = magnitude(decode(wanted, kind));
    return check_wide(bits, wanted, exact ? 0.0 : slack_at(args, row, col, size), args.u_out, exact,
                      kind);
  }
  const double reference = args.ref[row * args.ld_ref + col];
  if (exact) return check_exact(bits, reference, kind);
  const double absolute =
      args.absolute == nullptr ? magnitude(reference) : args.absolute[row * args.ld_absolute + col];
  return check_bounded(bits, reference, absolute, args.u_out, args.c_factor, kind, args.atol);
}

}  // namespace kiln
