// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

/// \file
/// Bit fields, counts, shifts and logic of PTX ISA 9.0, sections 9.7.1 and 9.7.8, on one element.

namespace kiln::emulated::integer {

template <class T>
inline constexpr unsigned kBits = 8U * static_cast<unsigned>(sizeof(T));

// ---- counts ----

/// By adding neighbouring fields, which vectorises; baseline x86-64 has no instruction for it.
struct Popc {
  static std::uint32_t of(std::uint32_t a) {
    a -= (a >> 1U) & 0x55555555U;
    a = (a & 0x33333333U) + ((a >> 2U) & 0x33333333U);
    a = (a + (a >> 4U)) & 0x0F0F0F0FU;
    return (a * 0x01010101U) >> 24U;
  }
  static std::uint32_t of(std::uint64_t a) {
    return of(static_cast<std::uint32_t>(a)) + of(static_cast<std::uint32_t>(a >> 32U));
  }
};
struct Clz {
  template <class T>
  static std::uint32_t of(T a) {
    return static_cast<std::uint32_t>(std::countl_zero(a));
  }
};
/// Place of the highest bit that differs from the sign; all ones if there is none.
struct Bfind {
  template <class T>
  static std::uint32_t of(T a) {
    auto bits = static_cast<std::make_unsigned_t<T>>(a);
    if constexpr (std::is_signed_v<T>) bits = a < 0 ? ~bits : bits;
    return kBits<T> - 1U - Clz::of(bits);
  }
};
/// .shiftamt: by how much to shift left to bring that bit to the top.
struct BfindShift {
  template <class T>
  static std::uint32_t of(T a) {
    const std::uint32_t place = Bfind::of(a);
    return place == ~0U ? place : kBits<T> - 1U - place;
  }
};
/// The place of the |offset|-th set bit of `mask`, counted from `base` on, downwards if offset is
/// negative; 0 asks for bit `base` itself. All ones if there is none.
struct Fns {
  static std::uint32_t of(std::uint32_t mask, std::uint32_t base, std::uint32_t offset) {
    const auto signed_offset = static_cast<std::int32_t>(offset);
    if (base > 31U) return ~0U;
    const std::uint32_t wanted = signed_offset < 0 ? 0U - offset : offset;
    std::uint32_t seen = 0;
    for (auto at = static_cast<int>(base); at >= 0 && at < 32; at += signed_offset < 0 ? -1 : 1) {
      const bool set = ((mask >> static_cast<unsigned>(at)) & 1U) != 0;
      if (offset == 0) return set ? base : ~0U;
      if (set && ++seen == wanted) return static_cast<std::uint32_t>(at);
    }
    return ~0U;
  }
};

// ---- bit fields ----

struct Brev {
  static std::uint32_t of(std::uint32_t a) {
    a = ((a >> 1U) & 0x55555555U) | ((a & 0x55555555U) << 1U);
    a = ((a >> 2U) & 0x33333333U) | ((a & 0x33333333U) << 2U);
    a = ((a >> 4U) & 0x0F0F0F0FU) | ((a & 0x0F0F0F0FU) << 4U);
    a = ((a >> 8U) & 0x00FF00FFU) | ((a & 0x00FF00FFU) << 8U);
    return (a >> 16U) | (a << 16U);
  }
  static std::uint64_t of(std::uint64_t a) {
    return (std::uint64_t{of(static_cast<std::uint32_t>(a))} << 32U) |
           of(static_cast<std::uint32_t>(a >> 32U));
  }
};
/// Field of `length` bits from `start` on, both of 8 bits. Beyond the top bit, and above the field
/// if T is signed, stand copies of the field's highest bit that exists.
struct Bfe {
  template <class T>
  static T of(T a, std::uint32_t start, std::uint32_t length) {
    using U = std::make_unsigned_t<T>;
    start &= 0xFFU;
    length &= 0xFFU;
    if (length == 0) return 0;
    const U fill = std::is_signed_v<T> && a < 0 ? ~U{0} : U{0};
    if (start >= kBits<T>) return static_cast<T>(fill);
    // Arithmetic for signed types, so that bits past the top are copies of it.
    const T field = static_cast<T>(a >> start);
    if (length >= kBits<T>) return field;
    const unsigned above = kBits<T> - length;
    return static_cast<T>(static_cast<T>(static_cast<U>(field) << above) >> above);
  }
};
/// b with the lower `length` bits of a at `start`.
struct Bfi {
  template <class T>
  static T of(T a, T b, std::uint32_t start, std::uint32_t length) {
    start &= 0xFFU;
    length &= 0xFFU;
    if (start >= kBits<T>) return b;
    const T ones = length >= kBits<T> ? ~T{0} : (T{1} << length) - 1U;
    const T mask = ones << start;
    return (b & ~mask) | ((a << start) & mask);
  }
};
/// `width` ones from `start` on. .wrap takes both modulo 32.
template <bool kWrap>
struct Bmsk {
  static std::uint32_t of(std::uint32_t start, std::uint32_t width) {
    if (kWrap) {
      start &= 31U;
      width &= 31U;
    }
    if (start >= 32U) return 0;
    const std::uint32_t ones = width >= 32U ? ~0U : (1U << width) - 1U;
    return ones << start;
  }
};
/// The lower `width` bits, extended as T is signed or not.
template <bool kWrap>
struct Szext {
  template <class T>
  static T of(T a, std::uint32_t width) {
    if (width >= 32U && !kWrap) return a;
    width &= 31U;
    if (width == 0) return 0;
    const unsigned above = 32U - width;
    return static_cast<T>(static_cast<std::uint32_t>(a) << above) >> above;
  }
};

// ---- shifts ----

/// Amounts beyond the width shift everything out.
struct Shl {
  template <class T>
  static T of(T a, std::uint32_t amount) {
    return amount >= kBits<T> ? T{0} : static_cast<T>(a << amount);
  }
};
struct Shr {
  template <class T>
  static T of(T a, std::uint32_t amount) {
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(a >> std::min(amount, kBits<T> - 1U));
    } else {
      return amount >= kBits<T> ? T{0} : static_cast<T>(a >> amount);
    }
  }
};
/// Upper half of [b, a] shifted left, or lower half of it shifted right.
template <bool kLeft, bool kWrap>
struct Shf {
  static std::uint32_t of(std::uint32_t a, std::uint32_t b, std::uint32_t amount) {
    const std::uint32_t by = kWrap ? amount & 31U : std::min(amount, 32U);
    const std::uint64_t both = (std::uint64_t{b} << 32U) | a;
    return static_cast<std::uint32_t>(kLeft ? (both << by) >> 32U : both >> by);
  }
};

// ---- logic ----

struct And {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  static T of(T a) {
    return static_cast<T>(~a);
  }
};
/// 1 for zero, else 0.
struct Cnot {
  template <class T>
  static T of(T a) {
    return static_cast<T>(a == 0 ? 1 : 0);
  }
};

/// Any function of three bits, as a tree of choices: bit 4a + 2b + c of the table.
class LookUp3 {
 public:
  explicit LookUp3(std::uint8_t table) {
    for (unsigned i = 0; i < 4; ++i) {
      const std::uint32_t if_clear = 0U - ((table >> (2U * i)) & 1U);
      const std::uint32_t if_set = 0U - ((table >> (2U * i + 1U)) & 1U);
      base_[i] = if_clear;
      change_[i] = if_clear ^ if_set;
    }
  }
  [[nodiscard]] std::uint32_t of(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    const std::uint32_t b0 = base_[0] ^ (c & change_[0]);
    const std::uint32_t b1 = base_[1] ^ (c & change_[1]);
    const std::uint32_t b2 = base_[2] ^ (c & change_[2]);
    const std::uint32_t b3 = base_[3] ^ (c & change_[3]);
    const std::uint32_t a0 = b0 ^ (b & (b0 ^ b1));
    const std::uint32_t a1 = b2 ^ (b & (b2 ^ b3));
    return a0 ^ (a & (a0 ^ a1));
  }

 private:
  std::uint32_t base_[4];    ///< the result where c is 0
  std::uint32_t change_[4];  ///< whether c changes it
};

}  // namespace kiln::emulated::integer
