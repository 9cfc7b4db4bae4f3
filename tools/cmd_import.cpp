// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "tools/file_input.hpp"
#include "tools/program.hpp"
#include "tools/transfer_report.hpp"

namespace kiln::tools {
namespace {

int import_file(Context& context, const std::string& file) {
  // Before the database, which would be made for nothing.
  FileInput in(file);
  (void)in.peek();
  auto store = context.open_for_writing();
  return report_transfer(context, "import", import_rows(store, in, in.name()));
}

}  // namespace

void add_import(Program& program) {
  auto file = std::make_shared<std::string>();
  CLI::App* verb = program.add_verb(
      "import", "Add trials and sessions that `kiln export --database` wrote",
      {"kiln import trials.jsonl", "ssh box kiln export --database | kiln import -"});
  verb->add_option("file", *file, "JSON lines; - is standard input")->required()->type_name("");
  program.set_action(verb, [file](Context& context) { return import_file(context, *file); });
}

}  // namespace kiln::tools
