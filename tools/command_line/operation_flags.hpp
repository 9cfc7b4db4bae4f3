// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/problem_case.hpp"

namespace CLI {
class App;
}

namespace kiln::tools {

/// The title of the flags of a problem.
inline constexpr std::string_view kProblemGroup = "Problem";

/// The flags of the problems of one operation.
class OperationFlags {
 public:
  OperationFlags() = default;
  OperationFlags(const OperationFlags&) = delete;
  OperationFlags& operator=(const OperationFlags&) = delete;
  virtual ~OperationFlags() = default;

  /// Declares them, in the group kProblemGroup. Both must live while the command line is parsed.
  virtual void add_to(CLI::App& verb) = 0;
  /// Flags of sizes that have no default.
  [[nodiscard]] virtual std::vector<std::string> size_flags() const = 0;
  /// The problem, with sizes near `default_size` where none was given. Throws Error(usage) that
  /// names the flag.
  [[nodiscard]] virtual ProblemCase request(std::int64_t default_size) const = 0;
};

/// The element type of that name. Throws Error(usage): "--dtype f61: ...".
[[nodiscard]] DType checked_dtype(std::string_view flag, std::string_view name);

}  // namespace kiln::tools
