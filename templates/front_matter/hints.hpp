// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "templates/front_matter/front_matter_lines.hpp"
#include "templates/kernel_template.hpp"

namespace kiln {

/// The statements of a file of hints, in order: `prefer`, `usual` and `cost` lines. `owner` is the
/// file of their template. Throws Error(template_) at a statement of another kind, which belongs
/// into `owner`, and at a line that is neither a statement nor a comment.
[[nodiscard]] std::vector<FrontMatterLine> read_hints(const KernelTemplate::Hints& hints,
                                                      const std::string& owner);

}  // namespace kiln
