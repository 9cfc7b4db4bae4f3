// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// \file
/// The swizzled layouts of shared memory that bulk tensor copies write and wgmma reads: within each
/// 128 bytes, 16-byte chunks change places, by the number of the 128 bytes they are in. Swizzle128:
///
///     address / 128 % 8        chunks as they lie in memory
///            0                 0 1 2 3 4 5 6 7
///            1                 1 0 3 2 5 4 7 6
///            2                 2 3 0 1 6 7 4 5
///           ...                      ...
///            7                 7 6 5 4 3 2 1 0
///
/// It is a function of the shared-memory address alone, whoever accesses it, so that a tile that
/// starts anywhere in the pattern still agrees.

namespace kiln::emulated {

/// In the order of CUtensorMapSwizzle. Its modes with larger atoms need a GPU after Hopper.
enum class Swizzle : std::uint8_t { none, bytes32, bytes64, bytes128 };

/// The width in which chunks change places; also the longest row of a box. 0 for none.
[[nodiscard]] constexpr std::uint32_t swizzle_span(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 0U : 16U << static_cast<unsigned>(swizzle);
}

/// Bytes after which the pattern repeats: 256, 512, 1024. A tile that starts at a multiple of this
/// looks the same everywhere. 16 for none.
[[nodiscard]] constexpr std::uint32_t swizzle_period(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 16U : 8U * swizzle_span(swizzle);
}

/// Where the byte at `address` of the plain layout lies: address bits 4.. are XORed with bits 7..,
/// three of them for bytes128, two for bytes64, one for bytes32. Its own inverse. `base` is the
/// number, modulo 8, of the 128 bytes from which the pattern counts (see MatrixDescriptor).
[[nodiscard]] constexpr std::uint32_t swizzled(Swizzle swizzle, std::uint32_t address,
                                               std::uint32_t base = 0) {
  const std::uint32_t mask = (1U << static_cast<unsigned>(swizzle)) - 1U;
  return address ^ ((((address >> 7U) - base) & mask) << 4U);
}

}  // namespace kiln::emulated
