// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "templates/problem.hpp"
#include "tools/problem_flags.hpp"

namespace kiln::tools {

/// The gemm that a stored problem stands for. What the database does not keep is chosen: tight
/// leading dimensions where they have the stored alignment, else the shortest padded ones.
[[nodiscard]] GemmRequest request_of(const Problem& problem);

/// C++ that gets and launches the kernel, for copying into a program. `device`: what the library is
/// to be opened with, if not the default.
[[nodiscard]] std::string cpp_snippet(const Gemm& gemm, const std::string& device = "");

/// What to type next after tuning on that device: show, bench, run, and the C++.
[[nodiscard]] std::string next_steps(const GemmRequest& request, const std::string& device);

}  // namespace kiln::tools
