// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "templates/operation/operation.hpp"
#include "tools/context.hpp"

namespace kiln::tools {

/// What a verb does once the command line is parsed; returns the exit code.
using Action = std::function<int(Context&)>;

/// A verb as the registry has it. Help, errors, completions, the manual page and the tables of the
/// documentation know it from here.
struct Verb {
  const char* name;
  const char* group;    ///< its heading in help; "" hides a verb that only programs start
  const char* device;   ///< what it needs to run on, for the table of verbs
  const char* purpose;  ///< one line in the imperative, without a full stop
  const char* details;  ///< further sentences for help and manual, or ""
  std::vector<std::string> examples;  ///< whole commands
  /// Declares arguments and flags on the verb's parser. A value's type name says what it is: it
  /// must be a row of value_kinds(). Flags of a problem are those of `operation`.
  Action (*add)(CLI::App& verb, const Operation& operation);
};

/// Every verb, in the order in which help lists them.
[[nodiscard]] const std::vector<Verb>& verbs();
/// What to type first, for people who have just installed the program.
[[nodiscard]] const std::vector<std::string>& first_commands();

}  // namespace kiln::tools
