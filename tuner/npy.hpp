// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/types.hpp"

namespace kiln {

/// What the header of a NumPy file says.
struct NpyHeader {
  std::string type;                 ///< "<f4", "|u1"
  std::vector<std::int64_t> shape;  ///< none: a single number
  std::int64_t data_at = 0;         ///< where the elements begin, in bytes
};

/// Whether the bytes, the first of a file, begin as a NumPy file does.
[[nodiscard]] bool is_npy(std::string_view bytes);

/// Most bytes of a file's beginning that parse_npy() looks at.
inline constexpr std::int64_t kMostNpyHeader = 1 << 20;

/// Reads the header from the first bytes of a file. Throws Error(usage) that begins with `path` for
/// a header that is broken or cut off, and for elements in an order that Kiln does not read.
[[nodiscard]] NpyHeader parse_npy(const std::string& path, std::string_view bytes);

/// Whether elements of that NumPy type are elements of the operand's. Types that NumPy does not
/// have are stored as bytes of that size ("|V2"), and tf32 as f32.
[[nodiscard]] bool is_type_of(std::string_view npy_type, DType type);
/// The NumPy type of such elements, for messages.
[[nodiscard]] std::string npy_type_of(DType type);

/// "(1000, 3)", as NumPy writes it.
[[nodiscard]] std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace kiln
