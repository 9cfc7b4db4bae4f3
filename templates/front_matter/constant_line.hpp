// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "templates/front_matter/constant_spec.hpp"
#include "templates/front_matter/front_matter_lines.hpp"
#include "templates/operation/operation.hpp"

namespace kiln {

/// Reads `constant d_filter = filter` of a template or of a kernel that judges, and appends it.
/// `source` is the file's text, which must declare the array. Throws Error(template_) that points
/// at what is wrong.
void add_constant(const FrontMatterLine& line, const Operation& operation, std::string_view source,
                  std::vector<ConstantSpec>& constants);

/// What compilers call a variable of that name: "_ZN4phys5coeffE" for "phys::coeff".
[[nodiscard]] std::string variable_symbol(std::string_view name);

/// "d_filter = filter", as the line has it.
[[nodiscard]] std::string constant_text(const ConstantSpec& constant, const Operation& operation);

/// What a problem's operands put into the arrays of `file`; without those that have no elements.
/// Precondition: the problem was checked.
[[nodiscard]] std::vector<ConstantFill> constant_fills(const std::vector<ConstantSpec>& constants,
                                                       const std::string& file,
                                                       const Operation& operation,
                                                       const Problem& problem);

}  // namespace kiln
