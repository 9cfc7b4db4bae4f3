// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/asked_operation.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "templates/catalog.hpp"
#include "tools/command_line/quantity.hpp"

namespace kiln::tools {
namespace {

/// Words of the command line that are no global flags, the verb first.
std::vector<std::string> words_without_global_flags(int argc, const char* const* argv,
                                                    GlobalFlags& flags) {
  CLI::App app("", "kiln");
  app.set_help_flag();
  app.allow_extras();
  add_global_flags(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError&) {
    return {};  // the real parser says what is wrong
  }
  return app.remaining();
}

/// What of the template path the words name. Throws if that cannot be read.
AskedOperation declared_operation(const std::vector<std::string>& words, const Context& context,
                                  const AskedOperation& usual) {
  const Catalog catalog = Catalog::with_sound_files(
      split_list(context.template_path().value, ':'),
      {split_list(context.flags.include, ':'), context.cuda_include().value});
  const auto has_template = [&](const Operation& operation) {
    return std::ranges::any_of(catalog.templates(), [&](const KernelTemplate& each) {
      return each.operation() == operation.name;
    });
  };
  for (const std::string& word : words) {
    const BrokenFile* file = catalog.find_broken(word);
    const KernelTemplate* const named = catalog.find(word);
    const Operation* const operation =
        find_operation(named != nullptr ? std::string_view(named->operation()) : word);
    if (operation == nullptr && file == nullptr) continue;
    if (operation == nullptr && file->name != word) {
      // Its template misses the operation, which a file without a legible name would declare.
      const auto nameless = std::ranges::find(catalog.broken(), "", &BrokenFile::name);
      if (nameless != catalog.broken().end()) file = &*nameless;
    }
    AskedOperation asked{operation};
    if (operation == nullptr) asked.operation = find_operation(file->operation);
    if (asked.operation == nullptr) asked.operation = usual.operation;
    // With another template it can be used.
    const bool usable = operation != nullptr && has_template(*operation);
    if (file != nullptr && !usable) asked.error = file->error;
    return asked;
  }
  AskedOperation asked = usual;
  // A misspelt key hides what a file declares.
  if (!catalog.broken().empty()) asked.suspicion = catalog.broken().front().error;
  return asked;
}

}  // namespace

void add_global_flags(CLI::App& app, GlobalFlags& flags) {
  const auto add = [&](const char* name, std::string& value, const char* kind, const char* text) {
    app.add_option(name, value, text)->type_name(kind);
  };
  add("--db", flags.database, "FILE",
      "Tuning database (default: kiln/tuning.db in $XDG_DATA_HOME or ~/.local/share)");
  add("--cubin-store", flags.cubin_store, "FILE",
      "Store of compiled kernels (default: kiln/cubins.db in $XDG_CACHE_HOME or ~/.cache)");
  add("--device", flags.device, "DEVICE",
      "Real GPU such as cuda:0, or emulated GPU such as emulated:h200 (default: emulated:h200 for "
      "verify and inspect, cuda:0 for all other verbs)");
  add("--template-path", flags.template_path, "DIR[:DIR...]",
      "Folders with templates of your own (default: none)");
  add("--include", flags.include, "DIR[:DIR...]",
      "Folders with headers for templates of your own (default: none)");
  add("--cuda-include", flags.cuda_include, "DIR",
      "Folder that contains cuda_fp16.h (default: Kiln searches next to NVRTC, then in the "
      "installed CUDA toolkit)");
  add("--color", flags.colour, "WHEN", "When to use colour (default auto: only on a terminal)");
  app.add_flag(std::string(kJsonFlag), flags.json, "Print results as JSON");
  app.add_flag("-q,--quiet", flags.quiet, "Print no progress and no notes");
  app.add_flag("-v,--verbose", flags.verbose, "Print each trial when it ends");
}

AskedOperation asked_operation(int argc, const char* const* argv) {
  const AskedOperation usual{operations().front()};
  Context context;
  auto words = words_without_global_flags(argc, argv, context.flags);
  if (words.empty()) return usual;
  words.erase(words.begin());
  std::erase_if(words, [](const std::string& word) { return word.starts_with('-'); });
  for (const std::string& word : words) {
    if (const Operation* operation = find_operation(word)) return {operation};
  }
  if (words.empty() || context.template_path().value.empty()) return usual;
  try {
    return declared_operation(words, context, usual);
  } catch (const Error& error) {
    return {usual.operation, std::nullopt, error};
  }
}

}  // namespace kiln::tools
