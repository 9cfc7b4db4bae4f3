// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "templates/front_matter/front_matter_lines.hpp"
#include "templates/operation/operation.hpp"
#include "templates/template_parts.hpp"

namespace kiln {

/// `slot: extents; box extents; pitch strides; swizzle bytes; promote bytes; in_workspace offset`,
/// the parts after the extents in any order, of which only the box must be there. Throws
/// Error(template_) that points at what is wrong.
[[nodiscard]] TensorMapSpec parse_tensor_map(const FrontMatterLine& line,
                                             const Operation& operation, const NameTable& names);

}  // namespace kiln
