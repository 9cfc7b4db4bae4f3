// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/emulated/device/emulated_device.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/objective_flag.hpp"
#include "tools/command_line/quantity.hpp"
#include "tools/command_line/whole_number.hpp"
#include "tools/emulation.hpp"
#include "tools/output/progress_bar.hpp"
#include "tools/output/table.hpp"
#include "tools/output/trial_text.hpp"
#include "tools/output/tune_report.hpp"
#include "tools/stop_signal.hpp"
#include "tools/suite.hpp"
#include "tools/verbs/contest_time.hpp"
#include "tools/verbs/stale.hpp"
#include "tools/verbs/verbs.hpp"
#include "tuner/compile/pool.hpp"
#include "tuner/data_file.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/session/session.hpp"
#include "tuner/strategies/strategy.hpp"

namespace kiln::tools {
namespace {

struct TuneOptions {
  ProblemFlags problem;
  std::string suite;
  bool stale = false;
  std::string budget;
  std::uint64_t max_candidates = 0;
  std::string strategy;  ///< empty: what suits the device
  std::string objective;
  std::uint64_t seed = 1;
  std::string templates;
  std::vector<std::string> set;
  int compile_threads = 0;
  std::string candidate_timeout;
  bool again = false;
  bool warm = false;
  int samples = 15;
  bool measurement_given = false;  ///< one of the last two
  bool compile_only = false;
  std::string arch;
  bool no_baseline = false;
  bool in_process = false;
  bool no_wait = false;
};

SpaceSelection selection_of(const TuneOptions& options) {
  return {split_list(options.templates), parse_choices("--set", options.set)};
}

void check_usage(const TuneOptions& options) {
  const auto reject = [](const char* text) { throw Error(ErrorKind::usage, text); };
  if (options.stale && !options.suite.empty()) {
    reject("--stale already selects the problems; leave out --suite");
  }
  if (options.stale && options.compile_only) {
    reject("--stale needs a device; leave out --compile-only");
  }
  options.problem.check_list(options.stale ? "--stale" : options.suite.empty() ? "" : "--suite");
  if (options.compile_only && options.arch.empty()) {
    reject("--compile-only: name the architecture, e.g. --arch sm_90a");
  }
  if (!options.compile_only && !options.arch.empty()) {
    reject(
        "--arch works only with --compile-only. Next: add --compile-only, or leave out --arch to "
        "use the architecture of the device");
  }
  if (options.compile_only && !options.objective.empty()) {
    reject(
        "--objective needs times or energies, and --compile-only only compiles. Next: leave out "
        "one of them");
  }
  (void)selection_of(options);
}

/// The default budget bounds time. With a bound on the count, or when only compiling, there is
/// none.
Budget budget_of(const TuneOptions& options) {
  Budget budget;
  budget.candidates = options.max_candidates;
  if (!options.budget.empty()) {
    budget.seconds = parse_limit_s("--budget", options.budget);
  } else if (options.max_candidates > 0 || options.compile_only) {
    budget.seconds = 0.0;
  }
  return budget;
}

/// Throws Error(usage) where it needs energy and the device has none.
Objective objective_of(const Context& context, const std::string& device) {
  Objective objective = context.objective();
  if (objective.needs_energy() && names_emulated_device(device)) {
    throw Error(ErrorKind::usage,
                fmt::format("--objective {}: {} is an emulated GPU, which does not predict energy. "
                            "Next: use a GPU, or an objective of time_ns and resources",
                            objective.canonical(), device));
  }
  return objective;
}

TuneRequest tune_request(const Context& context, const TuneOptions& options,
                         const ProblemCase& problem) {
  // Without running there is no device.
  const std::string device = options.compile_only ? "" : context.device().value;
  TuneRequest request;
  request.tuned = problem;
  request.strategy = options.strategy.empty() ? default_strategy(device) : options.strategy;
  request.fill_waits = request.strategy == kGuided;
  request.polish = true;
  request.seed = options.seed;
  request.budget = budget_of(options);
  request.policy.cold = !options.warm;
  request.policy.samples = options.samples;
  request.policy.data = data_text(problem);
  request.compile_threads = options.compile_threads;
  request.candidate_timeout_s =
      options.candidate_timeout.empty()
          ? default_candidate_timeout_s(device)
          : parse_limit_s("--candidate-timeout", options.candidate_timeout);
  request.again = options.again;
  if (!options.compile_only) request.objective = objective_of(context, device);
  return request;
}

/// One for the set-up and one for the first candidate: others start with the next ones.
int early_compilers(const TuneOptions& options) {
  return std::min(2, compile_threads(options.compile_threads));
}

/// What is known before anything is tuned.
TuneReport report_for(const std::string& name, const ProblemCase& problem) {
  TuneReport report;
  report.name = name;
  report.request = problem;
  report.idle = why_nothing_to_tune(problem.problem);
  return report;
}

int print_report(Context& context, const TuneReport& report) {
  if (context.flags.json) {
    Json document = json_document("tune");
    document["results"].push_back(report_json(report));
    context.print(json_text(document));
  } else {
    context.print(report_text(report, context));
  }
  return exit_code_of(report);
}

/// Tunes problems one after the other with one worker and one database.
class Tuning {
 public:
  Tuning(Context& context, const TuneOptions& options)
      : context_(context),
        options_(options),
        selection_(selection_of(options)),
        limits_(options.compile_only ? known_limits(options.arch) : DeviceLimits{}) {
    // The device comes first: where there is none, no database should appear.
    if (!options.compile_only) {
      bench_ = open_workbench(context, {.in_process = options.in_process,
                                        .no_wait = options.no_wait,
                                        .early_compilers = early_compilers(options)});
      limits_ = bench_.evaluator->info().limits;
      if (provenance() == Provenance::modelled && options.measurement_given) {
        context.note(
            "--samples and --warm have no effect here, because an emulated GPU predicts times. The "
            "prediction assumes that the operands are in DRAM");
      }
      if (bench_.evaluator->info().driver.starts_with(kPublishedFigures)) {
        context.note(
            "the profile of this emulated GPU holds published figures, not measurements, so "
            "predictions are rough");
      }
    } else {
      bench_.compiler = context.compiler(early_compilers(options));
    }
  }

  /// Of an operation of which there is none.
  [[nodiscard]] std::string why_no_template(const Problem& problem) const {
    return fmt::format(
        "  the template path has no template with the line \"//@ operation {}\". Next: `{}` lists "
        "the templates\n",
        problem.operation, context_.command("templates"));
  }

  TuneReport tune_one(const std::string& name, const ProblemCase& problem) {
    TuneReport report = report_for(name, problem);
    if (!report.idle.empty()) return report;
    report.provenance = provenance();
    TuneRequest request = tune_request(context_, options_, problem);
    const SearchSpace space =
        make_search_space(context_.catalog(), problem.problem, limits_, selection_);
    if (space.parts.empty()) {
      for (const auto& reason : space.unsupported) {
        report.unsupported += fmt::format("  {}\n", reason);
      }
      if (report.unsupported.empty()) report.unsupported = why_no_template(problem.problem);
      return report;
    }
    if (!store_) store_ = context_.open_for_writing();
    // Opening the device counts against the budget of what is tuned first.
    const double opening_s = std::exchange(bench_.opening_s, 0.0);
    const ContestTime contest_time(request.budget, opening_s);
    const bool is_contest_wanted = wants_baseline(problem);
    const bool is_contest_held = is_contest_wanted && contest_time.fits();
    request.budget.outside_s = opening_s + (is_contest_held ? contest_time.share_s() : 0.0);
    ProgressBar bar(context_.terminal(), context_.verbosity());
    const auto& stop = StopSignal::requested();
    report.result = options_.compile_only
                        ? tune_compile_only(request, space, options_.arch, context_.catalog(),
                                            bench_.compiler, *store_, bar, stop)
                        : tune(request, space, context_.catalog(), bench_.compiler,
                               *bench_.evaluator, *store_, bar, stop);
    if (report.result->best && is_contest_wanted && !stop) {
      bar.clear();
      if (!is_contest_held) {
        context_.note(
            "no comparison with cuBLASLt, because the budget is too short. Next: use --budget 5s "
            "or more, or run `kiln bench`");
        return report;
      }
      const auto& key = report.result->best->key;
      try {
        report.contest = hold_contest(context_, bench_, request, {key.template_name, key.config},
                                      {.give_up = contest_time.give_up()});
      } catch (const Error& error) {
        // The result stands; only its comparison is missing.
        context_.warn(fmt::format("no comparison with cuBLASLt: {}", error.what()));
      }
    }
    return report;
  }

  [[nodiscard]] const DeviceInfo& device() const { return bench_.evaluator->info(); }

 private:
  [[nodiscard]] Provenance provenance() const {
    return options_.compile_only ? Provenance::compiled : bench_.evaluator->info().provenance;
  }
  /// A library's kernels run on no emulated GPU.
  [[nodiscard]] bool wants_baseline(const ProblemCase& problem) const {
    return !options_.no_baseline && provenance() == Provenance::measured &&
           has_baseline(problem.problem);
  }

  Context& context_;
  const TuneOptions& options_;
  const SpaceSelection selection_;
  DeviceLimits limits_;
  Workbench bench_;
  std::optional<TuningStore> store_;
};

int tune_lines(Context& context, Tuning& tuning, const std::vector<SuiteLine>& lines) {
  using enum Table::Align;
  std::vector<Table::Column> columns{{"name"},        {"problem"},     {"template"},
                                     {"time", right}, {"rate", right}, {"ratio", right},
                                     {"ended"}};
  const Objective objective = context.objective();
  if (!objective.is_time()) columns.push_back({"objective", right});
  Table table(columns);
  Json document = json_document("tune");
  document["results"] = Json::array();
  int worst = kExitOk;
  std::string remarks;
  const auto add = [&](const TuneReport& report) {
    std::vector<std::string> row = report_row(report);
    if (!objective.is_time() && report.result && report.result->best) {
      row.push_back(objective_value_text(objective, *report.result->best));
    }
    table.add_row(row);
    document["results"].push_back(report_json(report));
    if (const auto remark = report_remark(report); !remark.empty()) remarks += "\n" + remark;
    // A problem that nothing computes is no failure of the suite.
    if (report.result || report.error) worst = std::max<int>(worst, exit_code_of(report));
  };
  for_each_line(
      lines,
      [&](const SuiteLine& line) {
        context.note(fmt::format("{}: {}", line.name, heading_text(line.tuned.problem)));
        add(tuning.tune_one(line.name, line.tuned));
      },
      [&](const SuiteLine& line, const Error& error) {
        TuneReport failed;
        failed.name = line.name;
        failed.request = line.tuned;
        failed.error = error;
        add(failed);
      });
  context.print(context.flags.json ? json_text(document) : table.text() + remarks);
  return StopSignal::requested() ? static_cast<int>(kExitInterrupted) : worst;
}

int tune_suite(Context& context, const TuneOptions& options) {
  static_cast<void>(context.catalog());  // which declares the operations of its folders
  const auto lines = read_suite(options.suite);
  // Mistakes in flags show before a device is sought, and once.
  (void)tune_request(context, options, lines.front().tuned);
  const StopSignal signals;
  Tuning tuning(context, options);
  if (StopSignal::requested()) return kExitInterrupted;
  return tune_lines(context, tuning, lines);
}

int tune_stale(Context& context, const TuneOptions& options) {
  (void)tune_request(context, options, {});
  const StopSignal signals;
  Tuning tuning(context, options);
  if (StopSignal::requested()) return kExitInterrupted;
  std::vector<SuiteLine> lines;
  if (const auto store = context.open_for_reading()) {
    lines = stale_problems(*store, tuning.device(), context.catalog());
  }
  if (lines.empty()) {
    context.note(
        "nothing is stale: no template or operation has changed since the last tuning on this "
        "device");
  }
  return tune_lines(context, tuning, lines);
}

int tune_problem(Context& context, const TuneOptions& options) {
  const ProblemCase problem = options.problem.request();
  // Mistakes in flags show before a device is sought.
  (void)tune_request(context, options, problem);
  if (const auto report = report_for("", problem); !report.idle.empty()) {
    return print_report(context, report);
  }
  const StopSignal signals;
  Tuning tuning(context, options);
  if (StopSignal::requested()) return kExitInterrupted;
  const int code = print_report(context, tuning.tune_one("", problem));
  return StopSignal::requested() ? static_cast<int>(kExitInterrupted) : code;
}

}  // namespace

Action add_tune(CLI::App& verb, const Operation& operation) {
  auto options = std::make_shared<TuneOptions>();
  options->problem.add_to(verb, operation, ProblemFlags::Word::optional);
  auto& o = *options;
  verb.add_option(
          "--suite", o.suite,
          "Tune each problem in FILE. By default, each line describes a gemm: `name dtype M N K "
          "layout`. A header line, e.g. `softmax: name rows cols`, sets the operation and the "
          "columns of the lines below it")
      ->type_name("FILE");
  verb.add_flag("--stale", o.stale,
                "Retune the stale problems of this device. A problem is stale if a template or the "
                "operation has changed since the problem was tuned");
  verb.add_option(
          "--budget", o.budget,
          "Time limit per problem (default 25s; no limit with --compile-only or --max-candidates)")
      ->type_name("TIME");
  verb.add_option("--max-candidates", o.max_candidates, "Maximum number of candidates per problem")
      ->type_name("N")
      ->check(whole_number(1));
  verb.add_option("--strategy", o.strategy,
                  "Search strategy (default: `guided`; on an emulated device: `model`)")
      ->type_name("STRATEGY");
  add_objective(verb, o.objective,
                "What the best candidate has least of (default `time`). Kiln stores times and "
                "energies, so one run answers several objectives");
  verb.add_option("--seed", o.seed,
                  "Seed for the search strategy and for the random data (default 1)")
      ->type_name("N")
      ->check(whole_number(0));
  verb.add_option("--templates", o.templates, "Search only these templates")
      ->type_name("TEMPLATE,...");
  verb.add_option("--set", o.set, "Search only these tunable values, e.g. tile_m=64,128")
      ->type_name("NAME=V,...");
  verb.add_option("--compile-threads", o.compile_threads,
                  "Number of compilation threads; 0 means one per core, at most 32 (default 0)")
      ->type_name("N")
      ->check(whole_number(0, kMostThreads));
  verb.add_option("--candidate-timeout", o.candidate_timeout,
                  "Kill a candidate that takes longer than this time (default 10s, but 120s on an "
                  "emulated device)")
      ->type_name("TIME");
  verb.add_flag("--again", o.again, "Also measure candidates that already have a stored result");
  CLI::Option* const warm =
      verb.add_flag("--warm", o.warm, "Keep the operands in the L2 cache while timing");
  CLI::Option* const samples =
      verb.add_option("--samples", o.samples, "Timed samples per candidate (default 15)")
          ->type_name("N")
          ->check(whole_number(3, kMostRepetitions));  // of fewer there is no spread
  verb.add_flag("--compile-only", o.compile_only,
                "Compile the candidates, but do not run them. This needs no device. Store each "
                "outcome, and rank the candidates by occupancy");
  verb.add_option("--arch", o.arch, "With --compile-only: the architecture to compile for")
      ->type_name("ARCH");
  verb.add_flag("--no-baseline", o.no_baseline, "Do not compare the best kernel with cuBLASLt");
  verb.add_flag("--in-process", o.in_process,
                "Run candidates in this process, not in a worker process; for debugging");
  verb.add_flag("--no-wait", o.no_wait,
                "If another run is measuring on the GPU, exit with code 4 instead of waiting");
  return [options, warm, samples](Context& context) {
    options->measurement_given = warm->count() + samples->count() > 0;
    context.flags.objective = options->objective;
    check_usage(*options);
    if (options->stale) return tune_stale(context, *options);
    return options->suite.empty() ? tune_problem(context, *options) : tune_suite(context, *options);
  };
}

}  // namespace kiln::tools
