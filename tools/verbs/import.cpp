// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "cache/exchange/transfer.hpp"
#include "kiln/error.hpp"
#include "tools/command_line/file_input.hpp"
#include "tools/output/transfer_report.hpp"
#include "tools/verbs/foreign_import.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::tools {
namespace {

struct ImportOptions {
  std::string file;
  ProblemFlags problem;
  std::string template_name;
  std::string arch;
  std::string gpu;
};

int import_lines(Context& context, const std::string& file) {
  refuse_foreign_file(file);
  // Opened first, so that a missing file creates no database.
  FileInput in(file);
  (void)in.peek();
  auto store = context.open_for_writing();
  return report_transfer(context, "import", import_rows(store, in, in.name()));
}

int import_file(Context& context, const ImportOptions& options) {
  const bool has_problem = options.problem.given();
  const bool has_template = !options.template_name.empty();
  if (has_problem && has_template) {
    return import_foreign(context, {options.file, options.problem.request(), options.template_name,
                                    options.arch, options.gpu});
  }
  if (has_problem) {
    throw Error(ErrorKind::usage,
                "a problem is only for results of another autotuner. Next: add the template whose "
                "configurations were measured, with --template");
  }
  if (has_template || !options.arch.empty() || !options.gpu.empty()) {
    throw Error(ErrorKind::usage,
                "--template, --arch and --gpu are only for results of another autotuner. Next: add "
                "the problem that was measured, as for `kiln tune`");
  }
  return import_lines(context, options.file);
}

}  // namespace

Action add_import(CLI::App& verb, const Operation& operation) {
  auto options = std::make_shared<ImportOptions>();
  auto& o = *options;
  verb.add_option("file", o.file,
                  "JSON lines of `kiln export --database`, a cache file of Kernel Tuner or a T4 "
                  "file; - means stdin")
      ->required()
      ->type_name("FILE");
  o.problem.add_to(verb, operation, ProblemFlags::Word::optional);
  verb.add_option("--template", o.template_name,
                  "For results of another autotuner: the template whose configurations were "
                  "measured")
      ->type_name("TEMPLATE");
  verb.add_option("--arch", o.arch,
                  "For results of another autotuner: the architecture of the GPU that was measured")
      ->type_name("ARCH");
  verb.add_option("--gpu", o.gpu,
                  "For results of another autotuner: the name of the GPU that was measured "
                  "(default: the name in the file)")
      ->type_name("TEXT");
  return [options](Context& context) { return import_file(context, *options); };
}

}  // namespace kiln::tools
