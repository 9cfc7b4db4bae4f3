// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "templates/expression/expression.hpp"
#include "templates/front_matter/front_matter_lines.hpp"
#include "templates/template_parts.hpp"

namespace kiln {

/// Adds a line `cost fp32 = tile_m * tile_n * k`, or `cost let turns = ceil_div(k, tile_k)`: a
/// value for the `cost` and `prefer` lines below it, which nothing else mentions, so that
/// configurations are not told apart by it when they are counted. `names`: those of the template,
/// and of such values above. Throws Error(template_) that points at what is wrong.
void read_cost_line(const FrontMatterLine& line, NameTable& names, std::vector<CostLine>& costs);

/// The values of `cost let` lines that preferences mention, or that those values do, in order.
[[nodiscard]] std::vector<DerivedValue> values_of(const std::vector<Requirement>& preferences,
                                                  const std::vector<CostLine>& costs);

}  // namespace kiln
