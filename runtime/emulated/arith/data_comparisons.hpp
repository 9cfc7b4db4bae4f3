// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "runtime/emulated/decode/program.hpp"
#include "runtime/emulated/ptx/ptx_module.hpp"

/// \file
/// The comparisons of set and setp. A few tests make all of them: operands may be swapped, and
/// results inverted.

namespace kiln::emulated::data {

/// The lanes of the rows `a` and `b` for which a test holds; element `part` of packed types.
using LaneTest = LaneMask (*)(const std::byte* a, const std::byte* b, int part);

struct LaneComparison {
  LaneTest test = nullptr;  ///< null: the type has no such comparison
  bool swapped = false;     ///< the test takes b and a
  bool inverted = false;

  [[nodiscard]] LaneMask of(const std::byte* a, const std::byte* b, int part = 0) const {
    const LaneMask mask = swapped ? test(b, a, part) : test(a, b, part);
    return inverted ? ~mask : mask;
  }
};

/// "ltu" on values of a type. `flush` (.ftz) exists for f32, f16 and f16x2.
[[nodiscard]] LaneComparison comparison_of(std::string_view name, ptx::Type type, bool flush);

}  // namespace kiln::emulated::data
