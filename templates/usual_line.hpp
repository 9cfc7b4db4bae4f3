// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "templates/config.hpp"
#include "templates/front_matter_lines.hpp"
#include "templates/param_space.hpp"

namespace kiln {

/// A line `usual tile_m=16 splits=4`: a configuration that is good for some problems. Tunables that
/// it does not name have their defaults. Throws Error(template_) that points at what is no tunable,
/// or none of its values.
[[nodiscard]] Config usual_config(const FrontMatterLine& line,
                                  const std::vector<Tunable>& tunables);

}  // namespace kiln
