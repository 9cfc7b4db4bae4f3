// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/types.hpp"

namespace kiln {

/// Half the distance from 1 to the next number of that type; 0 for integers.
[[nodiscard]] double unit_roundoff(DType type);

}  // namespace kiln
