// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "templates/kernel_template.hpp"
#include "templates/operation/operation.hpp"
#include "templates/operation/problem.hpp"

namespace kiln {

// A kernel may be compiled for one value of a size, as `require W == width` says. None of its
// operation's ragged sizes may suit it then. Problems that keep this size and take the others from
// a `ragged` line still do.

/// The fewest sizes that have to stay as they are in `problem`, so that a `ragged` line gives a
/// problem that the template's configurations are valid for. Empty if a `ragged` line does so as it
/// is, or if none does.
[[nodiscard]] std::vector<std::string> kept_sizes(const KernelTemplate& kernel_template,
                                                  const Problem& problem,
                                                  const DeviceLimits& limits);

/// The problem of each `ragged` line with these sizes as they are in `problem`, without repeats,
/// without `problem` itself, and without those that the operation refuses.
[[nodiscard]] std::vector<Problem> ragged_problems(const Operation& operation,
                                                   const Problem& problem,
                                                   const std::vector<std::string>& kept);

}  // namespace kiln
