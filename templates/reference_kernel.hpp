// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "templates/argument_list.hpp"
#include "templates/front_matter_lines.hpp"
#include "templates/operation.hpp"

namespace kiln {

/// That `reference softmax_reference<x>` names a kernel of the file, whose text is `source`. Throws
/// Error(template_), as does the function below.
void check_reference_kernel(const FrontMatterLine& line, std::string_view source);

/// That the arguments, those of `line`, have one place for the result of each operand that is
/// written: `y` or `y.f64`.
void check_reference_results(const FrontMatterLine& line, const Operation& operation,
                             const std::vector<ArgumentSpec>& args);

}  // namespace kiln
