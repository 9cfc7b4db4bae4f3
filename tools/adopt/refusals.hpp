// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/adopt/source.hpp"

namespace kiln::tools {

/// Throws Error(usage) with the line and a remedy if a kernel takes or uses what nothing in front
/// matter stands for: textures, pointers to arrays, functions.
void refuse_unsupported(const std::string& file, const SourceModel& model,
                        const SourceKernel& kernel);

}  // namespace kiln::tools
