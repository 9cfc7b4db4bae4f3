// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "kiln/error.hpp"
#include "kiln/version.hpp"
#include "templates/operation/operation.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/parse_error.hpp"
#include "tools/output/json.hpp"
#include "tools/stop_signal.hpp"

namespace kiln::tools {
namespace {

std::string_view name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::template_:
      return "template";
    case ErrorKind::device:
      return "device";
    case ErrorKind::compiler:
      return "compiler";
    case ErrorKind::database:
      return "database";
    case ErrorKind::not_found:
      return "not_found";
    case ErrorKind::internal:
      return "internal";
  }
  return "internal";
}

/// The library names a variable, where a person at the command line has a flag as well.
std::string with_flag(std::string message) {
  constexpr std::string_view kVariable = "KILN_DEVICE=emulated:h200";
  constexpr std::string_view kFlag = "--device emulated:h200";
  const auto at = message.find(kVariable);
  if (at == std::string::npos || message.find(kFlag) != std::string::npos) return message;
  return message.insert(at, fmt::format("{}, or ", kFlag));
}

}  // namespace

Program::Program(AskedOperation asked) : asked_(std::move(asked)), app_("", "kiln") {
  app_.require_subcommand(1);
  app_.set_help_flag("-h,--help",
                     "Print help and exit; `kiln VERB --help` prints the help of one verb");
  app_.set_help_all_flag("--help-all", "Like --help, but list all flags");
  app_.set_version_flag("--version", "kiln " KILN_VERSION_STRING, "Print the version and exit");
  add_global_flags(app_, context_.flags);
  check_closed_values(app_);
  for (const Verb& verb : verbs()) add_verb(verb);
}

void Program::add_verb(const Verb& verb) {
  CLI::App* parser = app_.add_subcommand(verb.name, verb.purpose);
  parser->group(verb.group);
  parser->fallthrough();
  parser->callback([this, act = verb.add(*parser, *asked_.operation)] { action_ = act; });
  check_closed_values(*parser);
}

int Program::help(HelpDetail detail) const {
  const Manual all = manual();
  const auto typed = app_.get_subcommands();
  // The parser looks for --help before it looks at words that it does not know.
  if (const auto unknown = app_.remaining(); typed.empty() && !unknown.empty()) {
    return report("usage", explain(CLI::RequiredError::Subcommand(1)), kExitUsage);
  }
  const VerbText* verb = typed.empty() ? nullptr : all.find(typed.front()->get_name());
  write_stdout(verb == nullptr ? help_text(all, detail) : help_text(*verb, detail));
  return kExitOk;
}

std::string Program::explain(const CLI::ParseError& error) const {
  const auto typed = app_.get_subcommands();
  const std::string help =
      typed.empty() ? "kiln --help" : fmt::format("kiln {} --help", typed.front()->get_name());
  std::string text = parse_error_text(error, app_);
  if (text.starts_with("operation: ") && context_.template_path().value.empty()) {
    text += "; --template-path names folders with operations of your own";
  }
  return fmt::format("{}\nkiln: see {}", text, help);
}

/// A missing flag or device matters less than the mistake in the file that the problem is of.
int Program::act() {
  context_.asked_error = asked_.error;
  try {
    return action_(context_);
  } catch (const Error&) {
    if (!asked_.error) throw;
  }
  throw Error(*asked_.error);
}

int Program::parse_and_act(int argc, const char* const* argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return help(HelpDetail::screen);
  } catch (const CLI::CallForAllHelp&) {
    return help(HelpDetail::all);
  } catch (const CLI::CallForVersion& version) {
    write_stdout(fmt::format("{}\n", version.what()));
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    // Flags of an operation in files that can't be read are no mistake of the command line.
    if (asked_.error) throw Error(*asked_.error);
    if (asked_.suspicion) throw Error(*asked_.suspicion);
    return report("usage", explain(error), kExitUsage);
  }
  int exit_code = kExitInterrupted;
  try {
    exit_code = act();
  } catch (const Interrupted&) {
    // As if it had returned that.
  }
  if (exit_code == kExitInterrupted && !context_.printed()) {
    return report("interrupted", "interrupted before there was a result", exit_code);
  }
  return exit_code;
}

int Program::report(std::string_view kind, const std::string& message, int exit_code) const {
  write_stderr(fmt::format("kiln: {}\n", message));
  if (!json_ || context_.printed()) return exit_code;
  Json document = json_document("error");
  const auto typed = app_.get_subcommands();
  if (!typed.empty()) document["verb"] = typed.front()->get_name();
  document["kind"] = kind;
  document["message"] = message;
  document["exit_code"] = exit_code;
  try {
    write_stdout(json_text(document));
  } catch (const Error&) {
    // stdout is what failed; stderr has the message.
  }
  return exit_code;
}

int Program::run(int argc, const char* const* argv) {
  json_ = std::any_of(argv, argv + argc, [](const char* word) { return word == kJsonFlag; });
  try {
    return parse_and_act(argc, argv);
  } catch (const Error& error) {
    return report(name_of(error.kind()), with_flag(error.what()), exit_code_of(error.kind()));
  } catch (const std::exception& error) {
    return report("internal", fmt::format("internal error: {}", error.what()), kExitFailure);
  }
}

}  // namespace kiln::tools
