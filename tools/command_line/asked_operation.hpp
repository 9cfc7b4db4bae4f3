// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "kiln/error.hpp"
#include "templates/operation/operation.hpp"
#include "tools/context.hpp"

namespace kiln::tools {

inline constexpr std::string_view kJsonFlag = "--json";

/// Declares the flags that every verb takes.
void add_global_flags(CLI::App& app, GlobalFlags& flags);

/// The operation that a command line is about, whose flags its verb has to declare before the
/// line can be parsed.
struct AskedOperation {
  const Operation* operation = nullptr;
  /// Why it can't be used: the mistake of the file that was named, or of its only template.
  std::optional<Error> error = std::nullopt;
  /// Where nothing was named: a mistake that may hide what was meant, or why the path can't be
  /// read.
  std::optional<Error> suspicion = std::nullopt;
};
/// The first word behind the verb that names an operation, built in or declared below the template
/// path (which is read if no built-in one is named), or a template of one; else the first operation
/// that is built in. Never throws.
[[nodiscard]] AskedOperation asked_operation(int argc, const char* const* argv);

}  // namespace kiln::tools
