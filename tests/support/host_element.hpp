// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/types.hpp"

namespace kiln::testing {

/// The bits of element `index` of an array whose elements take `bytes` (1, 2, 4 or 8), and back.
[[nodiscard]] std::uint64_t load_bits(const void* data, std::int64_t index, int bytes);
void store_bits(void* data, std::int64_t index, int bytes, std::uint64_t bits);

/// Element `index` of an array of `type`, as a number to multiply with (tf32 is rounded).
[[nodiscard]] double load_element(DType type, const void* data, std::int64_t index);
/// Stores `value` rounded to nearest even; 8-bit floats without infinity and integers saturate.
void store_element(DType type, void* data, std::int64_t index, double value);

}  // namespace kiln::testing
