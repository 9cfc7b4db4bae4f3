// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "templates/kernel_template.hpp"
#include "templates/operation.hpp"

namespace kiln {

/// Why a compiled kernel cannot take what its launch passes (LaunchSpec::args), with file, line and
/// what to change; "" if nothing is known to be wrong. `lowered_names`, one for each launch, tell
/// the types of parameters unless they are those of extern "C" kernels.
[[nodiscard]] std::string why_wrong_arguments(const KernelTemplate& kernel_template,
                                              const std::vector<std::string>& lowered_names);

/// The same of a kernel of the operation's own file, the reference or the checker.
[[nodiscard]] std::string why_wrong_arguments(const Operation& operation, const JudgeKernel& judge,
                                              const std::string& lowered_name);

}  // namespace kiln
