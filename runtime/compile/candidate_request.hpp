// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "runtime/compile/compiler.hpp"
#include "templates/render/renderer.hpp"

namespace kiln {

/// What a device that loads `device_code` loads of a candidate with these options: a device that
/// takes cubins also takes PTX for its driver, while an emulated GPU always executes PTX.
[[nodiscard]] CodeKind code_kind_of(const CompileOptions& options, CodeKind device_code);

/// The request that compiles a rendered candidate for a device of architecture `arch`, with the
/// candidate's options.
[[nodiscard]] CompileRequest candidate_request(const RenderedKernel& rendered,
                                               const std::string& arch, CodeKind device_code);

}  // namespace kiln
