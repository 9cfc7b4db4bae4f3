// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/matrix/matrix_descriptor.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace kiln::emulated {
namespace {

constexpr Swizzle kModes[] = {Swizzle::none, Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128};

/// A mode of the canonical layouts: index i splits into shape {a, b, rest} with these strides.
struct Mode {
  int a, b;
  int stride_a, stride_b, stride_rest;
  [[nodiscard]] int at(int i) const {
    return i % a * stride_a + i / a % b * stride_b + i / (a * b) * stride_rest;
  }
};

/// Swizzle<bits, 4, 3> of the ISA's table, on byte addresses.
std::uint32_t canonical_swizzle(int bits, std::uint32_t address) {
  const std::uint32_t mask = ((1U << static_cast<unsigned>(bits)) - 1U) << 7U;
  return address ^ ((address & mask) >> 3U);
}

TEST(MatrixDescriptor, FieldsComeBack) {
  const MatrixDescriptor descriptor{0x2F3F0, 16, 1024, 5, Swizzle::bytes128};
  const std::uint64_t bits = encode_descriptor(descriptor);
  EXPECT_EQ(decode_descriptor(bits), descriptor);
  EXPECT_EQ(bits & kDescriptorReserved, 0U);
  // The bits that hand-written kernels put together: 128B is mode 1, 64B 2, 32B 3.
  EXPECT_EQ(encode_descriptor({0x400, 16, 1024, 0, Swizzle::bytes128}),
            0x40ULL | 1ULL << 16U | 64ULL << 32U | 1ULL << 62U);
  EXPECT_EQ(encode_descriptor({0, 0, 0, 0, Swizzle::bytes64}) >> 62U, 2U);
  EXPECT_EQ(encode_descriptor({0, 0, 0, 0, Swizzle::bytes32}) >> 62U, 3U);
  for (const Swizzle mode : kModes) {
    EXPECT_EQ(decode_descriptor(encode_descriptor({0, 0, 0, 7, mode})).swizzle, mode);
  }
  EXPECT_EQ(decode_descriptor(~0ULL).start, 0x3FFF0U);
}

/// The table "Canonical Layouts" of the ISA, for elements of `kBytes`, against element_address.
template <int kBytes>
void expect_canonical(Swizzle swizzle, bool k_major) {
  const int t = 16 / kBytes;
  const int w = swizzle == Swizzle::none ? 1 : static_cast<int>(swizzle_span(swizzle)) / 16;
  const MatrixDescriptor descriptor{0x2000, 16384, 1024, 0, swizzle};
  const int lbo = 16384 / kBytes;
  const int sbo = 1024 / kBytes;
  // In elements: `major` is the K mode of K-major layouts and the M or N mode of the others.
  Mode major{};
  Mode minor{};
  if (k_major) {
    // ((8,m),(T,2k)) : ((W T, SBO), (1, T)), or LBO for T without swizzle
    major = {t, 2, 1, swizzle == Swizzle::none ? lbo : t, 0};
    minor = {8, 1 << 20, w * t, sbo, 0};
  } else if (swizzle == Swizzle::none) {
    // ((T,1,m),(8,k)) : ((1,T,SBO),(1T,LBO))
    major = {t, 1, 1, t, sbo};
    minor = {8, 1 << 20, t, lbo, 0};
  } else {
    // ((T,W,m),(8,k)) : ((1,T,LBO),(W T,SBO))
    major = {t, w, 1, t, lbo};
    minor = {8, 1 << 20, w * t, sbo, 0};
  }
  const int majors = k_major ? 2 * t : 64;
  const int minors = k_major ? 64 : 16;
  std::set<std::uint32_t> seen;
  for (int i = 0; i < majors; ++i) {
    for (int j = 0; j < minors; ++j) {
      const auto offset = static_cast<std::uint32_t>((major.at(i) + minor.at(j)) * kBytes);
      const std::uint32_t expected =
          canonical_swizzle(static_cast<int>(swizzle), 0x2000U + offset) & 0x3FFFFU;
      const std::uint32_t address = element_address<kBytes>(descriptor, k_major, i, j);
      ASSERT_EQ(address, expected & 0x3FFFFU)
          << "mode " << static_cast<int>(swizzle) << " K " << k_major << " " << i << " " << j;
      seen.insert(address);
    }
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(majors * minors));
}

TEST(MatrixDescriptor, AddressesAreTheCanonicalLayouts) {
  for (const Swizzle mode : kModes) {
    expect_canonical<1>(mode, true);
    expect_canonical<2>(mode, true);
    expect_canonical<4>(mode, true);
    expect_canonical<2>(mode, false);
    expect_canonical<4>(mode, false);
  }
}

// Worked examples of the ISA, with their descriptors' offsets.
TEST(MatrixDescriptor, ExamplesOfTheIsa) {
  // K-major, no swizzle, tf32: ((8,2),(4,4)):((4,32),(1,64))
  const MatrixDescriptor k_none = decode_descriptor(16ULL << 16U | 8ULL << 32U);
  EXPECT_EQ(element_address<4>(k_none, true, 3, 7), 4U * (7 * 4 + 3));
  EXPECT_EQ(element_address<4>(k_none, true, 5, 9), 4U * (1 * 4 + 32 + 64 + 1));
  // K-major, 32B swizzle, tf32: Swizzle<1,4,3> o ((8,2),(4,4)):((8,64),(1,4))
  const MatrixDescriptor k_32 = decode_descriptor(1ULL << 16U | 16ULL << 32U | 3ULL << 62U);
  EXPECT_EQ(element_address<4>(k_32, true, 5, 3), 4U * (3 * 8 + 4 + 1));
  EXPECT_EQ(element_address<4>(k_32, true, 5, 4), 4U * (4 * 8 + 1));  // 128 bytes on: swapped
  EXPECT_EQ(element_address<4>(k_32, true, 0, 12), 4U * (64 + 4 * 8 + 4));
  // MN-major, no swizzle, bf16: ((8,1,2),(8,2)):((1,8,64),(8,128))
  const MatrixDescriptor mn_none = decode_descriptor(16ULL << 16U | 8ULL << 32U);
  EXPECT_EQ(element_address<2>(mn_none, false, 9, 10), 2U * (1 + 64 + 2 * 8 + 128));
  // MN-major, 64B swizzle, bf16: Swizzle<2,4,3> o ((8,4,2),(8,2)):((1,8,256),(32,512))
  const MatrixDescriptor mn_64 = decode_descriptor(32ULL << 16U | 64ULL << 32U | 2ULL << 62U);
  EXPECT_EQ(element_address<2>(mn_64, false, 33, 9), 2U * (1 + 256 + 32 + 512));
  EXPECT_EQ(element_address<2>(mn_64, false, 33, 11), 2U * (1 + 256 + 3 * 32 + 512) + 16U);
}

// The step along K that kernels take inside a swizzled row: 32 bytes on the start address.
TEST(MatrixDescriptor, StartAddressesMayLieInsideTheSwizzledRow) {
  const MatrixDescriptor whole{0x800, 16, 1024, 0, Swizzle::bytes128};
  for (int step = 0; step < 4; ++step) {
    MatrixDescriptor moved = whole;
    moved.start += static_cast<std::uint32_t>(step) * 32U;
    for (int row = 0; row < 64; ++row) {
      for (int k = 0; k < 16; ++k) {
        const auto plain = 0x800U + static_cast<std::uint32_t>(row * 128 + (step * 16 + k) * 2);
        EXPECT_EQ(element_address<2>(moved, true, k, row), swizzled(Swizzle::bytes128, plain));
      }
    }
  }
}

TEST(MatrixDescriptor, ABaseOffsetMovesThePattern) {
  const MatrixDescriptor aligned{0x400, 16, 1024, 0, Swizzle::bytes128};
  const MatrixDescriptor shifted{0x400 + 3 * 128, 16, 1024, 3, Swizzle::bytes128};
  for (int row = 0; row < 16; ++row) {
    EXPECT_EQ(element_address<2>(shifted, true, 8, row),
              element_address<2>(aligned, true, 8, row) + 3 * 128);
  }
}

}  // namespace
}  // namespace kiln::emulated
