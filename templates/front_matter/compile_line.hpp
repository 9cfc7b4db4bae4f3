// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "templates/compile_options.hpp"
#include "templates/front_matter/compile_spec.hpp"
#include "templates/front_matter/front_matter_lines.hpp"

namespace kiln {

/// Reads `compile --ftz=true --maxrregcount=regs when regs > 0` and appends its options.
/// `is_late`: whether a name is known only at launch, and so cannot decide how to compile. Throws
/// Error(template_) that points at what is wrong.
void add_compile_line(const FrontMatterLine& line, const NameTable& names,
                      const std::function<bool(std::string_view)>& is_late,
                      std::vector<CompileItem>& items);

/// The options of a configuration, whose values of all names are `bindings`. Of several items with
/// the same option, the last one whose condition holds counts. Throws Error(template_) that points
/// at a value that the option cannot have.
[[nodiscard]] CompileOptions options_of_lines(const std::vector<CompileItem>& items,
                                              std::span<const std::int64_t> bindings);

/// Whether the lines give that option to any configuration.
[[nodiscard]] bool gives_option(const std::vector<CompileItem>& items, std::string_view option);

/// "--maxrregcount=regs when regs > 0", as the lines have it.
[[nodiscard]] std::string compile_item_text(const CompileItem& item);

}  // namespace kiln
