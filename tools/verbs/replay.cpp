// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/replay/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/whole_number.hpp"
#include "tools/output/json.hpp"
#include "tools/output/table.hpp"
#include "tools/output/units.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::tools {
namespace {

struct ReplayOptions {
  std::vector<std::string> files;
  std::vector<std::string> strategies{std::string(kGuided)};
  std::uint64_t seeds = 20;
  std::uint64_t first_seed = 1;
  ReplayLimits limits;
};

/// All runs of one strategy in one space.
struct Runs {
  std::string file;
  std::string strategy;
  std::vector<ReplayRun> runs;
};

/// How soon and how often runs reached a share of the best.
struct Reached {
  std::uint64_t median = 0;  ///< evaluations; 0 if fewer than half of the runs got there
  std::uint64_t runs = 0;
};

Reached reached(const std::vector<ReplayRun>& runs, std::uint64_t ReplayRun::*needed) {
  std::vector<std::uint64_t> counts;
  for (const ReplayRun& run : runs) {
    if (run.*needed > 0) counts.push_back(run.*needed);
  }
  std::sort(counts.begin(), counts.end());
  const std::size_t middle = (runs.size() - 1) / 2;
  return {middle < counts.size() ? counts[middle] : 0, counts.size()};
}

/// One run for each seed, on all processors.
std::vector<ReplayRun> run_all(const Replay& replay, const std::string& strategy,
                               const ReplayOptions& options) {
  std::vector<ReplayRun> runs(options.seeds);
  std::atomic<std::uint64_t> next{0};
  const auto work = [&] {
    for (std::uint64_t i = next++; i < runs.size(); i = next++) {
      runs[i] = replay.run(strategy, options.first_seed + i, options.limits);
    }
  };
  const std::uint64_t threads =
      std::min<std::uint64_t>(std::max(1U, std::thread::hardware_concurrency()), options.seeds);
  std::vector<std::future<void>> workers;
  for (std::uint64_t i = 0; i < threads; ++i)
    workers.push_back(std::async(std::launch::async, work));
  for (auto& worker : workers) worker.get();
  return runs;
}

Json reached_json(const Reached& of) {
  Json json;
  json["median_evaluations"] = of.median > 0 ? Json(of.median) : Json();
  json["runs"] = of.runs;
  return json;
}

Json runs_json(const Runs& of) {
  Json json;
  json["file"] = of.file;
  json["strategy"] = of.strategy;
  json["seeds"] = of.runs.size();
  json["to_95_percent"] = reached_json(reached(of.runs, &ReplayRun::to_95));
  json["to_98_percent"] = reached_json(reached(of.runs, &ReplayRun::to_98));
  json["runs"] = Json::array();
  for (const ReplayRun& run : of.runs) {
    json["runs"].push_back({{"to_95_percent", run.to_95 > 0 ? Json(run.to_95) : Json()},
                            {"to_98_percent", run.to_98 > 0 ? Json(run.to_98) : Json()},
                            {"evaluations", run.evaluations},
                            {"best_share", run.best_share}});
  }
  return json;
}

int replay_files(Context& context, const ReplayOptions& options) {
  std::vector<Runs> all;
  for (const std::string& file : options.files) {
    const Replay replay(read_measured_space(file));
    context.note(fmt::format("{}: {} configurations, {} of them work; the fastest takes {}", file,
                             replay.count(), replay.working(), time_text(replay.best_ns())));
    for (const std::string& strategy : options.strategies) {
      all.push_back({file, strategy, run_all(replay, strategy, options)});
    }
  }
  if (context.flags.json) {
    Json document = json_document("replay");
    document["evaluations"] = options.limits.evaluations;
    document["in_flight"] = options.limits.in_flight;
    document["results"] = Json::array();
    for (const Runs& one : all) document["results"].push_back(runs_json(one));
    context.print(json_text(document));
    return kExitOk;
  }
  using enum Table::Align;
  Table table({{"file"},
               {"strategy"},
               {"runs", right},
               {"to 95 %", right},
               {"reached", right},
               {"to 98 %", right},
               {"reached", right}});
  for (const Runs& one : all) {
    const auto cells = [&](const Reached& of) {
      return of.median > 0 ? count_text(of.median)
                           : fmt::format("> {}", options.limits.evaluations);
    };
    const Reached good = reached(one.runs, &ReplayRun::to_95);
    const Reached very_good = reached(one.runs, &ReplayRun::to_98);
    table.add_row({one.file, one.strategy, count_text(one.runs.size()), cells(good),
                   count_text(good.runs), cells(very_good), count_text(very_good.runs)});
  }
  context.print(table.text());
  return kExitOk;
}

}  // namespace

Action add_replay(CLI::App& verb, const Operation& /*operation*/) {
  auto options = std::make_shared<ReplayOptions>();
  verb.add_option("files", options->files,
                  "Results of all configurations of a kernel: cache files of Kernel Tuner, or T4 "
                  "files, also compressed (.gz)")
      ->required()
      ->type_name("FILE");
  verb.add_option("--strategy", options->strategies,
                  "Replay these strategies (a list separated by commas)")
      ->delimiter(',')
      ->type_name("NAMES")
      ->capture_default_str();
  verb.add_option("--seeds", options->seeds, "Run each strategy N times, each with another seed")
      ->type_name("N")
      ->check(whole_number(1))
      ->capture_default_str();
  verb.add_option("--seed", options->first_seed, "Seed of the first run; the next has N + 1")
      ->type_name("N")
      ->capture_default_str();
  verb.add_option("--evaluations", options->limits.evaluations,
                  "End each run after N evaluated configurations")
      ->type_name("N")
      ->check(whole_number(1))
      ->capture_default_str();
  verb.add_option("--in-flight", options->limits.in_flight,
                  "Ask for N candidates before the first result is known, as parallel compilers do")
      ->type_name("N")
      ->check(whole_number(1))
      ->capture_default_str();
  return [options](Context& context) { return replay_files(context, *options); };
}

}  // namespace kiln::tools
