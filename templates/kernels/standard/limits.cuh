// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <limits> for NVRTC.
#pragma once
#ifndef KILN_STANDARD_LIMITS
#define KILN_STANDARD_LIMITS

#include <cfloat>
#include <climits>
#include <type_traits>

namespace std {

enum float_round_style { round_indeterminate = -1, round_toward_zero = 0, round_to_nearest = 1 };

/// Of types that have none, as the standard says.
template <class T>
struct numeric_limits {
  static constexpr bool is_specialized = false;
  static constexpr bool is_signed = false;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = false;
  static constexpr bool has_quiet_NaN = false;
  static constexpr int digits = 0;
  static constexpr int digits10 = 0;
  static KILN_STANDARD_FUNCTION constexpr T min() noexcept { return T(); }
  static KILN_STANDARD_FUNCTION constexpr T lowest() noexcept { return T(); }
  static KILN_STANDARD_FUNCTION constexpr T max() noexcept { return T(); }
  static KILN_STANDARD_FUNCTION constexpr T epsilon() noexcept { return T(); }
  static KILN_STANDARD_FUNCTION constexpr T infinity() noexcept { return T(); }
  static KILN_STANDARD_FUNCTION constexpr T quiet_NaN() noexcept { return T(); }
};
template <class T>
struct numeric_limits<const T> : numeric_limits<T> {};
template <class T>
struct numeric_limits<volatile T> : numeric_limits<T> {};

template <class T, int Digits>
struct kiln_integer_limits {
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = std::is_signed_v<T>;
  static constexpr bool is_integer = true;
  static constexpr bool is_exact = true;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = !is_signed;
  static constexpr bool has_infinity = false;
  static constexpr bool has_quiet_NaN = false;
  static constexpr bool has_signaling_NaN = false;
  static constexpr bool is_iec559 = false;
  static constexpr int radix = 2;
  static constexpr int digits = Digits;
  static constexpr int digits10 = Digits * 30103 / 100000;
  static constexpr int max_digits10 = 0;
  static constexpr float_round_style round_style = round_toward_zero;
  static KILN_STANDARD_FUNCTION constexpr T epsilon() noexcept { return 0; }
  static KILN_STANDARD_FUNCTION constexpr T round_error() noexcept { return 0; }
  static KILN_STANDARD_FUNCTION constexpr T infinity() noexcept { return 0; }
  static KILN_STANDARD_FUNCTION constexpr T quiet_NaN() noexcept { return 0; }
  static KILN_STANDARD_FUNCTION constexpr T denorm_min() noexcept { return 0; }
};

template <>
struct numeric_limits<bool> : kiln_integer_limits<bool, 1> {
  static KILN_STANDARD_FUNCTION constexpr bool min() noexcept { return false; }
  static KILN_STANDARD_FUNCTION constexpr bool lowest() noexcept { return false; }
  static KILN_STANDARD_FUNCTION constexpr bool max() noexcept { return true; }
};
template <>
struct numeric_limits<char> : kiln_integer_limits<char, 7> {
  static KILN_STANDARD_FUNCTION constexpr char min() noexcept { return CHAR_MIN; }
  static KILN_STANDARD_FUNCTION constexpr char lowest() noexcept { return CHAR_MIN; }
  static KILN_STANDARD_FUNCTION constexpr char max() noexcept { return CHAR_MAX; }
};
template <>
struct numeric_limits<signed char> : kiln_integer_limits<signed char, 7> {
  static KILN_STANDARD_FUNCTION constexpr signed char min() noexcept { return SCHAR_MIN; }
  static KILN_STANDARD_FUNCTION constexpr signed char lowest() noexcept { return SCHAR_MIN; }
  static KILN_STANDARD_FUNCTION constexpr signed char max() noexcept { return SCHAR_MAX; }
};
template <>
struct numeric_limits<unsigned char> : kiln_integer_limits<unsigned char, 8> {
  static KILN_STANDARD_FUNCTION constexpr unsigned char min() noexcept { return 0; }
  static KILN_STANDARD_FUNCTION constexpr unsigned char lowest() noexcept { return 0; }
  static KILN_STANDARD_FUNCTION constexpr unsigned char max() noexcept { return UCHAR_MAX; }
};
template <>
struct numeric_limits<short> : kiln_integer_limits<short, 15> {
  static KILN_STANDARD_FUNCTION constexpr short min() noexcept { return SHRT_MIN; }
  static KILN_STANDARD_FUNCTION constexpr short lowest() noexcept { return SHRT_MIN; }
  static KILN_STANDARD_FUNCTION constexpr short max() noexcept { return SHRT_MAX; }
};
template <>
struct numeric_limits<unsigned short> : kiln_integer_limits<unsigned short, 16> {
  static KILN_STANDARD_FUNCTION constexpr unsigned short min() noexcept { return 0; }
  static KILN_STANDARD_FUNCTION constexpr unsigned short lowest() noexcept { return 0; }
  static KILN_STANDARD_FUNCTION constexpr unsigned short max() noexcept { return USHRT_MAX; }
};
template <>
struct numeric_limits<int> : kiln_integer_limits<int, 31> {
  static KILN_STANDARD_FUNCTION constexpr int min() noexcept { return INT_MIN; }
  static KILN_STANDARD_FUNCTION constexpr int lowest() noexcept { return INT_MIN; }
  static KILN_STANDARD_FUNCTION constexpr int max() noexcept { return INT_MAX; }
};
template <>
struct numeric_limits<unsigned> : kiln_integer_limits<unsigned, 32> {
  static KILN_STANDARD_FUNCTION constexpr unsigned min() noexcept { return 0; }
  static KILN_STANDARD_FUNCTION constexpr unsigned lowest() noexcept { return 0; }
  static KILN_STANDARD_FUNCTION constexpr unsigned max() noexcept { return UINT_MAX; }
};
template <>
struct numeric_limits<long> : kiln_integer_limits<long, 63> {
  static KILN_STANDARD_FUNCTION constexpr long min() noexcept { return LONG_MIN; }
  static KILN_STANDARD_FUNCTION constexpr long lowest() noexcept { return LONG_MIN; }
  static KILN_STANDARD_FUNCTION constexpr long max() noexcept { return LONG_MAX; }
};
template <>
struct numeric_limits<unsigned long> : kiln_integer_limits<unsigned long, 64> {
  static KILN_STANDARD_FUNCTION constexpr unsigned long min() noexcept { return 0; }
  static KILN_STANDARD_FUNCTION constexpr unsigned long lowest() noexcept { return 0; }
  static KILN_STANDARD_FUNCTION constexpr unsigned long max() noexcept { return ULONG_MAX; }
};
template <>
struct numeric_limits<long long> : kiln_integer_limits<long long, 63> {
  static KILN_STANDARD_FUNCTION constexpr long long min() noexcept { return LLONG_MIN; }
  static KILN_STANDARD_FUNCTION constexpr long long lowest() noexcept { return LLONG_MIN; }
  static KILN_STANDARD_FUNCTION constexpr long long max() noexcept { return LLONG_MAX; }
};
template <>
struct numeric_limits<unsigned long long> : kiln_integer_limits<unsigned long long, 64> {
  static KILN_STANDARD_FUNCTION constexpr unsigned long long min() noexcept { return 0; }
  static KILN_STANDARD_FUNCTION constexpr unsigned long long lowest() noexcept { return 0; }
  static KILN_STANDARD_FUNCTION constexpr unsigned long long max() noexcept { return ULLONG_MAX; }
};
template <>
struct numeric_limits<float> {
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr bool is_iec559 = true;
  static constexpr int radix = 2;
  static constexpr int digits = FLT_MANT_DIG;
  static constexpr int digits10 = FLT_DIG;
  static constexpr int max_digits10 = FLT_DECIMAL_DIG;
  static constexpr int min_exponent = FLT_MIN_EXP;
  static constexpr int max_exponent = FLT_MAX_EXP;
  static constexpr int min_exponent10 = FLT_MIN_10_EXP;
  static constexpr int max_exponent10 = FLT_MAX_10_EXP;
  static constexpr float_round_style round_style = round_to_nearest;
  static KILN_STANDARD_FUNCTION constexpr float min() noexcept { return FLT_MIN; }
  static KILN_STANDARD_FUNCTION constexpr float lowest() noexcept { return -FLT_MAX; }
  static KILN_STANDARD_FUNCTION constexpr float max() noexcept { return FLT_MAX; }
  static KILN_STANDARD_FUNCTION constexpr float epsilon() noexcept { return FLT_EPSILON; }
  static KILN_STANDARD_FUNCTION constexpr float round_error() noexcept { return 0.5; }
  static KILN_STANDARD_FUNCTION constexpr float denorm_min() noexcept { return FLT_TRUE_MIN; }
  static KILN_STANDARD_FUNCTION constexpr float infinity() noexcept {
    return __builtin_bit_cast(float, 0x7f800000U);
  }
  static KILN_STANDARD_FUNCTION constexpr float quiet_NaN() noexcept {
    return __builtin_bit_cast(float, 0x7fc00000U);
  }
  static KILN_STANDARD_FUNCTION constexpr float signaling_NaN() noexcept {
    return __builtin_bit_cast(float, 0x7fa00000U);
  }
};
template <>
struct numeric_limits<double> {
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr bool is_iec559 = true;
  static constexpr int radix = 2;
  static constexpr int digits = DBL_MANT_DIG;
  static constexpr int digits10 = DBL_DIG;
  static constexpr int max_digits10 = DBL_DECIMAL_DIG;
  static constexpr int min_exponent = DBL_MIN_EXP;
  static constexpr int max_exponent = DBL_MAX_EXP;
  static constexpr int min_exponent10 = DBL_MIN_10_EXP;
  static constexpr int max_exponent10 = DBL_MAX_10_EXP;
  static constexpr float_round_style round_style = round_to_nearest;
  static KILN_STANDARD_FUNCTION constexpr double min() noexcept { return DBL_MIN; }
  static KILN_STANDARD_FUNCTION constexpr double lowest() noexcept { return -DBL_MAX; }
  static KILN_STANDARD_FUNCTION constexpr double max() noexcept { return DBL_MAX; }
  static KILN_STANDARD_FUNCTION constexpr double epsilon() noexcept { return DBL_EPSILON; }
  static KILN_STANDARD_FUNCTION constexpr double round_error() noexcept { return 0.5; }
  static KILN_STANDARD_FUNCTION constexpr double denorm_min() noexcept { return DBL_TRUE_MIN; }
  static KILN_STANDARD_FUNCTION constexpr double infinity() noexcept {
    return __builtin_bit_cast(double, 0x7ff0000000000000ULL);
  }
  static KILN_STANDARD_FUNCTION constexpr double quiet_NaN() noexcept {
    return __builtin_bit_cast(double, 0x7ff8000000000000ULL);
  }
  static KILN_STANDARD_FUNCTION constexpr double signaling_NaN() noexcept {
    return __builtin_bit_cast(double, 0x7ff4000000000000ULL);
  }
};

}  // namespace std

#endif
