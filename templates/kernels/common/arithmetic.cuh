// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Whole-number arithmetic that front matter has under the same names.

#include "common/annotations.cuh"

namespace kiln {

/// Preconditions: 0 <= value, 0 < divisor. Unlike (value + divisor - 1) / divisor it can't
/// overflow.
KILN_HD int ceil_div(int value, int divisor) {
  return value / divisor + (value % divisor != 0);
}

}  // namespace kiln
