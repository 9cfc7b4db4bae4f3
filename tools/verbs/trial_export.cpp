// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/trial_export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "cache/exchange/foreign_trials.hpp"
#include "cache/exchange/foreign_writer.hpp"
#include "cache/exchange/trial_csv.hpp"
#include "kiln/error.hpp"
#include "templates/operation/judge.hpp"
#include "templates/space/compile_settings.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/output/transfer_report.hpp"
#include "tools/output/trial_text.hpp"
#include "tools/output/units.hpp"
#include "tools/stored.hpp"

namespace kiln::tools {
namespace {

[[noreturn]] void refuse_export(const std::string& text) {
  throw Error(ErrorKind::usage, text);
}

std::vector<Trial> wanted_trials(const TuningStore& store, const TrialExport& wanted) {
  TrialFilter filter;
  if (wanted.request) filter.problem = wanted.request->problem;
  filter.template_name = wanted.template_name;
  std::vector<Trial> trials = store.trials(filter);
  std::set<std::string> devices;
  for (const Trial& trial : trials) devices.insert(device_text(trial.key.device));
  std::erase_if(trials, [&](const Trial& trial) { return !meant_by(trial.key.device, wanted.on); });
  if (trials.empty() && !devices.empty()) {
    throw Error(ErrorKind::not_found,
                fmt::format("--on {}: no trial is from such a device. The trials are from these "
                            "devices:\n  {}",
                            wanted.on, fmt::join(devices, "\n  ")));
  }
  return trials;
}

/// Throws if there are several, with the flag that chooses one.
template <class NameOf>
void require_one(const std::vector<Trial>& trials, std::string_view what, std::string_view flag,
                 const NameOf& name_of) {
  std::set<std::string> names;
  for (const Trial& trial : trials) names.insert(name_of(trial));
  if (names.size() < 2) return;
  refuse_export(
      fmt::format("a file of this format has the results of one {}. Next: choose one of "
                  "these with {}:\n  {}",
                  what, flag, fmt::join(names, "\n  ")));
}

/// Results of other autotuners have no verdict, and need none.
bool has_current_verdict(const Trial& trial) {
  const Operation* const operation = find_operation(trial.key.problem.operation);
  return trial.provenance == Provenance::imported || operation == nullptr ||
         trial.judge_digest == judge_digest(*operation);
}

/// The latest trial of each configuration, in the order in which they were first tried. Measured
/// times and others do not mix: only the strongest provenance is left, and only the newest state of
/// the template.
std::vector<Trial> latest_results(std::vector<Trial> trials, const Catalog& catalog) {
  // Other tools have no place for settings of the compiler.
  std::erase_if(trials, [](const Trial& trial) {
    return trial.provenance == Provenance::compiled || has_settings(trial.key.config);
  });
  if (trials.empty()) return trials;
  const std::string& name = trials.front().key.template_name;
  const std::string digest = catalog.find(name) != nullptr ? catalog.digest(name) : "";
  const bool is_current = std::ranges::any_of(
      trials, [&](const Trial& trial) { return trial.key.template_digest == digest; });
  const std::string state = is_current ? digest : trials.back().key.template_digest;
  std::erase_if(trials, [&](const Trial& trial) { return trial.key.template_digest != state; });
  // Verdicts of an operation that has changed since count only if there are no others.
  if (std::ranges::any_of(trials, has_current_verdict)) {
    std::erase_if(trials, [](const Trial& trial) { return !has_current_verdict(trial); });
  }
  const Provenance strongest = std::ranges::min_element(trials, {}, [](const Trial& trial) {
                                 return trial.provenance;
                               })->provenance;
  std::erase_if(trials, [&](const Trial& trial) { return trial.provenance != strongest; });
  std::vector<Trial> latest;
  std::map<Config, std::size_t> places;
  for (Trial& trial : trials) {
    const auto [place, is_new] = places.try_emplace(trial.key.config, latest.size());
    if (is_new) {
      latest.push_back(std::move(trial));
    } else {
      latest[place->second] = std::move(trial);
    }
  }
  return latest;
}

/// The values of each tunable: those of the template, else those that occur.
std::vector<std::vector<ForeignValue>> value_lists(const ForeignResults& file,
                                                   const KernelTemplate* kernel_template) {
  std::vector<std::vector<ForeignValue>> lists(file.names.size());
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (kernel_template != nullptr) {
      for (const Tunable& tunable : kernel_template->space_spec().tunables) {
        if (tunable.name != file.names[i]) continue;
        for (const std::int64_t value : tunable.values) lists[i].push_back(foreign_value_of(value));
      }
    }
    for (const ForeignResult& result : file.results) {
      const ForeignValue& value = result.values[i];
      if (std::ranges::find(lists[i], value) == lists[i].end()) lists[i].push_back(value);
    }
  }
  return lists;
}

std::string foreign_text(const Catalog& catalog, const TrialExport& wanted,
                         const std::vector<Trial>& trials) {
  const std::string& name = trials.front().key.template_name;
  const KernelTemplate* const kernel_template = catalog.find(name);
  std::vector<std::string> names;
  if (kernel_template != nullptr) {
    for (const Tunable& tunable : kernel_template->space_spec().tunables) {
      if (trials.front().key.config.find(tunable.name)) names.push_back(tunable.name);
    }
  }
  if (names.size() != trials.front().key.config.values().size()) {
    names.clear();
    for (const auto& [tunable, value] : trials.front().key.config.values()) {
      names.push_back(tunable);
    }
  }
  const ForeignResults file = foreign_of_trials(trials, names);
  return wanted.format == "t4" ? t4_file_text(file)
                               : cache_file_text(file, value_lists(file, kernel_template));
}

std::string trial_table(const std::vector<Trial>& trials) {
  std::string text = csv_header();
  for (const Trial& trial : trials) text += csv_row(trial);
  return text;
}

}  // namespace

int export_trials(Context& context, const TrialExport& wanted) {
  const bool is_table = wanted.format == "csv";
  if (!is_table && !wanted.request) {
    refuse_export(
        fmt::format("--format {} writes the results of one problem. Next: name the "
                    "problem, as for `kiln tune`",
                    wanted.format));
  }
  const auto store = context.open_for_reading();
  if (!store) throw Error(ErrorKind::not_found, "there is nothing to export");
  std::vector<Trial> trials = wanted_trials(*store, wanted);
  warn_of_corrupt_rows(context, *store);
  const std::size_t all = trials.size();
  if (!is_table) {
    require_one(trials, "device", "--on",
                [](const Trial& trial) { return device_text(trial.key.device); });
    require_one(trials, "template", "--template",
                [](const Trial& trial) { return trial.key.template_name; });
    trials = latest_results(std::move(trials), context.catalog());
  }
  if (trials.empty()) {
    throw Error(ErrorKind::not_found,
                wanted.request
                    ? fmt::format("nothing that was run is stored for this problem; `{}` tunes it",
                                  context.command("tune " + problem_words(*wanted.request)))
                    : "there is nothing to export");
  }
  write_file(wanted.output,
             is_table ? trial_table(trials) : foreign_text(context.catalog(), wanted, trials));
  std::string note = fmt::format("{} exported", counted(trials.size(), "trial"));
  if (trials.size() < all) {
    note += fmt::format(
        "; left out {} that are older, of another version of the template or the operation, of a "
        "weaker provenance than {}, or with settings of the compiler",
        all - trials.size(), to_string(trials.front().provenance));
  }
  context.note(note);
  if (!is_table && !has_current_verdict(trials.front())) {
    context.warn(fmt::format(
        "all of them were verified with an older version of the operation {}. Next: `{}` tunes the "
        "problem again",
        trials.front().key.problem.operation,
        context.command("tune " + problem_words(*wanted.request))));
  }
  return kExitOk;
}

}  // namespace kiln::tools
