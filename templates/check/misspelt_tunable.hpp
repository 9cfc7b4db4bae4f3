// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "templates/front_matter/front_matter_lines.hpp"

namespace kiln {

/// Throws Error(template_) at a tunable that the kernel never sees while its text has a name that
/// resembles it: one that the text defines itself, or one that the front matter uses as well. All
/// candidates would be the same code. `lines` is all of the front matter, in which tunables are
/// declared by lines of their own. A tunable may be used in launch lines only.
void refuse_misspelt_tunables(std::string_view source, const std::vector<FrontMatterLine>& lines);

}  // namespace kiln
