// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/matrix/matrix_elements.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "runtime/emulated/arith/small_floats.hpp"
#include "runtime/emulated/engine/warp.hpp"

namespace kiln::emulated {
namespace {

constexpr std::array<std::pair<std::string_view, MatrixType>, 13> kTypes{{
    {"f16", MatrixType::f16},
    {"bf16", MatrixType::bf16},
    {"tf32", MatrixType::tf32},
    {"f32", MatrixType::f32},
    {"f64", MatrixType::f64},
    {"e4m3", MatrixType::e4m3},
    {"e5m2", MatrixType::e5m2},
    {"s8", MatrixType::s8},
    {"u8", MatrixType::u8},
    {"s4", MatrixType::s4},
    {"u4", MatrixType::u4},
    {"b1", MatrixType::b1},
    {"s32", MatrixType::s32},
}};

/// One element of every lane, from the low bits of `bits`.
void decode_lanes(MatrixType type, const std::uint32_t* bits, float* values) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t from = bits[lane];
    switch (type) {
      case MatrixType::f16:
        values[lane] = f32_of_f16(static_cast<std::uint16_t>(from));
        break;
      case MatrixType::bf16:
        values[lane] = f32_of_bf16(static_cast<std::uint16_t>(from));
        break;
      // The tensor cores read the upper 19 bits of the register.
      case MatrixType::tf32:
        values[lane] = std::bit_cast<float>(from & 0xffffe000U);
        break;
      case MatrixType::e4m3:
        values[lane] = f32_of_e4m3(static_cast<std::uint8_t>(from));
        break;
      case MatrixType::e5m2:
        values[lane] = f32_of_e5m2(static_cast<std::uint8_t>(from));
        break;
      default:
        values[lane] = std::bit_cast<float>(from);
        break;
    }
  }
}

void decode_lanes(MatrixType type, const std::uint32_t* bits, std::int32_t* values) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t from = bits[lane];
    switch (type) {
      case MatrixType::s8:
        values[lane] = static_cast<std::int32_t>(from << 24U) >> 24;
        break;
      case MatrixType::u8:
        values[lane] = static_cast<std::uint8_t>(from);
        break;
      case MatrixType::s4:
        values[lane] = static_cast<std::int32_t>(from << 28U) >> 28;
        break;
      case MatrixType::u4:
        values[lane] = static_cast<std::int32_t>(from & 15U);
        break;
      case MatrixType::b1:
        values[lane] = static_cast<std::int32_t>(from & 1U);
        break;
      default:
        values[lane] = static_cast<std::int32_t>(from);
        break;
    }
  }
}

std::uint32_t encode(MatrixType type, float value) {
  if (type == MatrixType::f16) return f16_of_f32(value);
  if (type == MatrixType::bf16) return bf16_of_f32(value);
  return std::bit_cast<std::uint32_t>(value);
}

std::uint32_t encode(MatrixType, std::int32_t value) {
  return static_cast<std::uint32_t>(value);
}

}  // namespace

std::optional<MatrixType> matrix_type_of(std::string_view name) {
  for (const auto& [text, type] : kTypes) {
    if (text == name) return type;
  }
  return std::nullopt;
}

int bits_of(MatrixType type) {
  switch (type) {
    case MatrixType::f16:
    case MatrixType::bf16:
      return 16;
    case MatrixType::tf32:
    case MatrixType::f32:
    case MatrixType::s32:
      return 32;
    case MatrixType::f64:
      return 64;
    case MatrixType::e4m3:
    case MatrixType::e5m2:
    case MatrixType::s8:
    case MatrixType::u8:
      return 8;
    case MatrixType::s4:
    case MatrixType::u4:
      return 4;
    case MatrixType::b1:
      return 1;
  }
  return 0;
}

bool is_float(MatrixType type) {
  return type <= MatrixType::e5m2 && type != MatrixType::f64;
}

ptx::Type register_type_of(MatrixType type) {
  return type == MatrixType::f64 ? ptx::Type::b64 : ptx::Type::b32;
}

template <class T>
void gather_matrix(Warp& warp, const std::uint32_t* rows, const FragmentLayout& layout,
                   MatrixType type, T* dense) {
  // Repeated elements are the last ones of a lane.
  const int elements = layout.elements() / layout.copies;
  const std::uint16_t* to = layout.offsets.data();
  if constexpr (sizeof(T) == 8) {
    for (int e = 0; e < elements; ++e, to += kLanes) {
      const std::byte* const row = warp.row(rows[e]);
      for (int lane = 0; lane < kLanes; ++lane) dense[to[lane]] = get<T>(row, lane);
    }
  } else {
    const int bits = bits_of(type);
    const auto per_register = layout.elements_per_register;
    alignas(64) std::uint32_t part[kLanes];
    alignas(64) T values[kLanes];
    for (int e = 0; e < elements; ++e, to += kLanes) {
      const std::byte* const row = warp.row(rows[e / per_register]);
      const int shift = e % per_register * bits;
      for (int lane = 0; lane < kLanes; ++lane) part[lane] = get<std::uint32_t>(row, lane) >> shift;
      decode_lanes(type, part, values);
      for (int lane = 0; lane < kLanes; ++lane) dense[to[lane]] = values[lane];
    }
  }
}

template <class T>
void scatter_matrix(Warp& warp, const std::uint32_t* rows, const FragmentLayout& layout,
                    MatrixType type, const T* dense) {
  const std::uint16_t* from = layout.offsets.data();
  if constexpr (sizeof(T) == 8) {
    for (int e = 0; e < layout.elements(); ++e, from += kLanes) {
      std::byte* const row = warp.row(rows[e]);
      for (int lane = 0; lane < kLanes; ++lane) put(row, lane, dense[from[lane]]);
    }
  } else {
    const auto per_register = layout.elements_per_register;
    const int bits = bits_of(type);
    alignas(64) std::uint32_t words[kLanes] = {};
    for (int e = 0; e < layout.elements(); ++e, from += kLanes) {
      const int sub = e % per_register;
      for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t value = encode(type, dense[from[lane]]);
        words[lane] = sub == 0 ? value : words[lane] | value << (sub * bits);
      }
      if (sub == per_register - 1) {
        std::memcpy(warp.row(rows[e / per_register]), words, sizeof words);
      }
    }
  }
}

template <class T>
void multiply_dense(int m, int n, int k, const T* a, const T* b, T* d) {
  constexpr int kBlock = 8;  // every shape's N is a multiple
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < n; col += kBlock) {
      T sum[kBlock];
      for (int j = 0; j < kBlock; ++j) sum[j] = d[row * n + col + j];
      for (int i = 0; i < k; ++i) {
        const T factor = a[row * k + i];
        const T* const from = b + i * n + col;
        for (int j = 0; j < kBlock; ++j) sum[j] += factor * from[j];
      }
      for (int j = 0; j < kBlock; ++j) d[row * n + col + j] = sum[j];
    }
  }
}

void add_integers(const std::int32_t* products, std::int32_t* sums, std::size_t count,
                  bool saturates) {
  using Limits = std::numeric_limits<std::int32_t>;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t sum = std::int64_t{sums[i]} + products[i];
    sums[i] =
        saturates
            ? static_cast<std::int32_t>(std::clamp<std::int64_t>(sum, Limits::min(), Limits::max()))
            : static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
  }
}

template void gather_matrix(Warp&, const std::uint32_t*, const FragmentLayout&, MatrixType, float*);
template void gather_matrix(Warp&, const std::uint32_t*, const FragmentLayout&, MatrixType,
                            double*);
template void gather_matrix(Warp&, const std::uint32_t*, const FragmentLayout&, MatrixType,
                            std::int32_t*);
template void scatter_matrix(Warp&, const std::uint32_t*, const FragmentLayout&, MatrixType,
                             const float*);
template void scatter_matrix(Warp&, const std::uint32_t*, const FragmentLayout&, MatrixType,
                             const double*);
template void scatter_matrix(Warp&, const std::uint32_t*, const FragmentLayout&, MatrixType,
                             const std::int32_t*);
template void multiply_dense(int, int, int, const float*, const float*, float*);
template void multiply_dense(int, int, int, const double*, const double*, double*);
template void multiply_dense(int, int, int, const std::int32_t*, const std::int32_t*,
                             std::int32_t*);

}  // namespace kiln::emulated
