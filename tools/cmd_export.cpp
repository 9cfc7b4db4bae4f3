// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cache/locations.hpp"
#include "cache/private_folder.hpp"
#include "cache/salvage.hpp"
#include "cache/transfer.hpp"
#include "kiln/error.hpp"
#include "templates/renderer.hpp"
#include "tools/choice.hpp"
#include "tools/exit_code.hpp"
#include "tools/output/json.hpp"
#include "tools/problem_flags.hpp"
#include "tools/program.hpp"
#include "tools/quantity.hpp"
#include "tools/stored.hpp"

namespace kiln::tools {
namespace {

struct ExportOptions {
  ProblemFlags problem;
  std::string template_name;
  std::vector<std::string> set;
  std::string arch;
  std::string on;
  std::string output;
  bool database = false;
};

/// What can still be read of a damaged database, row by row.
RowCount export_readable(const std::string& database, const TrialFilter& filter,
                         std::ostream& lines) {
  std::string why;
  const auto scratch = PrivateFolder::make(temporary_files_path(), why);
  if (!scratch) throw Error(ErrorKind::usage, why);
  auto readable = TuningStore::open(scratch->path() + "/readable.db", OpenMode::read_write);
  (void)readable.record_all(salvage_trials(database));
  return export_rows(readable, filter, lines);
}

int export_database(Context& context, const ExportOptions& options) {
  const auto store = context.open_for_reading();
  if (!store) throw Error(ErrorKind::not_found, "there is nothing to export");
  TrialFilter filter;
  if (options.problem.given()) filter.problem = to_problem(options.problem.request().gemm);
  std::ostringstream lines;
  RowCount count;
  int exit_code = kExitOk;
  try {
    count = export_rows(*store, filter, lines);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::database) throw;
    lines.str("");
    count = export_readable(store->path(), filter, lines);
    if (count.trials == 0) throw;
    context.warn(fmt::format("{}\nkiln: exported is what can be read row by row", error.what()));
    exit_code = kExitFailure;
  }
  write_file(options.output, lines.str());
  context.note(fmt::format("{} trials and {} sessions exported", count.trials, count.sessions));
  return exit_code;
}

int export_kernel(Context& context, const ExportOptions& options) {
  const Catalog& catalog = context.catalog();
  const GemmRequest request = options.problem.request();
  const Problem problem = to_problem(request.gemm);
  std::string name = options.template_name;
  DeviceLimits limits;
  Config config;
  if (!name.empty()) {
    limits = context.limits(options.arch);
    config = choose_config(catalog.at(name), problem, limits, parse_choices("--set", options.set));
  } else {
    const auto store = context.open_for_reading();
    if (!store) throw Error(ErrorKind::not_found, "no kernel to export; tune first, or --template");
    const Trial best = stored_best(*store, problem, options.on,
                                   context.command("tune gemm " + flags_text(request)));
    name = best.key.template_name;
    config = best.key.config;
    if (catalog.find(name) == nullptr || catalog.digest(name) != best.key.template_digest) {
      throw Error(
          ErrorKind::not_found,
          fmt::format("the stored best was made from another {}; `{}` finds the best of the "
                      "present one",
                      name, context.command("tune gemm " + flags_text(request))));
    }
    limits = known_limits(best.key.device.arch);
  }
  const KernelTemplate& kernel_template = catalog.at(name);
  const auto rendered = render(catalog, kernel_template, config, problem, limits);
  const std::string text = export_text(rendered, kernel_template, problem, limits);
  if (!context.flags.json) {
    write_file(options.output, text);
  } else {
    Json document = json_document("export");
    document["problem"] = to_json(problem);
    document["arch"] = limits.arch;
    document["template"] = name;
    document["template_digest"] = rendered.template_digest;
    document["config"] = to_json(config);
    document["digest"] = rendered.digest;
    document["text"] = text;
    write_file(options.output, json_text(document));
  }
  context.note(fmt::format("exported {} {}", name, config.canonical()));
  return kExitOk;
}

int export_something(Context& context, const ExportOptions& options) {
  const auto reject = [](const char* text) { throw Error(ErrorKind::usage, text); };
  if (options.database) return export_database(context, options);
  if (!options.problem.given()) {
    reject("export: say what: `gemm --m ...` writes a kernel, --database the stored trials");
  }
  if (!options.set.empty() && options.template_name.empty()) {
    reject("--set: say of which template, like --template gemm_wmma");
  }
  return export_kernel(context, options);
}

}  // namespace

void add_export(Program& program) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* verb = program.add_verb(
      "export", "Write a kernel as one .cu file, or the database as JSON lines",
      {"kiln export gemm --m 4096 --n 4096 --k 4096 --dtype f16 -o best.cu",
       "kiln export gemm --m 512 --n 512 --k 512 --template gemm_tiled --set tile_m=64",
       "kiln export --database -o trials.jsonl"});
  options->problem.add_to(*verb, ProblemFlags::Operation::optional);
  auto& o = *options;
  verb->add_flag("--database", o.database, "Trials and sessions (of a problem, if one is given)");
  verb->add_option("--template", o.template_name, "This template, not the stored best")
      ->type_name("NAME");
  verb->add_option("--set", o.set, "With --template: values of tunables")->type_name("NAME=V,...");
  verb->add_option("--arch", o.arch, "With --template: limits of sm_80, sm_90a, ...")
      ->type_name("ARCH");
  verb->add_option("--on", o.on, "Best on the device whose name or architecture has this in it")
      ->type_name("TEXT");
  verb->add_option("-o,--output", o.output, "Default: standard output")->type_name("FILE");
  program.set_action(verb,
                     [options](Context& context) { return export_something(context, *options); });
}

}  // namespace kiln::tools
