// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "templates/front_matter/argument_list.hpp"
#include "templates/front_matter/front_matter_lines.hpp"
#include "templates/operation/operation.hpp"

namespace kiln {

/// That `reference softmax_reference<x>`, or `checker ...`, names a kernel of the file, whose text
/// is `source`. Throws Error(template_), as do the functions below.
void check_judge_kernel(const FrontMatterLine& line, std::string_view source);

/// That the arguments, those of `line`, have one place for the result of each operand that the
/// reference computes: `y` or `y.f64`.
void check_reference_results(const FrontMatterLine& line, const Operation& operation,
                             const std::vector<ArgumentSpec>& args);

/// That the arguments have each operand that the checker judges, and `wrong`.
void check_checker_arguments(const FrontMatterLine& line, const Operation& operation,
                             const std::vector<ArgumentSpec>& args);

/// `independent rows`, of an operation with its operands: that the reference can be given some of
/// the rows only, since they are nothing but first extents, and that all results have them.
/// Returns the name of the size.
[[nodiscard]] std::string parse_independent(const FrontMatterLine& line,
                                            const Operation& operation);

}  // namespace kiln
