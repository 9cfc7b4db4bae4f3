// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "kiln/error.hpp"
#include "kiln/version.hpp"
#include "templates/nearest_name.hpp"
#include "tools/exit_code.hpp"
#include "tools/output/json.hpp"

namespace kiln::tools {
namespace {

constexpr std::size_t kHelpColumn = 30;
constexpr std::string_view kJsonFlag = "--json";

constexpr const char* kFooter =
    "\nStart with:\n"
    "  kiln doctor\n"
    "  kiln tune gemm --m 4096 --n 4096 --k 4096 --dtype f16\n"
    "  kiln show gemm --m 4096 --n 4096 --k 4096 --dtype f16\n"
    "\nResults go to standard output, talk to standard error. Exit codes: 0 ok, 1 failure, 2 "
    "usage,\n"
    "3 no valid candidate, 4 no device or driver, 5 database, 6 budget ended before any result,\n"
    "130 interrupted. `kiln VERB --help` has the flags and examples of a verb.";

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

/// The names that were possible where the parser stopped: flags of the verb and of the program.
std::vector<std::string> known_words(const CLI::App& app) {
  std::vector<std::string> words;
  const auto add_flags = [&](const CLI::App& owner) {
    for (const auto* option : owner.get_options()) {
      for (const auto& name : option->get_lnames()) words.push_back("--" + name);
    }
  };
  add_flags(app);
  const auto verbs = app.get_subcommands();
  for (const auto* verb : verbs) add_flags(*verb);
  if (verbs.empty()) {
    for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
      if (!verb->get_group().empty()) words.push_back(verb->get_name());
    }
  }
  return words;
}

}  // namespace

Program::Program()
    : app_("Kiln tunes CUDA kernels for the GPU at hand and keeps the best.", "kiln") {
  app_.get_formatter()->column_width(kHelpColumn);
  app_.require_subcommand(1);
  app_.set_version_flag("--version", "kiln " KILN_VERSION_STRING);
  app_.footer(kFooter);
  auto& flags = context_.flags;
  app_.add_option("--db", flags.database, "Tuning database (KILN_DB)")->type_name("FILE");
  app_.add_option("--cubin-store", flags.cubin_store, "Compiled kernels")->type_name("FILE");
  app_.add_option("--device", flags.device, "cuda:0 or emulated:h200 (KILN_DEVICE)")
      ->type_name("SPEC");
  app_.add_option("--template-path", flags.template_path,
                  "Directories of your own templates (KILN_TEMPLATE_PATH)")
      ->type_name("DIR[:DIR...]");
  app_.add_option("--cuda-include", flags.cuda_include,
                  "Where cuda_fp16.h lies (KILN_CUDA_INCLUDE)")
      ->type_name("DIR");
  app_.add_option("--color", flags.colour, "auto, always or never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app_.add_flag(std::string(kJsonFlag), flags.json, "Results as JSON");
  app_.add_flag("-q,--quiet", flags.quiet, "No progress and no notes");
  app_.add_flag("-v,--verbose", flags.verbose, "Each trial as it ends");

  add_tune(*this);
  add_templates(*this);
  add_list(*this);
  add_show(*this);
  add_verify(*this);
  add_inspect(*this);
  add_bench(*this);
  add_run(*this);
  add_render(*this);
  add_export(*this);
  add_import(*this);
  add_merge(*this);
  add_prune(*this);
  add_doctor(*this);
  add_worker(*this);
}

CLI::App* Program::add_verb(const std::string& name, const std::string& purpose,
                            const std::vector<std::string>& examples) {
  CLI::App* verb = app_.add_subcommand(name, purpose);
  verb->fallthrough();
  std::string footer = "\nExamples:\n";
  for (const auto& example : examples) footer += fmt::format("  {}\n", example);
  verb->footer(footer + "\nFlags of every verb (--db, --device, --json, ...): kiln --help");
  return verb;
}

void Program::set_action(CLI::App* verb, std::function<int(Context&)> action) {
  verb->callback([this, act = std::move(action)] { action_ = act; });
}

std::string Program::missing_verb() const {
  const auto words = app_.remaining();
  const auto verbs = known_words(app_);
  if (!words.empty()) {
    return fmt::format("{}: no such verb{}", words.front(), did_you_mean(words.front(), verbs));
  }
  return "a verb is missing: tune, templates, list, show, verify, inspect, bench, run, render, "
         "export, import, "
         "merge, prune or doctor";
}

std::string Program::explain(const CLI::ParseError& error) const {
  const auto verbs = app_.get_subcommands();
  const std::string help =
      verbs.empty() ? "kiln --help" : fmt::format("kiln {} --help", verbs.front()->get_name());
  std::string text = error.what();
  if (const auto end = text.find_last_not_of(" \n"); end != std::string::npos) text.resize(end + 1);
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    auto extras = app_.remaining(true);
    // Fallthrough reports a verb's surplus words in the wrong order; the first that looks like a
    // flag is the one that was mistyped, and its values follow from it.
    const auto flag = std::find_if(extras.begin(), extras.end(),
                                   [](const std::string& word) { return word.starts_with("-"); });
    const std::string word = flag != extras.end() ? *flag : extras.empty() ? "" : extras.front();
    text = fmt::format("{}: not expected here{}", word,
                       did_you_mean(word.substr(0, word.find('=')), known_words(app_)));
  } else if (error.get_name() == "RequiredError" && verbs.empty()) {
    text = missing_verb();
  } else if (error.get_name() == "RequiredError" && text == "operation is required") {
    text = "what to compute is missing: say gemm";
  }
  return fmt::format("{}\nkiln: see {}", text, help);
}

int Program::parse_and_act(int argc, const char* const* argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto verbs = app_.get_subcommands();
    write_stdout(verbs.empty() ? app_.help() : verbs.front()->help(app_.get_name()));
    return kExitOk;
  } catch (const CLI::CallForVersion& version) {
    write_stdout(fmt::format("{}\n", version.what()));
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    return report("usage", explain(error), kExitUsage);
  }
  const int exit_code = action_(context_);
  if (exit_code == kExitInterrupted && !context_.printed()) {
    return report("interrupted", "interrupted before there was a result", exit_code);
  }
  return exit_code;
}

int Program::report(std::string_view kind, const std::string& message, int exit_code) const {
  write_stderr(fmt::format("kiln: {}\n", message));
  if (!json_ || context_.printed()) return exit_code;
  Json document = json_document("error");
  const auto verbs = app_.get_subcommands();
  if (!verbs.empty()) document["verb"] = verbs.front()->get_name();
  document["kind"] = kind;
  document["message"] = message;
  document["exit_code"] = exit_code;
  try {
    write_stdout(json_text(document));
  } catch (const Error&) {
    // Standard output is what failed; standard error has the message.
  }
  return exit_code;
}

int Program::run(int argc, const char* const* argv) {
  json_ = std::any_of(argv, argv + argc, [](const char* word) { return word == kJsonFlag; });
  try {
    return parse_and_act(argc, argv);
  } catch (const Error& error) {
    return report(name_of(error.kind()), error.what(), exit_code_of(error.kind()));
  } catch (const std::exception& error) {
    return report("internal", fmt::format("internal error: {}", error.what()), kExitFailure);
  }
}

}  // namespace kiln::tools
