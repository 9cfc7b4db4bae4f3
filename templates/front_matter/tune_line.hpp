// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "templates/front_matter/front_matter_lines.hpp"
#include "templates/space/param_space.hpp"

namespace kiln {

/// `int tile_m;  //@ tune 32 64* 128`: values of one kind, integers, decimal numbers, booleans or
/// names. `first:last` and `first:last:step` list numbers at equal distances, `first..last x2`
/// multiplies; the last one is a value, too. `*` marks a single value as the default, `default V`
/// at the end any value. Throws Error(template_) at the word that is wrong.
[[nodiscard]] Tunable parse_tunable(const FrontMatterLine& line);

}  // namespace kiln
