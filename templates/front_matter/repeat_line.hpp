// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "templates/expression/expression.hpp"
#include "templates/front_matter/front_matter_lines.hpp"
#include "templates/template_parts.hpp"

namespace kiln {

/// Reads `repeat E` or `repeat E; launches 2`. Throws Error(template_) that points at what is
/// wrong, as do the functions below.
[[nodiscard]] RepeatSpec parse_repeat(const FrontMatterLine& line, const NameTable& names);

/// The names for the lines of launches: those of the template, and `repeat_index` and
/// `repeat_count`, which `run.repeat_slot` then says the place of. `line`: the first `repeat` line.
[[nodiscard]] NameTable names_with_repeat(const FrontMatterLine& line, const NameTable& names,
                                          RunSpec& run);

/// That the launches of a group follow, and repeat in no other group. `line` is that of the
/// `repeat` line of launch `index`.
void check_group(const FrontMatterLine& line, const std::vector<LaunchSpec>& launches,
                 std::size_t index);

}  // namespace kiln
