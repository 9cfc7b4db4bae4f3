// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "templates/front_matter/allow_spec.hpp"
#include "templates/front_matter/front_matter_lines.hpp"

namespace kiln {

struct LaunchSpec;

/// Reads such a line and appends it. Throws Error(template_) that points at what is wrong.
void add_allowance(const FrontMatterLine& line, std::vector<AllowSpec>& allowances);

/// All of them together, as LaunchGeometry::allowed.
[[nodiscard]] std::uint8_t allowed_mask(const std::vector<AllowSpec>& allowances);

/// "accepted in bfs: race same_value (every block stores the same level)", of all launches; ""
/// where nothing is.
[[nodiscard]] std::string accepted_text(const std::vector<LaunchSpec>& launches);

}  // namespace kiln
