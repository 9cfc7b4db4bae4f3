// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "templates/operation/problem.hpp"
#include "tools/command_line/problem_flags.hpp"
#include "tools/context.hpp"

namespace kiln::tools {

/// The case that a stored problem stands for. What the database does not keep is chosen: the usual
/// scalars, and the tightest layout that has the stored alignments. Throws Error(usage) if the
/// problem's operation is not declared.
[[nodiscard]] ProblemCase case_of(const Problem& problem);

/// C++ that gets and launches the kernel, for copying into a program. `flags`: what the library is
/// to be opened with, as far as it is not the default.
[[nodiscard]] std::string cpp_snippet(const ProblemCase& one, const GlobalFlags& flags = {});

/// `text` as C++ spells a string.
[[nodiscard]] std::string cpp_literal(const std::string& text);

/// What to type next after tuning: show, bench, run, and the C++, each with the flags that the
/// run was given to find its files by. `is_checked`: nothing is left to be checked before.
[[nodiscard]] std::string next_steps(const ProblemCase& request, const Context& context,
                                     bool is_checked = true);

}  // namespace kiln::tools
