// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/command_line/problem_flags.hpp"
#include "tools/context.hpp"

namespace kiln::tools {

/// What a file of another autotuner does not say of its results.
struct ForeignImport {
  std::string file;  ///< "-": standard input
  ProblemCase request;
  std::string template_name;
  std::string arch;
  std::string gpu;  ///< name of the GPU; "": as in the file
};

/// Stores the results as trials with the provenance `imported`. Returns the exit code.
int import_foreign(Context& context, const ForeignImport& import);

/// Throws Error(usage) that says how to import it, if the file is one of another autotuner.
void refuse_foreign_file(const std::string& file);

}  // namespace kiln::tools
