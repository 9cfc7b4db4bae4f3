// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "templates/space/space_program.hpp"

namespace kiln {

/// How far to look for valid configurations near another one.
struct RepairLimits {
  int changes = 0;  ///< of tunables
  int tries = 0;    ///< configurations that are looked at for each number of changes
};

/// Values of all names by slot, of all valid configurations that differ from the one in `values` in
/// the fewest tunables. `values` has every tunable bound. Empty if none was found within the
/// limits.
[[nodiscard]] std::vector<std::vector<std::int64_t>> repaired_values(
    const SpaceProgram& program, const std::vector<std::int64_t>& values,
    const RepairLimits& limits);

}  // namespace kiln
