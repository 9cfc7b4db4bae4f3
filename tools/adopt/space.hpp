// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/adopt/operation.hpp"
#include "tools/adopt/space_file.hpp"

namespace kiln::tools {

/// `found`, with the values that a T1 file lists for them, and with the tunables that only this
/// file lists. Those of the kernels' template parameters are left out: apply_space_values() knows
/// them.
[[nodiscard]] std::vector<TunableGuess> tunables_of_space(const SpaceFile& space,
                                                          const SourceModel& model,
                                                          const std::vector<AdoptedKernel>& kernels,
                                                          std::vector<TunableGuess> found);

/// Roles, extents, data and tolerances of the arguments, of the first kernel.
void apply_space_arguments(const SpaceFile& space, AdoptionGuess& guess);
/// Values, restrictions, grid and block.
void apply_space_values(const SpaceFile& space, AdoptionGuess& guess);
/// What of the T1 file front matter cannot express.
[[nodiscard]] std::vector<std::string> space_notes(const SpaceFile& space,
                                                   const AdoptionGuess& guess);

}  // namespace kiln::tools
