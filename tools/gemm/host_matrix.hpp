// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "kiln/types.hpp"

namespace kiln::tools {

/// Writes `value` as an element of `type`. Precondition: the type holds it exactly (random_element
/// gives only such).
void store_exact(DType type, double value, std::byte* to);
/// Reads an element of `type`, the first value of a byte that has several.
[[nodiscard]] double load_element(DType type, const std::byte* from);

/// A random multiple of a power of two in about [-2, 2] (integers in [-7, 7], [0, 7] when
/// unsigned) with so few digits that every type of its kind holds it exactly: what the device
/// reads is what the host checks against.
[[nodiscard]] double random_element(DType type, std::mt19937_64& random);

/// A matrix in host memory, as a product of matrices sees it: op(X) of rows x columns, stored as
/// written or transposed, with a leading dimension.
class HostMatrix {
 public:
  HostMatrix(DType type, std::int64_t rows, std::int64_t columns, Storage storage, std::int64_t ld);

  void fill_random(std::uint64_t seed);
  /// Every byte 0xff: NaN in every floating-point type, so that what is never written shows.
  void poison();
  [[nodiscard]] double at(std::int64_t row, std::int64_t column) const;
  /// The same as it lies in memory.
  [[nodiscard]] unsigned long long bits_at(std::int64_t row, std::int64_t column) const;
  /// Elements from one stored row to the next.
  [[nodiscard]] std::int64_t pitch() const { return ld_; }
  [[nodiscard]] std::vector<std::byte>& bytes() { return bytes_; }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  [[nodiscard]] const std::byte* element(std::int64_t row, std::int64_t column) const;

  DType type_;
  std::int64_t stored_rows_, ld_;
  Storage storage_;
  std::vector<std::byte> bytes_;
};

}  // namespace kiln::tools
