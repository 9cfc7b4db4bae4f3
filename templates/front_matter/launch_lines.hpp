// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "templates/front_matter/front_matter_lines.hpp"
#include "templates/operation/operation.hpp"
#include "templates/template_parts.hpp"

namespace kiln {

/// Whether lines with this key belong below a `launch` line: `grid`, `smem`, `args` and so on.
[[nodiscard]] bool is_launch_part(std::string_view key);

/// Adds what the line says to the launch above it. Precondition: is_launch_part(), and not `args`.
/// Throws Error(template_) at a line that repeats another or is not well formed.
void add_launch_part(const FrontMatterLine& line, const Operation& operation,
                     const NameTable& names, LaunchSpec& launch);

}  // namespace kiln
