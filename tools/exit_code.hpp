// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/error.hpp"

namespace kiln::tools {

/// What the program returns to the shell; docs/cli.md describes them.
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
