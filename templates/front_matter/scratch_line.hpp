// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "templates/expression/expression.hpp"
#include "templates/front_matter/front_matter_lines.hpp"
#include "templates/operation/operation.hpp"
#include "templates/template_parts.hpp"

namespace kiln {

/// Reads `scratch partial f32: ceil_div(n, tile), 2` and appends it. `names` are those that the
/// extents may mention. Throws Error(template_) that points at what is wrong.
void add_scratch(const FrontMatterLine& line, const Operation& operation, const NameTable& names,
                 std::vector<ScratchSpec>& scratch);

}  // namespace kiln
