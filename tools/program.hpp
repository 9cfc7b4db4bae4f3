// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "templates/operation/operation.hpp"
#include "tools/command_line/asked_operation.hpp"
#include "tools/command_line/help.hpp"
#include "tools/command_line/manual.hpp"
#include "tools/context.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::tools {

/// The command line as a whole: the global flags, and the action of the verb that was typed.
class Program {
 public:
  /// Flags of a problem are those of the operation that was asked for.
  explicit Program(AskedOperation asked = {operations().front()});

  /// Parses and acts. Never throws: an error is text on stderr, and with --json also the one
  /// document on stdout, unless a result is there already.
  int run(int argc, const char* const* argv);

  /// What people can read of it.
  [[nodiscard]] Manual manual() const { return manual_of(app_); }

 private:
  void add_verb(const Verb& verb);
  int parse_and_act(int argc, const char* const* argv);
  int act();
  int report(std::string_view kind, const std::string& message, int exit_code) const;
  /// Of the program, or of the verb that was typed.
  int help(HelpDetail detail) const;
  [[nodiscard]] std::string explain(const CLI::ParseError& error) const;

  AskedOperation asked_;
  CLI::App app_;
  Context context_;
  Action action_;
  bool json_ = false;  ///< also where the command line could not be parsed to its end
};

}  // namespace kiln::tools
