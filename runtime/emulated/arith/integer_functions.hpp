// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

/// \file
/// Integer arithmetic of PTX ISA 9.0, sections 9.7.1 and 9.7.2, on one element. All wrap around
/// unless they say otherwise, and all are defined for all operands.

namespace kiln::emulated::integer {

/// Unsigned and not promoted to int, so that nothing overflows.
template <class T>
using Wide = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

/// A type of twice as many bits, of the same signedness.
template <class T>
struct Twice;
template <>
struct Twice<std::uint16_t> {
  using type = std::uint32_t;
};
template <>
struct Twice<std::int16_t> {
  using type = std::int32_t;
};
template <>
struct Twice<std::uint32_t> {
  using type = std::uint64_t;
};
template <>
struct Twice<std::int32_t> {
  using type = std::int64_t;
};

struct Add {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
  }
};
struct Sub {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wide<T>>(a) - static_cast<Wide<T>>(b));
  }
};
struct Neg {
  template <class T>
  static T of(T a) {
    return static_cast<T>(Wide<T>{0} - static_cast<Wide<T>>(a));
  }
};
struct Abs {
  template <class T>
  static T of(T a) {
    return a < 0 ? Neg::of(a) : a;
  }
};

/// What a sum that left the range of s32 saturates to: the limit with the sign of `a`.
inline std::uint32_t limit_beside(std::uint32_t a) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(a) >> 31) ^ 0x7FFFFFFFU;
}
struct AddSaturated {
  static std::uint32_t of(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t sum = a + b;
    const bool left = static_cast<std::int32_t>(~(a ^ b) & (a ^ sum)) < 0;
    return left ? limit_beside(a) : sum;
  }
};
struct SubSaturated {
  static std::uint32_t of(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t difference = a - b;
    const bool left = static_cast<std::int32_t>((a ^ b) & (a ^ difference)) < 0;
    return left ? limit_beside(a) : difference;
  }
};

struct MulLo {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
  }
};
struct MulWide {
  template <class T>
  static typename Twice<T>::type of(T a, T b) {
    using D = typename Twice<T>::type;
    return MulLo::of(static_cast<D>(a), static_cast<D>(b));
  }
};
/// The upper half of the product.
struct MulHi {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_same_v<T, std::int16_t>) {
      // In int and nothing wider: from 64 bits GCC 12 at -O3 makes the unsigned product of it.
      return static_cast<T>((int{a} * int{b}) >> 16);
    } else if constexpr (sizeof(T) < 8) {
      return static_cast<T>(MulWide::of(a, b) >> (8 * sizeof(T)));
    } else if constexpr (std::is_signed_v<T>) {
      // As unsigned, a negative operand counts 2^64 too much: the other one, in the upper half.
      const auto x = static_cast<std::uint64_t>(a);
      const auto y = static_cast<std::uint64_t>(b);
      return static_cast<T>(of(x, y) - (a < 0 ? y : 0) - (b < 0 ? x : 0));
    } else {
      const std::uint64_t low_a = a & 0xFFFFFFFFU;
      const std::uint64_t low_b = b & 0xFFFFFFFFU;
      const std::uint64_t high_a = a >> 32U;
      const std::uint64_t high_b = b >> 32U;
      const std::uint64_t cross = high_a * low_b + ((low_a * low_b) >> 32U);
      const std::uint64_t other = low_a * high_b + (cross & 0xFFFFFFFFU);
      return high_a * high_b + (cross >> 32U) + (other >> 32U);
    }
  }
};

/// a * b + c, for any of the products.
template <class Product>
struct Mad {
  template <class T, class D>
  static D of(T a, T b, D c) {
    return Add::of(static_cast<D>(Product::of(a, b)), c);
  }
};
template <class Product>
struct MadSaturated {
  static std::int32_t of(std::int32_t a, std::int32_t b, std::int32_t c) {
    return static_cast<std::int32_t>(AddSaturated::of(static_cast<std::uint32_t>(Product::of(a, b)),
                                                      static_cast<std::uint32_t>(c)));
  }
};

/// The lower 24 bits of an operand, as its type extends them.
template <class T>
inline T low24(T value) {
  return static_cast<T>(static_cast<std::uint32_t>(value) << 8U) >> 8;
}
struct Mul24Lo {
  template <class T>
  static T of(T a, T b) {
    return MulLo::of(low24(a), low24(b));
  }
};
struct Mul24Hi {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(MulWide::of(low24(a), low24(b)) >> 16);
  }
};

/// Division by zero gives all ones, and the only quotient out of range wraps around.
struct Div {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return Neg::of(a);
    }
    return static_cast<T>(a / b);
  }
};
/// By zero PTX leaves it open; the GPU gives all ones, as for the quotient.
struct Rem {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
};

struct Min {
  template <class T>
  static T of(T a, T b) {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    return a > b ? a : b;
  }
};
/// .relu: negative results become zero.
template <class F>
struct NotNegative {
  template <class T>
  static T of(T a, T b) {
    return Max::of(F::of(a, b), T{0});
  }
};

/// c + |a - b|
struct Sad {
  template <class T>
  static T of(T a, T b, T c) {
    return Add::of(c, a < b ? Sub::of(b, a) : Sub::of(a, b));
  }
};

/// Element `i` of a register, extended as its type says.
template <class T>
inline std::int32_t part(std::uint32_t word, unsigned i) {
  return static_cast<T>(word >> (i * 8U * static_cast<unsigned>(sizeof(T))));
}
/// c plus the products of four bytes; A and B are std::uint8_t or std::int8_t.
template <class A, class B>
struct Dp4a {
  static std::uint32_t of(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (unsigned i = 0; i < 4; ++i) {
      c += static_cast<std::uint32_t>(part<A>(a, i) * part<B>(b, i));
    }
    return c;
  }
};
/// c plus the products of the two 16-bit parts of a with two bytes of b: the lower or upper ones.
template <class A, class B, bool kUpper>
struct Dp2a {
  static std::uint32_t of(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (unsigned i = 0; i < 2; ++i) {
      c += static_cast<std::uint32_t>(part<A>(a, i) * part<B>(b, i + (kUpper ? 2U : 0U)));
    }
    return c;
  }
};

}  // namespace kiln::emulated::integer
