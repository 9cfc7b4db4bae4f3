// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "templates/front_matter/front_matter_lines.hpp"
#include "templates/template_parts.hpp"

namespace kiln {

/// Throws Error(template_) at the line that makes the launch cooperative and overlapping, whatever
/// the problem and the configuration.
void refuse_cooperative_overlap(const FrontMatterLine& line, const LaunchSpec& launch);

}  // namespace kiln
