// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "tools/command_line/file_input.hpp"
#include "tools/output/transfer_report.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::tools {
namespace {

int import_file(Context& context, const std::string& file) {
  // Opened first, so that a missing file creates no database.
  FileInput in(file);
  (void)in.peek();
  auto store = context.open_for_writing();
  return report_transfer(context, "import", import_rows(store, in, in.name()));
}

}  // namespace

Action add_import(CLI::App& verb, const Operation& /*operation*/) {
  auto file = std::make_shared<std::string>();
  verb.add_option("file", *file, "File of JSON lines; - means stdin")
      ->required()
      ->type_name("FILE");
  return [file](Context& context) { return import_file(context, *file); };
}

}  // namespace kiln::tools
