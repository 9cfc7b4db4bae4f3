// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kiln::detail {

/// Where the library works, so that the tuner works there, too. An empty field adds no flag.
struct TunerSettings {
  std::string database = {};
  std::string cubin_store = {};
  std::string device = {};
  std::vector<std::string> template_path = {};
  std::vector<std::string> include = {};
  std::string cuda_include = {};
  std::string objective = {};
};

/// The command line that tunes a problem: "kiln tune", the words that describe it ("softmax",
/// "--rows", "1000", ...), and where.
[[nodiscard]] std::vector<std::string> tuner_command(const std::string& program,
                                                     const std::vector<std::string>& words,
                                                     const TunerSettings& settings);

/// The program `kiln` of this copy of Kiln: beside the library (`library_folder`), in the bin
/// folder of the same installation, or beside the running program; "kiln", for PATH, if it is in
/// none of them.
[[nodiscard]] std::string find_tuner(const std::string& library_folder,
                                     const std::string& program_folder);
/// The same for this library and this process. PATH is not used in set-user-id programs.
[[nodiscard]] std::string find_tuner();

/// Runs a program (searched on PATH unless it has a slash) and waits for it. It gets no descriptor
/// of the application's, none of its ignored and blocked signals, and its stdout is discarded:
/// the application's belongs to the application. Returns "" on success, else what
/// happened, with the end of what the program wrote to its stderr. If the application
/// ignores SIGCHLD, only what it wrote is known, and silence counts as success.
[[nodiscard]] std::string run_program(const std::vector<std::string>& command);

}  // namespace kiln::detail
