// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cache/files/session_lock.hpp"
#include "tools/command_line/examples.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/history.hpp"
#include "tools/output/how_to_use.hpp"
#include "tools/output/json.hpp"
#include "tools/output/table.hpp"
#include "tools/output/transfer_report.hpp"
#include "tools/output/trial_text.hpp"
#include "tools/output/units.hpp"
#include "tools/stored.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::tools {
namespace {

struct ListOptions {
  std::string on;
};

/// One line, with the state of the last run, which the row itself cannot know: its process may have
/// been killed.
struct Line {
  ProblemSummary summary;
  std::string last_run;
  Outdated outdated = Outdated::no;  ///< the best, because nothing else is there
};

std::vector<Line> lines_of(const TuningStore& store, const Catalog& catalog,
                           const std::string& on) {
  Present present(catalog);
  ProblemFilter filter;
  filter.admits = [&](const Problem& problem, const Contender& contender) {
    return present.outdated(problem, contender) == Outdated::no;
  };
  std::vector<ProblemSummary> summaries = select(store.summaries(filter), on);
  std::vector<Line> lines;
  lines.reserve(summaries.size());
  for (ProblemSummary& summary : summaries) {
    const auto& session = summary.last_session;
    std::string last_run = session ? state_now(store.path(), *session) : "";
    const bool is_past = summary.best && !summary.is_admitted;
    const Outdated outdated = is_past ? present.outdated(*summary.best) : Outdated::no;
    lines.push_back({std::move(summary), std::move(last_run), outdated});
  }
  return lines;
}

Json line_json(const Line& line) {
  const ProblemSummary& summary = line.summary;
  Json json;
  json["problem"] = to_json(summary.problem);
  json["device"] = to_json(summary.device);
  json["provenance"] = to_string(summary.provenance);
  json["trials"] = summary.trials;
  json["ok"] = summary.ok;
  json["failed"] = summary.failed;
  json["last_session_state"] = line.last_run;
  json["best"] = summary.best ? to_json(*summary.best) : Json();
  if (line.outdated != Outdated::no) json["best_is_of"] = to_string(line.outdated);
  return json;
}

int list_database(Context& context, const ListOptions& options) {
  // Rates need the operations of the template path.
  const Catalog& catalog = context.catalog();
  std::vector<Line> lines;
  if (const auto store = context.open_for_reading()) {
    lines = lines_of(*store, catalog, options.on);
    warn_of_corrupt_rows(context, *store);
  }
  if (context.flags.json) {
    Json document = json_document("list");
    document["database"] = context.database().value;
    document["problems"] = Json::array();
    for (const Line& line : lines) document["problems"].push_back(line_json(line));
    context.print(json_text(document));
    return kExitOk;
  }
  using enum Table::Align;
  Table table({{"problem"},
               {"device"},
               {"best"},
               {"time", right},
               {"rate", right},
               {"trials ok", right},
               {"trials failed", right},
               {"last run"}});
  for (const auto& [summary, last_run, outdated] : lines) {
    const auto& best = summary.best;
    const bool is_imported = summary.provenance == Provenance::imported;
    std::string name = best          ? best->key.template_name
                       : is_imported ? "none: only imported results"
                                     : "none";
    if (outdated != Outdated::no) name += fmt::format(" ({})", to_string(outdated));
    table.add_row({heading_text(summary.problem),
                   fmt::format("{} {}{}", summary.device.name, summary.device.arch,
                               summary.provenance == Provenance::modelled ? " (emulated)" : ""),
                   name, best ? merit_text(*best) : "",
                   best && best->timing ? rate_text(summary.problem, best->timing->median_ns) : "",
                   count_text(summary.ok), count_text(summary.failed), last_run});
  }
  if (table.empty()) {
    context.note(fmt::format("nothing is stored yet; start with `{}`",
                             context.command("tune " + example("problem"))));
  } else {
    context.print(table.text());
  }
  return kExitOk;
}

}  // namespace

Action add_list(CLI::App& verb, const Operation& /*operation*/) {
  auto options = std::make_shared<ListOptions>();
  verb.add_option("--on", options->on,
                  "Show only results from devices whose name or architecture contains TEXT")
      ->type_name("TEXT");
  return [options](Context& context) { return list_database(context, *options); };
}

}  // namespace kiln::tools
