// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// \file
/// Byte permutations of prmt, on one element.

namespace kiln::emulated::data {

/// Each of the lower four nibbles of the selector names a byte of [b, a]; with bit 3 set, the sign
/// of that byte fills the result's.
struct Permute {
  static std::uint32_t of(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
    const std::uint64_t both = (std::uint64_t{b} << 32U) | a;
    std::uint32_t result = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const std::uint32_t nibble = selector >> (4 * k);
      const auto byte = static_cast<std::uint32_t>(both >> (8 * (nibble & 7U))) & 0xFFU;
      const std::uint32_t sign = (byte >> 7U) * 0xFFU;
      result |= ((nibble & 8U) != 0 ? sign : byte) << (8 * k);
    }
    return result;
  }
};

/// The selectors that a mode stands for, by the lower two bits of the third operand.
struct PermuteMode {
  const char* name;
  std::uint32_t selectors[4];
};
inline constexpr PermuteMode kPermuteModes[] = {
    {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}},   // four bytes forward from there
    {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},   // and backward
    {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}},   // one byte everywhere
    {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},   // clamped to the byte from below
    {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}},   // and from above
    {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}},  // one half everywhere
};

}  // namespace kiln::emulated::data
