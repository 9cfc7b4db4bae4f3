// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/quantity.hpp"
#include "tools/command_line/selection.hpp"
#include "tools/command_line/value_kinds.hpp"
#include "tools/command_line/whole_number.hpp"
#include "tools/emulation.hpp"
#include "tools/output/progress_bar.hpp"
#include "tools/output/table.hpp"
#include "tools/output/trial_text.hpp"
#include "tools/output/tune_report.hpp"
#include "tools/output/units.hpp"
#include "tools/stop_signal.hpp"
#include "tools/suite.hpp"
#include "tools/verbs/verbs.hpp"
#include "tuner/data_file.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/session/session.hpp"
#include "tuner/strategies/strategy.hpp"

namespace kiln::tools {
namespace {

struct BenchOptions {
  ProblemFlags problem;
  std::string suite;
  std::string against;
  int rounds = 15;
  SelectionFlags selection;
  std::string turn = "2ms";
  std::string tune;
  bool warm = false;
  bool measurement_given = false;  ///< --rounds, --turn or --warm
  bool in_process = false;
  bool no_wait = false;
};

struct BenchRow {
  std::string name;
  ProblemCase request;
  std::string unsupported;     ///< the reasons, when no template computes it
  std::string idle;            ///< why there is nothing to measure
  std::optional<Error> error;  ///< what ended this line of a suite
  Chosen chosen;
  Contest contest;
  bool modelled = false;  ///< the times are predictions
};

/// Of --turn, in milliseconds. The upper end keeps all of cuBLASLt's algorithms within minutes.
double turn_ms(const BenchOptions& options) {
  const double seconds = parse_limit_s("--turn", options.turn);
  if (seconds < 0.001 || seconds > 1.0) {
    throw Error(ErrorKind::usage,
                fmt::format("--turn {}: the time must be from 1ms to 1s", options.turn));
  }
  return seconds * 1e3;
}

void check_bench_usage(const BenchOptions& options) {
  options.problem.check_list(options.suite.empty() ? "" : "--suite");
  const auto reject = [](const char* text) { throw Error(ErrorKind::usage, text); };
  options.selection.check_usage();
  if (!options.tune.empty() && options.selection.given()) {
    reject("--tune already selects the kernel; leave out --template");
  }
  static_cast<void>(turn_ms(options));
}

/// Measures problems one after the other with one worker.
class Benchmark {
 public:
  Benchmark(Context& context, const BenchOptions& options)
      : context_(context),
        options_(options),
        bench_(open_workbench(context, {.in_process = options.in_process,
                                        .no_wait = options.no_wait,
                                        .early_compilers = options.tune.empty() ? 0 : 2})) {
    if (info().provenance == Provenance::modelled && options.measurement_given) {
      context.note(
          "--rounds, --turn and --warm have no effect here, because an emulated GPU predicts "
          "times. The prediction assumes that the operands are in DRAM");
    }
  }

  [[nodiscard]] const DeviceInfo& info() const { return bench_.evaluator->info(); }

  BenchRow measure(const std::string& name, const ProblemCase& problem) {
    BenchRow row{name, problem, "", "", {}, {}, {}, info().provenance == Provenance::modelled};
    const std::string device = context_.device().value;
    TuneRequest request;
    request.tuned = problem;
    request.policy.cold = !options_.warm;
    request.policy.data = data_text(problem);
    request.strategy = default_strategy(device);
    request.fill_waits = request.strategy == kGuided;
    request.polish = true;
    request.candidate_timeout_s = default_candidate_timeout_s(device);
    const Work work = work_of(problem.problem);
    if (work == Work::none) {
      row.idle = fmt::format("nothing to measure: {}, so a launch does nothing",
                             no_results_text(problem.problem));
      return row;
    }
    const auto& limits = info().limits;
    const auto space = make_search_space(context_.catalog(), problem.problem, limits,
                                         {options_.selection.templates(), {}});
    if (space.parts.empty()) {
      for (const auto& reason : space.unsupported) {
        row.unsupported += fmt::format("{}{}", row.unsupported.empty() ? "" : "; ", reason);
      }
      return row;
    }
    if (!options_.tune.empty() && work == Work::all) tune_first(request, space);
    const auto drawback_of = [&](const Candidate& candidate) {
      return prepare_candidate(candidate, context_.catalog(), *bench_.compiler, info().limits,
                               {problem}, Admission::competitive, info().code)
          .message;
    };
    row.chosen = options_.selection.choose(context_, problem.problem, info(),
                                           bench_.compiler->identity(), drawback_of);
    const bool asked = options_.against == kCublasLt;
    const bool has = has_baseline(problem.problem);
    const ContestRules rules{asked && has && work == Work::all, options_.rounds};
    request.policy.batch_ms = turn_ms(options_);  // not of what --tune stores
    row.contest = hold_contest(context_, bench_, request, row.chosen.candidate, rules);
    if (asked && !has) row.contest.note = "cuBLASLt does not support this operation";
    if (asked && work != Work::all) row.contest.note = "cuBLASLt does not accept k = 0";
    return row;
  }

 private:
  void tune_first(TuneRequest request, const SearchSpace& space) {
    request.budget.seconds = parse_limit_s("--tune", options_.tune);
    request.objective = context_.objective();
    ProgressBar bar(context_.terminal(), context_.verbosity());
    auto store = context_.open_for_writing();
    const TuneResult tuned = tune(request, space, context_.catalog(), bench_.compiler,
                                  *bench_.evaluator, store, bar, StopSignal::requested());
    if (!tuned.best) {
      context_.warn(fmt::format(
          "--tune {}: tuning found no kernel in this time. Therefore bench measures the "
          "kernel that an application would get now. Next: give a longer time",
          options_.tune));
    }
  }

  Context& context_;
  const BenchOptions& options_;
  Workbench bench_;
};

RatioMean mean_ratio(const std::vector<BenchRow>& rows) {
  std::vector<const Contest*> contests;
  for (const auto& row : rows) contests.push_back(&row.contest);
  return mean_ratio(contests);
}

std::string row_text(const BenchRow& row) {
  std::string text = heading_text(row.request.problem) + "\n";
  FactSheet facts;
  if (!row.idle.empty()) return fmt::format("{}  {}\n", text, row.idle);
  if (!row.unsupported.empty()) {
    facts.add("unsupported", row.unsupported);
    return text + facts.text();
  }
  add_choice(facts, row.chosen);
  facts.add("outcome",
            row.contest.measured()
                ? fmt::format("ok, verified, {}", error_text(row.contest.verification.worst_ratio))
                : failure_text(row.contest));
  if (row.contest.measured()) {
    const auto& timing = row.contest.ours->timing;
    facts.add("time", row.modelled ? fmt::format("{}, modelled: predicted, not measured",
                                                 time_text(timing.median_ns))
                                   : spread_text(timing));
    facts.add("rate", rates_text(row.request.problem, timing.median_ns));
    const bool asked = !row.contest.baselines.empty() || !row.contest.note.empty();
    if (asked) facts.add("ratio", ratio_text(row.contest));
  }
  return text + facts.text();
}

std::string table_text(const std::vector<BenchRow>& rows) {
  using enum Table::Align;
  Table table({{"name"},
               {"problem"},
               {"template"},
               {"choice"},
               {"time", right},
               {"rate", right},
               {"cuBLASLt", right},
               {"ratio", right},
               {"+-", right},
               {"verified"}});
  std::string remarks;
  const auto remark = [&](const BenchRow& row, std::string_view what) {
    remarks += fmt::format("{}: {}\n", row.name, what);
  };
  for (const auto& row : rows) {
    const auto& contest = row.contest;
    if (!row.idle.empty()) {
      remark(row, row.idle);
    } else if (!row.unsupported.empty()) {
      remark(row, "unsupported: " + row.unsupported);
    } else if (row.error) {
      remark(row, fmt::format("error: {}", row.error->what()));
    } else if (!contest.measured()) {
      remark(row, failure_text(contest));
    } else {
      const double time_ns = contest.ours->timing.median_ns;
      const bool compared = contest.compared();
      table.add_row({row.name, heading_text(row.request.problem),
                     row.chosen.candidate.template_name, std::string(source_text(row.chosen)),
                     time_text(time_ns) + (row.modelled ? " modelled" : ""),
                     rate_text(row.request.problem, time_ns),
                     compared ? time_text(contest.baselines.front().timing.median_ns) : "",
                     compared ? fmt::format("{:.3f}", contest.ours->ratio) : "",
                     compared ? fmt::format("{:.3f}", contest.ours->ratio_spread) : "", "yes"});
      if (!row.chosen.unavailable.empty()) remark(row, row.chosen.unavailable);
      const auto complaint = baseline_complaint(contest);
      if (!complaint.empty()) remark(row, "cuBLASLt: " + complaint);
      if (!contest.note.empty()) remark(row, "cuBLASLt: " + contest.note);
    }
  }
  std::string text = table.empty() ? "" : table.text();
  if (!remarks.empty()) text += (text.empty() ? "" : "\n") + remarks;
  const auto measured = std::count_if(rows.begin(), rows.end(),
                                      [](const BenchRow& row) { return row.contest.measured(); });
  text += fmt::format("\n{} of {} problems were measured and verified", measured, rows.size());
  const RatioMean mean = mean_ratio(rows);
  if (mean.counted > 0)
    text += fmt::format("; Kiln reaches {:.3f} of cuBLASLt's speed (geometric mean)", mean.value);
  if (mean.against_wrong > 0) {
    text += fmt::format(
        "; the mean excludes {} for which cuBLASLt's fastest algorithm gives wrong results",
        counted(static_cast<std::uint64_t>(mean.against_wrong), "problem"));
  }
  return text + "\n";
}

Json row_json(const BenchRow& row) {
  Json json;
  if (!row.name.empty()) json["name"] = row.name;
  const Problem problem = row.request.problem;
  json["problem"] = to_json(problem);
  if (!row.idle.empty()) {
    json["idle"] = row.idle;
    return json;
  }
  if (!row.unsupported.empty()) {
    json["unsupported"] = row.unsupported;
    return json;
  }
  if (row.error) {
    json["error"] = row.error->what();
    return json;
  }
  json.update(choice_json(row.chosen));
  json["provenance"] = to_string(row.modelled ? Provenance::modelled : Provenance::measured);
  json.update(contest_json(row.contest));
  if (row.contest.measured()) {
    json["tflops"] = tera_flops(problem, row.contest.ours->timing.median_ns);
    json["gbytes_per_s"] = giga_bytes(problem, row.contest.ours->timing.median_ns);
    add_metrics(json, problem, row.contest.ours->timing.median_ns);
  }
  return json;
}

/// A wrong or failing kernel is a failure; a problem that nothing computes is not, in a suite.
int exit_code_of_row(const BenchRow& row, bool suite) {
  if (!row.idle.empty()) return kExitOk;
  if (!row.unsupported.empty()) return suite ? kExitOk : kExitNoCandidate;
  if (row.error) return exit_code_of(row.error->kind());
  return row.contest.measured() ? kExitOk : kExitFailure;
}

int bench(Context& context, const BenchOptions& options) {
  check_bench_usage(options);
  const bool suite = !options.suite.empty();
  std::vector<SuiteLine> lines;
  ProblemCase single;
  if (suite) {
    static_cast<void>(context.catalog());  // which declares the operations of its folders
    lines = read_suite(options.suite);
  } else {
    single = options.problem.request();
  }
  const StopSignal signals;
  Benchmark benchmark(context, options);
  if (StopSignal::requested()) return kExitInterrupted;
  std::vector<BenchRow> rows;
  if (!suite) rows.push_back(benchmark.measure("", single));
  for_each_line(
      lines,
      [&](const SuiteLine& line) {
        context.note(fmt::format("{}: {}", line.name, heading_text(line.tuned.problem)));
        rows.push_back(benchmark.measure(line.name, line.tuned));
      },
      [&](const SuiteLine& line, const Error& error) {
        rows.push_back({line.name, line.tuned, "", "", error, {}, {}, false});
      });
  if (context.flags.json) {
    Json document = json_document("bench");
    document["device"] = to_json(benchmark.info().device_class);
    document["results"] = Json::array();
    for (const auto& row : rows) document["results"].push_back(row_json(row));
    const RatioMean mean = mean_ratio(rows);
    document["geometric_mean_ratio"] = mean.value;
    document["left_out_of_mean"] = mean.against_wrong;
    context.print(json_text(document));
  } else {
    context.print(suite ? table_text(rows) : row_text(rows.front()));
  }
  int worst = StopSignal::requested() ? kExitInterrupted : kExitOk;
  for (const auto& row : rows) worst = std::max(worst, exit_code_of_row(row, suite));
  return worst;
}

}  // namespace

Action add_bench(CLI::App& verb, const Operation& operation) {
  auto options = std::make_shared<BenchOptions>();
  options->problem.add_to(verb, operation, ProblemFlags::Word::optional);
  auto& o = *options;
  verb.add_option(
          "--suite", o.suite,
          "Measure each problem in FILE. By default, each line describes a gemm: `name dtype "
          "M N K layout`. A header line, e.g. `softmax: name rows cols`, sets the "
          "operation and the columns of the lines below it")
      ->type_name("FILE");
  verb.add_option("--against", o.against,
                  "Compare the kernel with the fastest algorithm that LIBRARY suggests")
      ->type_name("LIBRARY");
  CLI::Option* const rounds =
      verb.add_option("--rounds", o.rounds, "Number of rounds of the comparison (default 15)")
          ->type_name("N")
          ->check(whole_number(3, kMostRepetitions));  // of fewer there is no spread
  CLI::Option* const turn =
      verb.add_option("--turn", o.turn,
                      "Running time of each kernel in a round, 1ms to 1s (default 2ms). In short "
                      "rounds, both kernels run at about the same clock. In long rounds, the "
                      "kernel that draws more power may run at a lower clock")
          ->type_name("TIME");
  o.selection.add_to(verb);
  verb.add_option("--tune", o.tune, "First tune each problem for this time")->type_name("TIME");
  CLI::Option* const warm =
      verb.add_flag("--warm", o.warm, "Keep the operands in the L2 cache while timing");
  verb.add_flag("--in-process", o.in_process,
                "Run the kernel in this process, not in a worker process; for debugging");
  verb.add_flag("--no-wait", o.no_wait,
                "If another run is measuring on the GPU, exit with code 4 instead of waiting");
  return [options, rounds, turn, warm](Context& context) {
    options->measurement_given = rounds->count() + turn->count() + warm->count() > 0;
    return bench(context, *options);
  };
}

}  // namespace kiln::tools
