// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tools/adopt/problem.hpp"
#include "tools/adopt/tunables.hpp"

namespace kiln::tools {

/// How one kernel is launched. Texts may be, or contain, kFillIn; comments say what that is, or
/// begin with "CHECK" where a guess may be wrong.
struct LaunchGuess {
  std::string kernel, kernel_comment;  ///< with template arguments
  std::vector<std::string> grid;
  std::string grid_comment;
  std::vector<std::string> block;
  std::string block_comment;
  std::string most_threads;  ///< of a block, what `__launch_bounds__` says beside it, or ""
  std::string smem;          ///< bytes; "" if there is no dynamic shared memory
  std::string smem_comment;
  bool is_cooperative = false;  ///< its blocks wait for each other
  std::vector<std::string> args;
  std::string args_comment;
};

/// A condition for right results.
struct RequirementGuess {
  std::string text;  ///< or kFillIn
  std::string comment;
};

/// What a template says beside its operation's types.
struct TemplateGuess {
  std::vector<TunableGuess> tunables;
  std::vector<LaunchGuess> launches;
  std::vector<RequirementGuess> requirements;  ///< beside those of the launches
  std::string workspace, workspace_comment;    ///< "" if none is needed
};

/// `tunables` are those of the file's macros.
[[nodiscard]] TemplateGuess guess_template(const SourceModel& model,
                                           const std::vector<AdoptedKernel>& kernels,
                                           const ProblemGuess& problem,
                                           std::vector<TunableGuess> tunables);

/// The numbers that launch a kernel as it is, with every tunable at its default: for a kernel that
/// says what is right. The block may be chosen where the kernel asks for its extent.
struct FixedLaunch {
  std::string kernel;
  std::vector<std::string> grid, block;
  std::vector<std::string> args;
};
[[nodiscard]] FixedLaunch guess_fixed_launch(const SourceModel& model, const AdoptedKernel& kernel,
                                             const ProblemGuess& problem,
                                             const std::vector<TunableGuess>& tunables);

}  // namespace kiln::tools
