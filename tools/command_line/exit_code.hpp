// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "kiln/error.hpp"

namespace kiln::tools {

/// What the program returns to the shell.
enum ExitCode : int {
  kExitOk = 0,
  kExitFailure = 1,
  kExitUsage = 2,
  kExitNoCandidate = 3,  ///< nothing valid was found, or nothing known answers
  kExitNoDevice = 4,
  kExitDatabase = 5,
  kExitBudget = 6,  ///< the budget ended before any result
  kExitInterrupted = 130,
};

/// What people read of a code: in a word or two, and in full.
struct ExitMeaning {
  ExitCode code;
  const char* brief;
  const char* text;
};
inline constexpr std::array<ExitMeaning, 8> kExitMeanings{{
    {kExitOk, "ok", "ok"},
    {kExitFailure, "failure",
     "failure. Examples: a wrong result, a fault that `kiln verify` found (such as a race), a "
     "malformed template, a missing compiler, an invalid line in an import. For `kiln doctor`: "
     "something is broken"},
    {kExitUsage, "usage", "usage: the command contains a bad flag, value, size or file"},
    {kExitNoCandidate, "no valid candidate",
     "no configuration is valid for the problem, every candidate failed, or the database has no "
     "result for the problem"},
    {kExitNoDevice, "no device or driver",
     "there is no device or no driver; the device failed or has too little memory for the "
     "operands; or, with --no-wait, another run measures on the device"},
    {kExitDatabase, "database", "the database cannot be used"},
    {kExitBudget, "budget spent before any result",
     "the limit --budget or --max-candidates was reached before any candidate succeeded"},
    {kExitInterrupted, "interrupted", "interrupted; measured results are kept"},
}};

[[nodiscard]] constexpr ExitCode exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return kExitUsage;
    case ErrorKind::not_found:
      return kExitNoCandidate;
    case ErrorKind::device:
      return kExitNoDevice;
    case ErrorKind::database:
      return kExitDatabase;
    case ErrorKind::template_:
    case ErrorKind::compiler:
    case ErrorKind::internal:
      return kExitFailure;
  }
  return kExitFailure;
}

}  // namespace kiln::tools
