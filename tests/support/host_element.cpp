// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/host_element.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "common/verify_math.cuh"

namespace kiln::testing {
namespace {

/// Ties away from zero, as the tf32 conversion of the hardware does.
double round_tf32(double value) {
  if (!std::isfinite(value)) return value;
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return static_cast<double>(std::bit_cast<float>((bits + 0x1000U) & 0xffffe000U));
}

}  // namespace

std::uint64_t load_bits(const void* data, std::int64_t index, int bytes) {
  // Little-endian, like every machine that CUDA runs on: the low bytes come first.
  std::uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const char*>(data) + index * bytes,
              static_cast<std::size_t>(bytes));
  return bits;
}

void store_bits(void* data, std::int64_t index, int bytes, std::uint64_t bits) {
  std::memcpy(static_cast<char*>(data) + index * bytes, &bits, static_cast<std::size_t>(bytes));
}

double load_element(DType type, const void* data, std::int64_t index) {
  const auto kind = static_cast<ElementKind>(type);
  const double value = decode(load_bits(data, index, size_bytes(type)), kind);
  return type == DType::tf32 ? round_tf32(value) : value;
}

void store_element(DType type, void* data, std::int64_t index, double value) {
  store_bits(data, index, size_bytes(type), encode(value, static_cast<ElementKind>(type)));
}

}  // namespace kiln::testing
