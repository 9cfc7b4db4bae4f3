// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "templates/front_matter/front_matter_lines.hpp"
#include "templates/space/config.hpp"
#include "templates/space/param_space.hpp"

namespace kiln {

/// A line `usual tile_m=16 splits=4`: a configuration that is good for some problems; several with
/// alternatives, `tile_m=16|32 splits=4|8`: all combinations, those of the first values first.
/// Tunables that it does not name have their defaults. Throws Error(template_) that points at what
/// is no tunable, or none of its values.
[[nodiscard]] std::vector<Config> usual_configs(const FrontMatterLine& line,
                                                const std::vector<Tunable>& tunables);

}  // namespace kiln
