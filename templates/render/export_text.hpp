// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "templates/render/renderer.hpp"

namespace kiln {

/// export_text() for a file of that name, which the nvcc command in it compiles.
[[nodiscard]] std::string export_text_as(const std::string& file, const RenderedKernel& rendered,
                                         const KernelTemplate& kernel_template,
                                         const Problem& problem, const DeviceLimits& limits);

}  // namespace kiln
