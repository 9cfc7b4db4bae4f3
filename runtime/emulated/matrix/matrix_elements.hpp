// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/emulated/decode/program.hpp"
#include "runtime/emulated/matrix/fragment_layout.hpp"

/// \file
/// Matrix operands between registers and dense arrays: what every tensor-core instruction does
/// before and after it multiplies.

namespace kiln::emulated {

class Warp;

/// Element types of matrix instructions, more than a register can be declared with.
enum class MatrixType : std::uint8_t {
  f16,
  bf16,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  s8,
  u8,
  s4,
  u4,
  b1,
  s32
};

[[nodiscard]] std::optional<MatrixType> matrix_type_of(std::string_view name);
[[nodiscard]] int bits_of(MatrixType type);
/// Whether products are summed in floating point (f64 apart), and not in integers.
[[nodiscard]] bool is_float(MatrixType type);
/// The register that PTX holds elements of this type in.
[[nodiscard]] ptx::Type register_type_of(MatrixType type);

/// The elements of a fragment as a dense row-major matrix. `rows` are its registers' rows. T is
/// float, double or std::int32_t, as is_float() and f64 say.
template <class T>
void gather_matrix(Warp& warp, const std::uint32_t* rows, const FragmentLayout& layout,
                   MatrixType type, T* dense);

/// The other way, rounding to the type; for accumulators and results.
template <class T>
void scatter_matrix(Warp& warp, const std::uint32_t* rows, const FragmentLayout& layout,
                    MatrixType type, const T* dense);

/// D += A B for dense row-major matrices, one product of m x n x k after the other along k.
template <class T>
void multiply_dense(int m, int n, int k, const T* a, const T* b, T* d);

/// Adds products to sums, which stay in range or wrap.
void add_integers(const std::int32_t* products, std::int32_t* sums, std::size_t count,
                  bool saturates);

/// Makes negative zeros positive: an H200's tensor cores give none in f32 and f16 sums (f64 keeps
/// them, and so do f16 sums of m8n8k4, which it does in another way).
inline void drop_negative_zeros(float* sums, int count) {
  for (int i = 0; i < count; ++i) sums[i] += 0.0F;
}

}  // namespace kiln::emulated
