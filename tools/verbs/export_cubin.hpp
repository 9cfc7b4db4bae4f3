// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "runtime/compile/compiler.hpp"
#include "templates/device_limits.hpp"
#include "templates/kernel_template.hpp"
#include "templates/operation/problem.hpp"
#include "templates/render/renderer.hpp"
#include "tools/output/json.hpp"

namespace kiln::tools {

/// The machine code of a rendered kernel, and the identity of the compiler that produced it.
struct ExportedCubin {
  CompileResult code;
  std::string compiler;
};

/// Takes the cubin from the store, or else compiles. `tuned_with` is the compiler of the measured
/// kernel, whose cubin comes first; "" for a kernel that was not measured. Throws Error(compiler)
/// if the kernel does not compile.
[[nodiscard]] ExportedCubin compile_for_export(CachingCompiler& compiler,
                                               const KernelTemplate& kernel_template,
                                               const RenderedKernel& rendered,
                                               const std::string& arch,
                                               const std::string& tuned_with);

/// Adds "launches", "constants" and "workspace_bytes" to the document: how to run the kernel for
/// the problem. With `cubin`, each launch has the "symbol" of its kernel in the cubin.
void add_launches(Json& document, const KernelTemplate& kernel_template,
                  const RenderedKernel& rendered, const Problem& problem,
                  const DeviceLimits& limits, const ExportedCubin* cubin);

}  // namespace kiln::tools
