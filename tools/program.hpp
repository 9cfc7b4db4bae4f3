// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "tools/context.hpp"

namespace kiln::tools {

/// The command line as a whole: the global flags, and the action of the verb that was typed.
class Program {
 public:
  Program();

  /// A verb with its one-line purpose and examples. Global flags may follow it.
  CLI::App* add_verb(const std::string& name, const std::string& purpose,
                     const std::vector<std::string>& examples);
  /// What the verb does once everything is parsed; returns the exit code.
  void set_action(CLI::App* verb, std::function<int(Context&)> action);

  /// Parses and acts. Never throws: an error is text on standard error, and with --json also the
  /// one document on standard output, unless a result is there already.
  int run(int argc, const char* const* argv);

 private:
  int parse_and_act(int argc, const char* const* argv);
  int report(std::string_view kind, const std::string& message, int exit_code) const;
  [[nodiscard]] std::string missing_verb() const;
  [[nodiscard]] std::string explain(const CLI::ParseError& error) const;

  CLI::App app_;
  Context context_;
  std::function<int(Context&)> action_;
  bool json_ = false;  ///< also where the command line could not be parsed to its end
};

/// Each adds its verb.
void add_tune(Program& program);
void add_templates(Program& program);
void add_list(Program& program);
void add_show(Program& program);
void add_verify(Program& program);
void add_inspect(Program& program);
void add_bench(Program& program);
void add_run(Program& program);
void add_render(Program& program);
void add_export(Program& program);
void add_import(Program& program);
void add_merge(Program& program);
void add_prune(Program& program);
void add_doctor(Program& program);
void add_worker(Program& program);

}  // namespace kiln::tools
