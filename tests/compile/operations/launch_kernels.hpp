// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// \file
/// Operations and templates of launches as people write them: blocks that meet at their grid, and
/// arrays behind pointers.

namespace kiln::testing {

/// The sum of `n` numbers.
extern const char* const kGridSum;
/// Blocks leave their sums in the workspace; after `wait` the first adds them up. `cooperative` is
/// a line of the launch, or nothing.
[[nodiscard]] std::string grid_sum_kernel(const std::string& cooperative, const std::string& wait,
                                          const std::string& blocks = "40");

/// Twice each of `batch` arrays of `n` numbers, and a sum in place; the reference gets the pointers
/// as the kernel does.
extern const char* const kBatchedScale;
/// A block an array; `change` is the kernel's last statement.
[[nodiscard]] std::string batched_scale_kernel(const std::string& change);

}  // namespace kiln::testing
