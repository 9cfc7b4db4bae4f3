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

/// "slopes_of" of "slopes_of<x>".
[[nodiscard]] std::string kernel_without_arguments(std::string_view kernel);

/// The arguments of a `fill` line's kernel: those of its `args` line, which it must have (`args`;
/// null: it has none). Throws Error(template_), as does the function below.
[[nodiscard]] std::vector<ArgumentSpec> read_fill_arguments(const FrontMatterLine& fill,
                                                            const FrontMatterLine* args,
                                                            const Operation& operation);

/// Finds out which operands each of the operation's fill kernels makes, and brings the kernels into
/// an order in which each reads only what is there. `operands` and `fills` are the lines of the
/// operation's operands and of its fill kernels, in the same order.
void connect_fills(const std::vector<FrontMatterLine>& operands,
                   const std::vector<FrontMatterLine>& fills, Operation& operation);

}  // namespace kiln
