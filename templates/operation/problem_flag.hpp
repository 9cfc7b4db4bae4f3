// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace kiln {

/// Flags of the program that some verb has for other things than a problem.
// clang-format off
inline constexpr std::array<std::string_view, 68> kReservedFlags{
    "again", "against", "all", "arch", "budget", "candidate-timeout", "clusters", "color",
    "compile-only", "compile-threads", "cubin", "cubin-store", "cubins", "cuda-include", "data",
    "database", "db", "device", "dry-run", "dtype", "evaluations", "flags", "format", "gpu",
    "help", "help-all", "in-flight", "in-process", "include", "into", "json", "keep-best",
    "kernel", "log", "max-candidates", "mode", "names", "no-baseline", "no-wait", "objective",
    "older", "on", "operation", "output", "quiet", "repeat", "rounds", "sample", "samples",
    "save-profile", "seed", "seeds", "set", "source", "space", "stale", "strategy", "suite",
    "template", "template-path", "templates", "timeout", "top", "tune", "turn", "verbose",
    "version", "warm"};
// clang-format on

/// The flag that says what a problem of a declared operation has of that name: "--rows". A name of
/// kReservedFlags, such as `top`, is preceded by the operation's: "--softmax-top".
[[nodiscard]] inline std::string problem_flag(std::string_view operation, std::string_view name) {
  std::string flag = "--";
  if (std::ranges::find(kReservedFlags, name) != kReservedFlags.end()) {
    flag.append(operation).append("-");
  }
  return flag.append(name);
}

}  // namespace kiln
