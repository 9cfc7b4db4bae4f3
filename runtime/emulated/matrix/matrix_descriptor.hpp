// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/emulated/memory/swizzle.hpp"

/// \file
/// The 64-bit descriptor with which wgmma finds a matrix in shared memory (PTX ISA, "Asynchronous
/// Warpgroup Level Matrix Shared Memory Layout"). The unit is the core matrix: 8 rows of 16 bytes.
///
///   bits  0-13  start address / 16            49-51  base offset: (start of pattern / 128) % 8,
///        16-29  leading byte offset / 16             0 where that is a multiple of the period
///        32-45  stride byte offset / 16       62-63  0 none, 1 128 B, 2 64 B, 3 32 B swizzle

namespace kiln::emulated {

struct MatrixDescriptor {
  std::uint32_t start = 0;  ///< shared-memory address in bytes, as are the two offsets
  std::uint32_t leading = 0;
  std::uint32_t stride = 0;
  std::uint32_t base = 0;  ///< 0 to 7
  Swizzle swizzle = Swizzle::none;

  [[nodiscard]] bool operator==(const MatrixDescriptor&) const = default;
};

/// The descriptor's swizzle field counts down from the widest, unlike CUtensorMapSwizzle.
[[nodiscard]] constexpr MatrixDescriptor decode_descriptor(std::uint64_t bits) {
  const auto bytes = [bits](unsigned at) {
    return static_cast<std::uint32_t>((bits >> at) & 0x3FFFU) << 4U;
  };
  const auto mode = static_cast<std::uint8_t>(bits >> 62U);
  return {bytes(0), bytes(16), bytes(32), static_cast<std::uint32_t>(bits >> 49U) & 7U,
          mode == 0 ? Swizzle::none : static_cast<Swizzle>(4 - mode)};
}

/// What of the 64 bits means nothing: 14-15, 30-31, 46-48, 52-61. Not zero: no wgmma descriptor.
inline constexpr std::uint64_t kDescriptorReserved =
    0xC000ULL | 0xC0000000ULL | (7ULL << 46U) | (0x3FFULL << 52U);

[[nodiscard]] constexpr std::uint64_t encode_descriptor(const MatrixDescriptor& descriptor) {
  const auto field = [](std::uint32_t bytes) {
    return static_cast<std::uint64_t>((bytes & 0x3FFFFU) >> 4U);
  };
  const auto mode = static_cast<unsigned>(descriptor.swizzle);
  return field(descriptor.start) | (field(descriptor.leading) << 16U) |
         (field(descriptor.stride) << 32U) | (static_cast<std::uint64_t>(descriptor.base) << 49U) |
         (static_cast<std::uint64_t>(mode == 0 ? 0U : 4U - mode) << 62U);
}

/// The shared-memory byte address of an element. `major` counts along the dimension whose elements
/// are neighbours in memory (K, or M or N for the transposed operands that 16-bit types may have),
/// `minor` along the other one. Elements of one 16-byte chunk (major / (16 / element_bytes) equal)
/// are neighbours, so that one call per chunk will do. With rows of W = span / 16 chunks (1 without
/// swizzle):
///
///             chunk j along major        row i along minor
///   K major   none: j * leading          (i % 8) * 16 W + (i / 8) * stride
///             else: j * 16               the same
///   MN major  none: j * stride           (i % 8) * 16 + (i / 8) * leading
///             else: (j % W) * 16         (i % 8) * 16 W + (i / 8) * stride
///                   + (j / W) * leading
///
/// Then the chunks change places. Addresses wrap at 256 KiB, the reach of the start address.
template <int kElementBytes>
[[nodiscard]] constexpr std::uint32_t element_address(const MatrixDescriptor& descriptor,
                                                      bool k_major, int major, int minor) {
  constexpr int kPerChunk = 16 / kElementBytes;
  const auto chunk = static_cast<std::uint32_t>(major / kPerChunk);
  const auto inside = static_cast<std::uint32_t>(major % kPerChunk * kElementBytes);
  const auto row = static_cast<std::uint32_t>(minor);
  const bool plain = descriptor.swizzle == Swizzle::none;
  const std::uint32_t width = plain ? 1U : swizzle_span(descriptor.swizzle) / 16U;
  std::uint32_t along = 0;
  std::uint32_t down = descriptor.stride;
  if (k_major) {
    along = chunk * (plain ? descriptor.leading : 16U);
  } else if (plain) {
    along = chunk * descriptor.stride;
    down = descriptor.leading;
  } else {
    along = chunk % width * 16U + chunk / width * descriptor.leading;
  }
  const std::uint32_t offset = along + row % 8U * 16U * width + row / 8U * down;
  const std::uint32_t address = (descriptor.start + offset) & 0x3FFFFU;
  return swizzled(descriptor.swizzle, address, plain ? 0U : descriptor.base) + inside;
}

}  // namespace kiln::emulated
