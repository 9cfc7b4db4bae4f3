// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/gemm.hpp"

namespace kiln::detail {

/// Where the library works, so that the tuner works there, too. An empty field adds no flag.
struct TunerSettings {
  std::string database = {};
  std::string cubin_store = {};
  std::string device = {};
  std::vector<std::string> template_path = {};
  std::string cuda_include = {};
};

/// The command line that tunes a (normalised) problem: "kiln tune gemm --m ...".
[[nodiscard]] std::vector<std::string> tuner_command(const std::string& program, const Gemm& gemm,
                                                     const TunerSettings& settings);

/// Runs a program (searched on PATH unless it has a slash) and waits for it. Its standard output is
/// discarded: the application's belongs to the application. Returns "" on success, else what
/// happened, with the end of what the program wrote to its standard error. Where the application
/// ignores SIGCHLD, only what it wrote is known, and silence counts as success.
[[nodiscard]] std::string run_program(const std::vector<std::string>& command);

}  // namespace kiln::detail
