// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "templates/front_matter/front_matter.hpp"

namespace kiln {

/// A kernel as a launch names it: `space::name`, or `name<float, x, block_size>`.
struct KernelName {
  std::string_view name;
  std::optional<TextPart> template_arguments;  ///< what is between the angle brackets
};
/// Takes the text of a `launch` line apart. Throws Error(template_).
[[nodiscard]] KernelName parse_kernel_name(const FrontMatterLine& line);

/// The names in template arguments that are no part of another one: not after `::` or `.`, nor
/// before `::`.
[[nodiscard]] std::vector<TextPart> free_names(std::string_view template_arguments);

/// `softmax<x, block_size_x>` with the names between the angle brackets replaced by what `value`
/// gives for them: `softmax<float, 128>`. Names that it gives nothing for stay, and so does a name
/// without brackets.
[[nodiscard]] std::string expand_kernel_name(
    std::string_view text,
    const std::function<std::optional<std::string>(std::string_view)>& value);

}  // namespace kiln
