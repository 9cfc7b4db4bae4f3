// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "kiln/error.hpp"
#include "tools/program.hpp"
#include "tools/transfer_report.hpp"

namespace kiln::tools {
namespace {

int import_file(Context& context, const std::string& file) {
  if (file == "-") {
    auto store = context.open_for_writing();
    return report_transfer(context, "import", import_trials(store, std::cin, "standard input"));
  }
  // Before the database, which would be made for nothing.
  std::ifstream in(file);
  if (!in) throw Error(ErrorKind::usage, fmt::format("{}: {}", file, std::strerror(errno)));
  auto store = context.open_for_writing();
  return report_transfer(context, "import", import_trials(store, in, file));
}

}  // namespace

void add_import(Program& program) {
  auto file = std::make_shared<std::string>();
  CLI::App* verb = program.add_verb(
      "import", "Add trials that `kiln export --database` wrote",
      {"kiln import trials.jsonl", "ssh box kiln export --database | kiln import -"});
  verb->add_option("file", *file, "JSON lines; - is standard input")->required()->type_name("");
  program.set_action(verb, [file](Context& context) { return import_file(context, *file); });
}

}  // namespace kiln::tools
