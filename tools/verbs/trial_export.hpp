// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "tools/command_line/problem_flags.hpp"
#include "tools/context.hpp"

namespace kiln::tools {

/// Which trials to write, and how.
struct TrialExport {
  std::string format;                  ///< "csv", "kernel_tuner", "t4"
  std::optional<ProblemCase> request;  ///< all problems; only in a table
  std::string template_name;           ///< "": all; other formats need one
  std::string on;                      ///< part of the name or architecture of the device
  std::string output;
};

/// Writes the trials. Returns the exit code.
int export_trials(Context& context, const TrialExport& wanted);

}  // namespace kiln::tools
