// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cache/exchange/transfer.hpp"
#include "kiln/error.hpp"
#include "templates/printable.hpp"
#include "templates/render/export_text.hpp"
#include "templates/render/renderer.hpp"
#include "tools/choice.hpp"
#include "tools/command_line/examples.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/problem_flags.hpp"
#include "tools/command_line/quantity.hpp"
#include "tools/command_line/selection.hpp"
#include "tools/output/json.hpp"
#include "tools/output/transfer_report.hpp"
#include "tools/output/units.hpp"
#include "tools/stored.hpp"
#include "tools/verbs/export_cubin.hpp"
#include "tools/verbs/trial_export.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::tools {
namespace {

struct ExportOptions {
  ProblemFlags problem;
  std::string template_name;
  std::vector<std::string> set;
  std::string arch;
  std::string on;
  std::string output;
  std::string format;
  std::string cubin;
  bool database = false;
};

int export_database(Context& context, const ExportOptions& options) {
  const auto store = context.open_for_reading(OpenMode::salvage);
  if (!store) throw Error(ErrorKind::not_found, "there is nothing to export");
  TrialFilter filter;
  if (options.problem.given()) filter.problem = options.problem.request().problem;
  std::ostringstream lines;
  const RowCount count = export_rows(*store, filter, lines);
  const std::string& fault = store->salvage_fault();
  if (!fault.empty()) {
    if (count == RowCount{}) {
      throw Error(ErrorKind::database, fmt::format("database {} {}; no row can be read. Next: move "
                                                   "the file away; Kiln creates a new database.",
                                                   store->path(), fault));
    }
    context.warn(fmt::format(
        "database {0} {1}; export writes only rows that can be read and match their digests. Next: "
        "`kiln doctor --db {2}` gives details. To repair the database, first run `kiln "
        "export --database --db {2} -o sound.jsonl`. Then move the database away, and run `kiln "
        "import sound.jsonl --db {2}`, which creates a new database.",
        store->path(), fault, shell_word(store->path())));
  } else {
    warn_of_corrupt_rows(context, *store);
  }
  write_file(options.output, lines.str());
  context.note(fmt::format("{} and {} exported", counted(count.trials, "trial"),
                           counted(count.sessions, "session")));
  return fault.empty() ? kExitOk : kExitFailure;
}

/// Whether a comment can have it.
bool is_one_line(const std::string& path) {
  return path.find_first_of("\r\n\\") == std::string::npos;
}

bool is_ptx(const RenderedKernel& rendered) {
  return rendered.options.route == CompileRoute::ptx;
}

int export_kernel(Context& context, const ExportOptions& options) {
  const Catalog& catalog = context.catalog();
  const ProblemCase request = options.problem.request();
  const Problem& problem = request.problem;
  require_kernel(problem);
  std::string name = options.template_name;
  DeviceLimits limits;
  Config config;
  std::string tuned_with;  // compiler of the measured kernel
  if (!name.empty()) {
    limits = context.limits(options.arch);
    config = choose_config(catalog.at(name), problem, limits, parse_choices("--set", options.set));
  } else {
    if (const auto why = why_nothing_to_tune(problem); !why.empty()) {
      throw Error(
          ErrorKind::usage,
          fmt::format("{}; to export a kernel anyway, name a template with --template", why));
    }
    const auto store = context.open_for_reading();
    if (!store)
      throw Error(
          ErrorKind::not_found,
          "no kernel to export; tune the problem first, or name a template with --template");
    const std::string tune_command = context.command("tune " + problem_words(request));
    const Trial best = stored_best(*store, catalog, problem, options.on, tune_command);
    name = best.key.template_name;
    config = best.key.config;
    if (catalog.find(name) == nullptr) {
      throw Error(ErrorKind::not_found,
                  fmt::format("the stored best kernel was made with another version of {}. Next: "
                              "`{}` tunes with the current version",
                              name, tune_command));
    }
    limits = known_limits(best.key.device.arch);
    // A grid may depend on these two, in which devices of an architecture differ.
    limits.sm_count = best.key.device.sm_count;
    limits.l2_bytes = best.key.device.l2_bytes;
    tuned_with = best.environment.toolkit;
  }
  const KernelTemplate& kernel_template = catalog.at(name);
  const auto rendered = render(catalog, kernel_template, config, problem, limits);
  std::optional<ExportedCubin> cubin;
  if (!options.cubin.empty()) {
    cubin =
        compile_for_export(*context.compiler(), kernel_template, rendered, limits.arch, tuned_with);
    const auto& bytes = cubin->code.cubin;
    std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    // The zero behind PTX is for the driver, not for a file.
    if (is_ptx(rendered)) content = content.substr(0, content.find('\0'));
    write_file(options.cubin, content);
  }
  const bool is_named = !context.flags.json && !options.output.empty() && options.output != "-" &&
                        is_one_line(options.output);
  const std::string text = export_text_as(is_named ? options.output : name + ".cu", rendered,
                                          kernel_template, problem, limits);
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
    document["compile"] = {{"options", rendered.options.flags},
                           {"route", is_ptx(rendered) ? "ptx" : "cubin"}};
    if (cubin) {
      document["cubin"] = {{"file", options.cubin},
                           {"bytes", cubin->code.cubin.size()},
                           {"compiler", cubin->compiler},
                           {"from_store", cubin->code.from_store}};
    }
    add_launches(document, kernel_template, rendered, problem, limits, cubin ? &*cubin : nullptr);
    document["text"] = text;
    write_file(options.output, json_text(document));
  }
  context.note(fmt::format("exported {} {}", name, config.canonical()));
  if (cubin) {
    const bool is_timed_code = cubin->code.from_store && cubin->compiler == tuned_with;
    context.note(fmt::format(
        "{} has the {} of {}{}", options.cubin,
        is_ptx(rendered) ? "PTX, which the driver compiles," : "machine code", cubin->compiler,
        is_timed_code        ? ", which was timed"
        : tuned_with.empty() ? ""
                             : "; it was compiled again, because the cubin store no longer has "
                               "the code that was timed"));
  }
  return kExitOk;
}

int export_something(Context& context, const ExportOptions& options) {
  const auto reject = [](const std::string& text) { throw Error(ErrorKind::usage, text); };
  if (!options.format.empty()) {
    if (options.database || !options.set.empty() || !options.arch.empty() ||
        !options.cubin.empty()) {
      reject("--format writes trials. Next: leave out --database, --set, --arch and --cubin");
    }
    TrialExport wanted{options.format, {}, options.template_name, options.on, options.output};
    if (options.problem.given()) wanted.request = options.problem.request();
    return export_trials(context, wanted);
  }
  if (options.cubin == "-") {
    reject("--cubin -: the source text already goes to stdout; give the name of a file");
  }
  if (options.database && !options.cubin.empty()) {
    reject(
        "--database exports rows, which have no machine code; omit --cubin, or omit --database "
        "and name a problem");
  }
  if (options.database) return export_database(context, options);
  if (!options.problem.given()) {
    reject(
        fmt::format("export: name a problem (`{}`) to export a kernel, or give --database or "
                    "--format to export "
                    "the stored trials",
                    example("beginning")));
  }
  if (!options.set.empty() && options.template_name.empty()) {
    reject(std::string(kSetNeedsTemplate));
  }
  return export_kernel(context, options);
}

}  // namespace

Action add_export(CLI::App& verb, const Operation& operation) {
  auto options = std::make_shared<ExportOptions>();
  options->problem.add_to(verb, operation, ProblemFlags::Word::optional);
  auto& o = *options;
  verb.add_flag(
      "--database", o.database,
      "Write all trials and tuning sessions as JSON lines; with a problem, only those of this "
      "problem");
  verb.add_option("--format", o.format,
                  "Write trials in FORMAT: kernel_tuner, t4 or csv; the first two need a problem")
      ->type_name("FORMAT");
  verb.add_option(
          "--template", o.template_name,
          "Export a kernel of TEMPLATE (default: the best stored kernel), or only trials of "
          "TEMPLATE")
      ->type_name("TEMPLATE");
  verb.add_option("--set", o.set,
                  "With --template: fix the values of some tunables. The other tunables stay as "
                  "close to their defaults as possible")
      ->type_name("NAME=V,...");
  verb.add_option("--arch", o.arch,
                  "With --template: respect the hardware limits of ARCH (default: the limits of "
                  "the device)")
      ->type_name("ARCH");
  verb.add_option("--on", o.on,
                  "Export the best kernel, or the trials, of the device whose name or architecture "
                  "contains TEXT")
      ->type_name("TEXT");
  verb.add_option("--cubin", o.cubin,
                  "Also write the machine code to FILE. For the best stored kernel, this is the "
                  "code that was timed, as long as the cubin store has it. With --json, the "
                  "document lists the launches")
      ->type_name("FILE");
  verb.add_option("-o,--output", o.output, "File to write (default: stdout)")->type_name("FILE");
  return [options](Context& context) { return export_something(context, *options); };
}

}  // namespace kiln::tools
