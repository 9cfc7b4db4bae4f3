// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/adopt/problem.hpp"

namespace kiln::tools {

/// What a kernel does with an array; nothing for what is none of its pointers.
[[nodiscard]] const PointerUse& use_of(const AdoptedKernel& kernel, const std::string& parameter);
/// "in", "out" or "inout", of one kernel.
[[nodiscard]] std::string role_of(const AdoptedKernel& kernel, const SourceParameter& parameter);

/// Arrays that kernels leave to later ones and nobody else: an earlier kernel fills the array, and
/// the last that has it only reads it. Arrays are the same by their names, by what the host passes,
/// or else as the only pair of one type that nothing else explains.
[[nodiscard]] std::vector<BetweenGuess> find_between(const SourceModel& model,
                                                     const std::vector<AdoptedKernel>& kernels);

}  // namespace kiln::tools
