// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "runtime/compile/compiler.hpp"
#include "templates/kernel_template.hpp"

namespace kiln {

/// A thread may store so many spilled bytes and still be fast: what is put away before a main loop
/// and fetched after it.
inline constexpr std::int64_t kFewSpilledBytes = 256;

/// Why compiled code that would run is not worth running, by what the compiler reports: an
/// asynchronous instruction that ptxas serialised, or, if the template has cost lines, spilled
/// registers. Among kernels without them, which were written for other tools, one that spills may
/// be the fastest, so only its time can tell. Empty if it is worth running. The tuner rejects such
/// candidates, and an application gets none that was not measured. Thread-safe.
[[nodiscard]] std::string why_not_competitive(const KernelTemplate& kernel_template,
                                              const CompileResult& compiled);

}  // namespace kiln
