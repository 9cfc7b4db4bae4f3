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

/// What a launch without an `args` line passes: default_argument_list() without what the kernels
/// read from constant memory.
[[nodiscard]] std::vector<ArgumentSpec> default_kernel_arguments(const Operation& operation,
                                                                 const NameTable& names,
                                                                 const RunSpec& run);
/// The launch struct as an argument.
[[nodiscard]] ArgumentSpec struct_at_launch(const StructSpec& launch_struct,
                                            const NameTable& names);
/// Whether any of the arguments, or of their members, is in the workspace proper.
[[nodiscard]] bool passes_workspace(const std::vector<ArgumentSpec>& args);

/// That groups of launches that repeat are whole. `lines`: all of the template's.
void check_repeats(const std::vector<FrontMatterLine>& lines,
                   const std::vector<LaunchSpec>& launches);
/// That a launch passes the array of a `scratch` line.
void check_scratch_is_used(const FrontMatterLine& line, const std::vector<LaunchSpec>& launches);

}  // namespace kiln
