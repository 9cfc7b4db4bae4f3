// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "cache/files/session_lock.hpp"
#include "kiln/error.hpp"
#include "tools/choice.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/objective_flag.hpp"
#include "tools/command_line/whole_number.hpp"
#include "tools/history.hpp"
#include "tools/output/how_to_use.hpp"
#include "tools/output/json.hpp"
#include "tools/output/table.hpp"
#include "tools/output/trial_text.hpp"
#include "tools/output/units.hpp"
#include "tools/stored.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::tools {
namespace {

struct ShowOptions {
  ProblemFlags problem;
  std::string on;
  int top = 5;
  bool all = false;
  std::string objective;
};

/// What is stored for the problem on one device class.
struct Shelf {
  DeviceClass device;
  Objective objective;  ///< of the best and the ranking
  std::optional<Trial> best;
  std::vector<Trial> ranked;  ///< eligible ones, best first; those that are outdated behind others
  std::vector<Trial> failed;
  std::vector<Trial> imported;                  ///< fastest first, then what failed
  std::map<Outcome, std::uint64_t> by_outcome;  ///< of what is not outdated
  std::map<Outdated, std::map<Outcome, std::uint64_t>> history;
  std::map<std::string, Outdated> outdated;  ///< by the id of a trial; only those that are
  std::vector<SessionRecord> sessions;
  std::optional<Chosen> chosen;                 ///< what an application on such a device gets
  std::map<std::string, CandidateKey> sources;  ///< by the id of a trial that others share
};

/// What a device of that class has now: the driver and toolkit of its newest trial, as an
/// application there would see them. Predictions count only where nothing was measured: an emulated
/// device has no driver.
Environment newest_environment(const std::vector<Trial>& trials) {
  const auto newest =
      std::max_element(trials.begin(), trials.end(), [](const Trial& left, const Trial& right) {
        const auto age = [](const Trial& trial) {
          return std::tuple(trial.provenance == Provenance::measured,
                            trial.provenance != Provenance::imported, trial.created_unix_ms);
        };
        return age(left) < age(right);
      });
  return newest == trials.end() ? Environment{} : newest->environment;
}

/// Nothing also for a device whose architecture this version of Kiln does not know.
std::optional<Chosen> chosen_on(Context& context, const Problem& problem, const DeviceClass& device,
                                const Environment& environment) {
  const auto limits = limits_of_arch(device.arch);
  if (!limits) return std::nullopt;
  DeviceInfo info;
  info.limits = *limits;
  info.device_class = device;
  info.driver = environment.driver;
  return choose_as_runtime(context, problem, info, environment.toolkit);
}

/// The time that another autotuner reports; infinite if the candidate failed there.
double imported_ns(const Trial& trial) {
  const bool is_timed = trial.outcome == Outcome::ok && trial.timing;
  return is_timed ? trial.timing->median_ns : std::numeric_limits<double>::infinity();
}

Shelf shelf_of(Context& context, const TuningStore& store, const Problem& problem,
               const DeviceClass& device) {
  Shelf shelf;
  shelf.device = device;
  shelf.objective = context.objective();
  TrialFilter filter;
  filter.problem = problem;
  filter.device = device;
  shelf.sessions = store.sessions(filter);
  for (auto& session : shelf.sessions) session.state = state_now(store.path(), session);
  const std::vector<Trial> all = store.trials(filter);
  const std::vector<Trial> latest = latest_of(all);
  Present present(context.catalog());
  std::vector<Trial> current;
  for (const auto& trial : all) {
    if (trial.provenance == Provenance::imported) continue;
    const Outdated outdated = present.outdated(trial);
    if (outdated == Outdated::no) {
      current.push_back(trial);
    } else {
      shelf.outdated.emplace(trial.id, outdated);
    }
  }
  for (const auto& trial : latest) {
    if (trial.provenance == Provenance::imported) {
      shelf.imported.push_back(trial);
      continue;
    }
    const auto outdated = shelf.outdated.find(trial.id);
    const bool is_past = outdated != shelf.outdated.end();
    ++(is_past ? shelf.history[outdated->second] : shelf.by_outcome)[trial.outcome];
    (eligible(trial) ? shelf.ranked : shelf.failed).push_back(trial);
  }
  std::sort(shelf.ranked.begin(), shelf.ranked.end(), [&](const Trial& left, const Trial& right) {
    const bool left_past = shelf.outdated.contains(left.id);
    const bool right_past = shelf.outdated.contains(right.id);
    if (left_past != right_past) return right_past;
    // What the objective has no value for comes last, by time.
    const bool has_left = eligible(left, shelf.objective);
    const bool has_right = eligible(right, shelf.objective);
    if (has_left != has_right) return has_left;
    return better(left, right, has_left ? shelf.objective : Objective());
  });
  std::ranges::stable_sort(shelf.imported, {}, imported_ns);
  std::set<std::string> shared;
  for (const auto& trial : all) shared.insert(trial.shared_from);
  for (const auto& trial : all) {
    if (shared.contains(trial.id)) shelf.sources.emplace(trial.id, trial.key);
  }
  if (const Trial* best = best_of(current, shelf.objective)) {
    shelf.best = *best;
    // That it was checked as well stands in a trial of its own, with the same time.
    for (const auto& trial : current) {
      const bool is_twin = trial.key == best->key && trial.provenance == best->provenance;
      if (is_twin && eligible(trial) && trial.verification && trial.verification->checked) {
        shelf.best = trial;
      }
    }
  }
  shelf.chosen = chosen_on(context, problem, device, newest_environment(latest));
  return shelf;
}

std::string chosen_text(const std::optional<Chosen>& chosen) {
  if (!chosen) return "nothing: no template computes this problem on this device";
  return fmt::format("{}: {}", to_string(chosen->match), chosen->reason);
}

/// "older operation"; "" for a trial that is not outdated.
std::string outdated_text(const Shelf& shelf, const Trial& trial) {
  const auto outdated = shelf.outdated.find(trial.id);
  return outdated == shelf.outdated.end() ? "" : std::string(to_string(outdated->second));
}

/// Which candidate ran for this one, as its place in the ranking if it has one; "" for a trial of
/// its own.
std::string source_text(const Shelf& shelf, const Trial& trial) {
  if (trial.shared_from.empty()) return "";
  const auto source = shelf.sources.find(trial.shared_from);
  if (source == shelf.sources.end()) return fmt::format("trial {}", trial.shared_from);
  const auto place =
      std::find_if(shelf.ranked.begin(), shelf.ranked.end(), [&](const Trial& other) {
        return other.key == source->second && other.provenance == trial.provenance;
      });
  if (place != shelf.ranked.end()) return fmt::format("#{}", place - shelf.ranked.begin() + 1);
  return fmt::format("{} {}", source->second.template_name, source->second.config.canonical());
}

std::string ranking_text(const Shelf& shelf, std::size_t shown) {
  using enum Table::Align;
  std::vector<Table::Column> columns{{"#", right},         {"time", right}, {"rate", right},
                                     {"registers", right}, {"template"},    {"config"}};
  const auto end = shelf.ranked.begin() + static_cast<std::ptrdiff_t>(shown);
  const bool any_shared = std::any_of(
      shelf.ranked.begin(), end, [](const Trial& trial) { return !trial.shared_from.empty(); });
  const bool any_outdated = std::any_of(shelf.ranked.begin(), end, [&](const Trial& trial) {
    return shelf.outdated.contains(trial.id);
  });
  const bool any_energy = std::any_of(shelf.ranked.begin(), end, [](const Trial& trial) {
    return trial.timing && trial.timing->energy_j > 0.0;
  });
  const bool by_expression = shelf.objective.kind() == Objective::Kind::expression ||
                             shelf.objective.kind() == Objective::Kind::energy_delay;
  if (any_energy) columns.insert(columns.begin() + 3, {{"energy", right}, {"power", right}});
  if (by_expression) columns.insert(columns.begin() + 1, {"objective", right});
  if (any_outdated) columns.push_back({"outdated"});
  if (any_shared) columns.push_back({"same code as"});
  Table table(columns);
  for (std::size_t i = 0; i < shown; ++i) {
    const Trial& trial = shelf.ranked[i];
    std::vector<std::string> row{
        fmt::format("{}", i + 1),
        merit_text(trial),
        trial.timing ? rate_text(trial.key.problem, trial.timing->median_ns) : "",
        trial.resources ? fmt::format("{}", trial.resources->registers) : "",
        trial.key.template_name,
        trial.key.config.canonical()};
    if (any_energy) {
      const bool has_energy = trial.timing && trial.timing->energy_j > 0.0;
      row.insert(row.begin() + 3, {has_energy ? energy_text(trial.timing->energy_j) : "",
                                   has_energy ? power_text(trial.timing->power_w) : ""});
    }
    if (by_expression) {
      row.insert(row.begin() + 1, objective_value_text(shelf.objective, trial));
    }
    if (any_outdated) row.push_back(outdated_text(shelf, trial));
    if (any_shared) row.push_back(source_text(shelf, trial));
    table.add_row(row);
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string failures_text(const Shelf& shelf) {
  if (shelf.failed.empty()) return "";
  Table table({{"outcome"}, {"template"}, {"config"}, {"why"}});
  for (const auto& trial : shelf.failed) {
    std::string why = trial.message.substr(0, trial.message.find('\n'));
    if (const auto source = source_text(shelf, trial); !source.empty()) {
      why += fmt::format(" (the same code as {})", source);
    }
    if (const auto outdated = outdated_text(shelf, trial); !outdated.empty()) {
      why = fmt::format("{}: {}", outdated, why);
    }
    table.add_row({std::string(to_string(trial.outcome)), trial.key.template_name,
                   trial.key.config.canonical(), why});
  }
  return "\n" + table.text();
}

std::string sessions_text(const Shelf& shelf) {
  if (shelf.sessions.empty()) return "";
  using enum Table::Align;
  Table table({{"session, UTC"},
               {"ended"},
               {"candidates", right},
               {"of", right},
               {"strategy"},
               {"budget"},
               {"objective"}});
  for (const auto& session : shelf.sessions) {
    table.add_row({date_text(session.started_unix_ms), session.state, count_text(session.evaluated),
                   count_text(session.space_size), session.strategy, session.budget,
                   session.objective});
  }
  return "\n" + table.text();
}

/// "5,220 results of another autotuner, not verified by Kiln; fastest: 526 us, tiled block=64".
std::string imported_text(const Shelf& shelf) {
  const Trial& fastest = shelf.imported.front();
  std::string text = fmt::format("{} of another autotuner, not verified by Kiln",
                                 counted(shelf.imported.size(), "result"));
  if (fastest.outcome != Outcome::ok) return text;
  return fmt::format("{}; fastest: {}, {} {}", text, merit_text(fastest), fastest.key.template_name,
                     fastest.key.config.canonical());
}

std::size_t shown(const Shelf& shelf, const ShowOptions& options) {
  const std::size_t all = shelf.ranked.size();
  return options.all ? all : std::min(static_cast<std::size_t>(options.top), all);
}

std::string shelf_text(const Shelf& shelf, const ShowOptions& options) {
  std::string text = fmt::format("on {}\n", device_text(shelf.device));
  FactSheet facts;
  if (shelf.best) {
    add_trial_facts(facts, *shelf.best);
    const auto& environment = shelf.best->environment;
    // Neither driver nor policy had a part in what was only compiled.
    const bool ran = shelf.best->provenance != Provenance::compiled;
    facts.add(std::string(to_string(shelf.best->provenance)),
              fmt::format("{} UTC, {}", date_text(shelf.best->created_unix_ms),
                          ran ? environment.canonical() : environment.toolkit));
  } else if (!shelf.ranked.empty() && !shelf.objective.is_time()) {
    facts.add("best", fmt::format("none: no result has a value for the objective {}",
                                  shelf.objective.canonical()));
  } else {
    const bool only_imported = shelf.by_outcome.empty() && shelf.history.empty();
    facts.add("best",
              only_imported ? "none: all results are imported, and Kiln has not verified them"
              : shelf.history.empty()
                  ? "none: no candidate succeeded"
                  : "none: no candidate has succeeded with the current template and operation");
  }
  facts.add("outcomes", outcomes_text(shelf.by_outcome));
  for (const auto& [outdated, outcomes] : shelf.history) {
    facts.add("history", fmt::format("outdated results ({}): {}", to_string(outdated),
                                     outcomes_text(outcomes)));
  }
  if (!shelf.imported.empty()) facts.add("imported", imported_text(shelf));
  facts.add("applications get", chosen_text(shelf.chosen));
  text += facts.text();
  text += ranking_text(shelf, shown(shelf, options));
  if (options.all) text += failures_text(shelf);
  return text + sessions_text(shelf);
}

Json shelf_json(const Shelf& shelf, const ShowOptions& options) {
  Json json;
  json["device"] = to_json(shelf.device);
  json["objective"] = shelf.objective.canonical();
  json["best"] = shelf.best ? to_json(*shelf.best) : Json();
  json["outcomes"] = Json::object();
  for (const auto& [outcome, count] : shelf.by_outcome) {
    json["outcomes"][std::string(to_string(outcome))] = count;
  }
  json["history"] = Json::object();
  for (const auto& [outdated, outcomes] : shelf.history) {
    for (const auto& [outcome, count] : outcomes) {
      json["history"][std::string(to_string(outdated))][std::string(to_string(outcome))] = count;
    }
  }
  json["match"] = to_string(shelf.chosen ? shelf.chosen->match : Match::none);
  json["match_reason"] = chosen_text(shelf.chosen);
  json["ranked"] = Json::array();
  const auto add = [&](const char* list, const Trial& trial) {
    Json row = to_json(trial);
    if (const auto text = outdated_text(shelf, trial); !text.empty()) row["is_of"] = text;
    json[list].push_back(std::move(row));
  };
  for (std::size_t i = 0; i < shown(shelf, options); ++i) add("ranked", shelf.ranked[i]);
  json["imported"] = Json::array();
  const std::size_t imported =
      options.all ? shelf.imported.size()
                  : std::min(static_cast<std::size_t>(options.top), shelf.imported.size());
  for (std::size_t i = 0; i < imported; ++i) json["imported"].push_back(to_json(shelf.imported[i]));
  if (options.all) {
    json["failed"] = Json::array();
    for (const auto& trial : shelf.failed) add("failed", trial);
  }
  json["sessions"] = Json::array();
  for (const auto& session : shelf.sessions) json["sessions"].push_back(to_json(session));
  return json;
}

/// The device classes that hold anything of this kind of problem: exactly this one first.
std::vector<DeviceClass> devices_of(const TuningStore& store, const Problem& problem,
                                    const std::string& on) {
  ProblemFilter exact;
  exact.problem = problem;
  std::vector<DeviceClass> devices;
  for (const auto& summary : select(store.summaries(exact), on)) {
    if (std::find(devices.begin(), devices.end(), summary.device) == devices.end()) {
      devices.push_back(summary.device);
    }
  }
  return devices;
}

constexpr NeighbourLimits kAnyDistance{.octaves_per_size = 64.0, .octaves = 1024.0};

/// For a problem that was never tuned: what applications get instead, for each device class that
/// knows other sizes of its kind.
std::string neighbours_text(Context& context, const TuningStore& store, const Problem& problem,
                            const std::string& on) {
  std::string text;
  for (const auto& device : store.devices(problem.kind_text())) {
    if (!meant_by(device, on)) continue;
    BestQuery query;
    query.device = device;
    query.compiled_too = true;
    NeighbourQueue others = store.neighbours(problem, device, kAnyDistance);
    while (const auto other = others.next()) {
      query.problem = other->problem;
      const auto best = store.best(query);
      if (!best) continue;
      text += fmt::format("; on {}, applications get {}", device.name,
                          chosen_text(chosen_on(context, problem, device, best->environment)));
      break;
    }
  }
  return text;
}

int show_problem(Context& context, const ShowOptions& options) {
  const ProblemCase request = options.problem.request();
  const Problem& problem = request.problem;
  const std::string idle = why_nothing_to_tune(problem);
  const auto store =
      context.open_for_reading(OpenMode::read_only, idle.empty() ? problem_words(request) : "");
  std::vector<Shelf> shelves;
  if (store) {
    for (const auto& device : devices_of(*store, problem, options.on)) {
      shelves.push_back(shelf_of(context, *store, problem, device));
    }
    if (store->corrupt_rows() > 0) {
      context.warn(fmt::format("left out {}; `{}` gives details",
                               counted(store->corrupt_rows(), "damaged row"),
                               context.command("doctor")));
    }
  }
  if (shelves.empty() && !idle.empty()) {
    throw Error(ErrorKind::not_found, fmt::format("{}: {}", heading_text(problem), idle));
  }
  if (shelves.empty()) {
    throw Error(
        ErrorKind::not_found,
        fmt::format("nothing is stored for {}{}\nkiln: `{}` tunes it", heading_text(problem),
                    store ? neighbours_text(context, *store, problem, options.on) : "",
                    context.command("tune " + problem_words(request))));
  }
  if (context.flags.json) {
    Json document = json_document("show");
    document["problem"] = to_json(problem);
    document["devices"] = Json::array();
    for (const auto& shelf : shelves) document["devices"].push_back(shelf_json(shelf, options));
    context.print(json_text(document));
    return kExitOk;
  }
  std::string text = heading_text(problem) + "\n";
  for (const auto& shelf : shelves) text += "\n" + shelf_text(shelf, options);
  context.print(text + next_steps(request, context));
  return kExitOk;
}

}  // namespace

Action add_show(CLI::App& verb, const Operation& operation) {
  auto options = std::make_shared<ShowOptions>();
  options->problem.add_to(verb, operation, ProblemFlags::Word::required);
  verb.add_option("--on", options->on,
                  "Show only results from devices whose name or architecture contains TEXT")
      ->type_name("TEXT");
  verb.add_option("--top", options->top, "Number of best candidates to show (default 5)")
      ->type_name("N")
      ->check(whole_number(0, kMostInt));
  verb.add_flag("--all", options->all, "Show all candidates, and the reason for each failure");
  add_objective(verb, options->objective,
                "What makes a candidate the best (default `time`). Candidates without the figures "
                "come last");
  return [options](Context& context) {
    context.flags.objective = options->objective;
    return show_problem(context, *options);
  };
}

}  // namespace kiln::tools
