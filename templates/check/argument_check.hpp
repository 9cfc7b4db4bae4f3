// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "templates/kernel_template.hpp"
#include "templates/operation/operation.hpp"

namespace kiln {

/// Why a compiled kernel cannot take what its launch passes (LaunchSpec::args), with file, line and
/// what to change; "" if nothing is known to be wrong. `lowered_names`, one for each launch, tell
/// the types of parameters; those of extern "C" kernels are read from the source as far as they are
/// CUDA's own. `problem` has the types of operands that pointers are compared with; null: they are
/// not.
[[nodiscard]] std::string why_wrong_arguments(const KernelTemplate& kernel_template,
                                              const std::vector<std::string>& lowered_names,
                                              const Problem* problem);
/// The same of the operation's judge_kernels().
[[nodiscard]] std::string why_wrong_judges(const Operation& operation,
                                           const std::vector<std::string>& lowered_names,
                                           const Problem& problem);

/// Whether a whole number of the type `declared` always fits `type`; true if either is none of
/// whole numbers.
[[nodiscard]] bool takes_every_value(NumberType type, NumberType declared);

}  // namespace kiln
