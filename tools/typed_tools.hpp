// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tools/command_line/operation_flags.hpp"
#include "tools/problem_run.hpp"

namespace kiln::tools {

/// How the program speaks of a typed operation (templates/operation/typed_operation.hpp), and how
/// it runs one: what else follows from a declaration.
struct TypedTools {
  std::string_view operation;
  std::unique_ptr<OperationFlags> (*flags)();
  /// problem_words() without the operation's name.
  std::string (*flags_text)(const ProblemCase& one);
  /// heading_text().
  std::string (*heading)(const Problem& problem);
  /// case_of().
  ProblemCase (*case_of)(const Problem& problem);
  /// cpp_snippet() behind the line that opens the library.
  std::string (*snippet)(const ProblemCase& one);
  /// What `kiln run` does.
  std::unique_ptr<ProblemRun> (*run)(const ProblemCase& one, std::uint64_t seed);
};

/// nullptr: the declaration says everything. Thread-safe.
[[nodiscard]] const TypedTools* find_typed_tools(std::string_view operation);

}  // namespace kiln::tools
