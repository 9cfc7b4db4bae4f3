// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/gemm/host_matrix.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "common/verify_math.cuh"

namespace kiln::tools {
namespace {

ElementKind kind_of(DType type) {
  return static_cast<ElementKind>(type);
}

template <class T>
T get(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

/// The bytes of one element as a number. A switch, because copies of a fixed size are free.
unsigned long long load_bits(DType type, const std::byte* from) {
  switch (size_bytes(type)) {
    case 1:
      return get<std::uint8_t>(from);
    case 2:
      return get<std::uint16_t>(from);
    case 4:
      return get<std::uint32_t>(from);
    default:
      return get<std::uint64_t>(from);
  }
}

/// All values of a type of at most 16 bits: checking a product reads each element thousands of
/// times.
std::vector<double> all_values(DType type) {
  std::vector<double> values(std::size_t{1} << 8 * size_bytes(type));
  for (std::size_t bits = 0; bits < values.size(); ++bits) {
    values[bits] = decode(bits, kind_of(type));
  }
  return values;
}

}  // namespace

void store_exact(DType type, double value, std::byte* to) {
  // The low bytes come first on every machine that CUDA runs on.
  const unsigned long long bits = encode(value, kind_of(type));
  std::memcpy(to, &bits, static_cast<std::size_t>(size_bytes(type)));
}

double load_element(DType type, const std::byte* from) {
  if (type == DType::f32) return static_cast<double>(get<float>(from));
  static const std::array<std::vector<double>, kDTypeNames.size()> kNarrow = [] {
    std::array<std::vector<double>, kDTypeNames.size()> tables;
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const auto each = static_cast<DType>(i);
      if (!is_product_type(each)) continue;
      if (size_bytes(each) <= 2 && packed_values(each) == 1) tables[i] = all_values(each);
    }
    return tables;
  }();
  const unsigned long long bits = load_bits(type, from);
  const auto& values = kNarrow[static_cast<std::size_t>(type)];
  return values.empty() ? decode(bits, kind_of(type)) : values[bits];
}

double random_element(DType type, std::mt19937_64& random) {
  const auto draw = [&](int span, int lowest) {
    return static_cast<double>(static_cast<int>(random() % static_cast<unsigned>(span)) + lowest);
  };
  switch (type) {
    case DType::u8:
    case DType::u4:
      return draw(8, 0);
    case DType::b1:
    case DType::b1_xor:
      return draw(2, 0);
    case DType::s8:
    case DType::s32:
    case DType::s4:
      return draw(15, -7);
    case DType::e5m2:
      return draw(15, -7) / 4.0;
    case DType::e4m3:
      return draw(31, -15) / 8.0;
    default:
      return draw(255, -127) / 64.0;
  }
}

HostMatrix::HostMatrix(DType type, std::int64_t rows, std::int64_t columns, Storage storage,
                       std::int64_t ld)
    : type_(type),
      stored_rows_(storage == Storage::n ? rows : columns),
      ld_(ld),
      storage_(storage),
      bytes_(static_cast<std::size_t>(stored_rows_ * ld / packed_values(type) * size_bytes(type))) {
}

void HostMatrix::fill_random(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto element = static_cast<std::size_t>(size_bytes(type_));
  // Any byte is packed values. Encoding is slow and matrices are large: one random byte picks from
  // elements made once.
  constexpr std::size_t kChoices = 256;
  std::vector<std::byte> choices(kChoices * element);
  for (std::size_t i = 0; i < kChoices; ++i) {
    if (packed_values(type_) > 1) {
      choices[i] = static_cast<std::byte>(random() % kChoices);
    } else {
      store_exact(type_, random_element(type_, random), choices.data() + i * element);
    }
  }
  std::uint64_t bits = 0;
  int bytes_left = 0;
  for (std::size_t at = 0; at < bytes_.size(); at += element) {
    if (bytes_left == 0) {
      bits = random();
      bytes_left = sizeof(bits);
    }
    std::memcpy(bytes_.data() + at, choices.data() + bits % kChoices * element, element);
    bits /= kChoices;
    --bytes_left;
  }
}

void HostMatrix::poison() {
  std::fill(bytes_.begin(), bytes_.end(), std::byte{0xff});
}

const std::byte* HostMatrix::element(std::int64_t row, std::int64_t column) const {
  if (storage_ == Storage::t) std::swap(row, column);
  return bytes_.data() + (row * ld_ + column) / packed_values(type_) * size_bytes(type_);
}

double HostMatrix::at(std::int64_t row, std::int64_t column) const {
  if (const int packed = packed_values(type_); packed > 1) {
    const std::int64_t along = storage_ == Storage::t ? row : column;
    const auto place = static_cast<int>(along % packed);
    const auto bits = std::to_integer<unsigned>(*element(row, column));
    return decode(bits >> (place * 8 / packed), kind_of(type_));
  }
  return load_element(type_, element(row, column));
}

unsigned long long HostMatrix::bits_at(std::int64_t row, std::int64_t column) const {
  return load_bits(type_, element(row, column));
}

}  // namespace kiln::tools
