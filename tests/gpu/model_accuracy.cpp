// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// How well the performance models rank configurations that a real GPU has measured: predicts every
/// measured GEMM candidate of a tuning database, with a run on the emulated GPU and from the
/// templates' cost lines, and compares. Needs no GPU. Prints, for each problem and for each
/// template over all its problems, Spearman's rank correlation, and by how much the best of the
/// model's first 16 is slower than the best of all; and for the cost lines, how many are measured
/// until one is within 2 % of the best of all, in their order and in that which a search makes of
/// it as results come (tuner/session/time_correction.hpp). -s skips the runs, which take all the
/// time; -v prints every configuration before that, with both times in microseconds; --templates
/// names a folder whose templates replace built-in ones.
///
///     model_accuracy [-s] [-v] [--templates FOLDER] DATABASE [PROFILE] [PART PARTS]

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cache/files/locations.hpp"
#include "cache/store/store.hpp"
#include "kiln/error.hpp"
#include "kiln/gemm.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/emulated/device/emulated_device.hpp"
#include "runtime/model/static_model.hpp"
#include "templates/catalog.hpp"
#include "templates/operation/operation.hpp"
#include "tuner/gemm/case.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/session/time_correction.hpp"
#include "tuner/strategies/strategy.hpp"
#include "tuner/verify/workload.hpp"

namespace kiln {
namespace {

struct Row {
  double measured_ns = 0.0;
  double predicted_ns = 0.0;  ///< 0: without runs
  double static_ns = 0.0;     ///< 0: the template states no costs
  double flops = 0.0;
  TimeCorrection::Code code;
};

using Forecast = double Row::*;

struct Options {
  std::string database;
  std::string model = "h200";
  std::vector<std::string> template_folders;
  bool static_only = false;
  bool verbose = false;
  int part = 0;
  int parts = 1;
};

/// The value of `name` in "gemm a=f16 b=f16 ... reads_c=0".
std::string field(const std::string& kind, const std::string& name) {
  const std::size_t at = kind.find(" " + name + "=");
  const std::size_t begin = at + name.size() + 2;
  return kind.substr(begin, kind.find(' ', begin) - begin);
}

Gemm gemm_of(const Problem& problem) {
  const std::string kind = problem.kind_text();
  Gemm gemm;
  gemm.a = parse_dtype(field(kind, "a")).value();
  gemm.b = parse_dtype(field(kind, "b")).value();
  gemm.c = parse_dtype(field(kind, "c")).value();
  gemm.d = parse_dtype(field(kind, "d")).value();
  gemm.acc = parse_dtype(field(kind, "acc")).value();
  gemm.storage_a = field(kind, "trans_a") == "1" ? Storage::t : Storage::n;
  gemm.storage_b = field(kind, "trans_b") == "1" ? Storage::t : Storage::n;
  gemm.reads_c = field(kind, "reads_c") == "1";
  gemm.m = problem.size("m").value();
  gemm.n = problem.size("n").value();
  gemm.k = problem.size("k").value();
  return normalised(gemm);
}

/// Ranks from 0, ties sharing their mean.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t x, std::size_t y) { return values[x] < values[y]; });
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t j = i; j < end; ++j) {
      result[order[j]] = (static_cast<double>(i) + static_cast<double>(end) - 1.0) / 2.0;
    }
    i = end;
  }
  return result;
}

/// Pearson's correlation of the ranks.
double spearman(const std::vector<double>& x, const std::vector<double>& y) {
  const std::vector<double> a = ranks(x);
  const std::vector<double> b = ranks(y);
  const double mean = (static_cast<double>(a.size()) - 1.0) / 2.0;
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  return aa > 0.0 && bb > 0.0 ? ab / std::sqrt(aa * bb) : 0.0;
}

/// Time of the best of the model's first `count`, over the best of all.
double best_of_first(const std::vector<Row>& rows, Forecast forecast, std::size_t count) {
  std::vector<Row> sorted = rows;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Row& x, const Row& y) { return x.*forecast < y.*forecast; });
  const auto measured = [](const Row& x, const Row& y) { return x.measured_ns < y.measured_ns; };
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(count, sorted.size()));
  return std::min_element(sorted.begin(), end, measured)->measured_ns /
         std::min_element(sorted.begin(), sorted.end(), measured)->measured_ns;
}

/// How many candidates are measured in the order of their static times until one takes at most 2 %
/// longer than the best of all. If `learns`, those that are left are ordered anew after every four,
/// as in a search.
std::size_t tries(const std::vector<Row>& rows, bool learns) {
  constexpr std::size_t kResults = 4;
  std::vector<Row> left = rows;
  for (Row& row : left) row.predicted_ns = row.static_ns;
  TimeCorrection correction(rows.front().code.size());
  const auto measured = [](const Row& x, const Row& y) { return x.measured_ns < y.measured_ns; };
  const double enough = 1.02 * std::ranges::min_element(rows, measured)->measured_ns;
  for (std::size_t count = 1;; ++count) {
    const auto next = std::ranges::min_element(
        left, [](const Row& x, const Row& y) { return x.predicted_ns < y.predicted_ns; });
    if (next->measured_ns <= enough) return count;
    correction.add(next->code, next->measured_ns, next->static_ns);
    left.erase(next);
    if (!learns || count % kResults != 0) continue;
    correction.learn(0.0);
    for (Row& row : left) row.predicted_ns = row.static_ns * correction.factor(row.code);
  }
}

void print(const std::string& name, const std::vector<Row>& rows, Forecast forecast,
           bool one_problem) {
  std::vector<double> measured, predicted, ratios;
  for (const Row& row : rows) {
    if (row.*forecast <= 0.0) return;
    // Over several problems the rates are compared: sizes by themselves would rank times well.
    const double scale = one_problem ? 1.0 : 1.0 / row.flops;
    measured.push_back(row.measured_ns * scale);
    predicted.push_back(row.*forecast * scale);
    ratios.push_back(row.measured_ns / row.*forecast);
  }
  std::sort(ratios.begin(), ratios.end());
  const auto quantile = [&](double q) {
    return ratios[static_cast<std::size_t>(q * (static_cast<double>(ratios.size()) - 1.0))];
  };
  const bool in_order = one_problem && forecast == &Row::static_ns;
  fmt::print("{:6}  {:5d}  {:.3f}  {:>7}  {:>7}  {:>7}  {:.2f} {:.2f} {:.2f}  {}\n",
             forecast == &Row::static_ns ? "static" : "run", rows.size(),
             spearman(measured, predicted),
             one_problem ? fmt::format("{:.3f}", best_of_first(rows, forecast, 16)) : "-",
             in_order ? fmt::to_string(tries(rows, false)) : "-",
             in_order ? fmt::to_string(tries(rows, true)) : "-", quantile(0.1), quantile(0.5),
             quantile(0.9), name);
}

/// Predictions of one candidate from runs on the emulated GPU.
class Runs {
 public:
  Runs(const Catalog& catalog, const std::string& model)
      : catalog_(catalog),
        cubins_(std::make_shared<CubinStore>(
            cubin_store_path("").value, std::int64_t{4} << 30,
            [](const std::string& text) { fmt::print(stderr, "{}\n", text); })),
        compiler_(make_nvrtc_compiler("", SystemHeaders::precompile), cubins_),
        device_(model) {}

  /// Nothing, with a note on stderr, if it cannot be run.
  [[nodiscard]] std::optional<double> time_ns(const Candidate& candidate, const Gemm& gemm) {
    const ProblemCase one = problem_case({gemm});
    const PreparedCandidate prepared =
        prepare_candidate(candidate, catalog_, compiler_, device_.info().limits, {one},
                          Admission::runnable, CodeKind::ptx);
    DeviceStatus status;
    const auto module = device_.load(prepared.job.unit.cubin, prepared.job.unit.names, status);
    if (prepared.outcome != Outcome::ok || !status.ok()) {
      fmt::print(stderr, "{}: {}{}\n", candidate_text(candidate), prepared.message, status.message);
      return std::nullopt;
    }
    MemoryLedger ledger(device_, device_.free_memory_bytes());
    const OperandSet operands(ledger, one, "the problem");
    const DeviceBuffer workspace(ledger, prepared.job.workspace_bytes.front(), "the workspace");
    const GemmArgs args = gemm_argument(one, operands.arguments(one.scalars, workspace.address()));
    const auto& launches = prepared.job.geometry.front();
    double total_ns = 0.0;
    for (std::size_t i = 0; i < launches.size() && status.ok(); ++i) {
      if (launches[i].left_out()) continue;
      total_ns +=
          device_.predict({module->functions()[i], launches[i], &args, sizeof(args)}, status)
              .time_ns;
    }
    if (status.ok()) return total_ns;
    fmt::print(stderr, "{}: {}\n", candidate_text(candidate), status.message);
    return std::nullopt;
  }

 private:
  const Catalog& catalog_;
  std::shared_ptr<CubinStore> cubins_;
  CachingCompiler compiler_;
  EmulatedDevice device_;
};

int compare(const Options& options) {
  const Catalog catalog = Catalog::with_directories(options.template_folders);
  const TuningStore store = TuningStore::open(options.database, OpenMode::read_only);
  const DeviceProfile profile = profile_of(options.model);
  std::optional<Runs> runs;
  if (!options.static_only) runs.emplace(catalog, options.model);
  std::map<std::string, std::map<std::string, std::vector<Row>>> tables;
  std::set<std::string> seen;
  int number = 0;
  for (const Trial& trial : store.trials({})) {
    if (trial.outcome != Outcome::ok || !trial.timing || trial.timing->interleaved ||
        trial.provenance != Provenance::measured) {
      continue;
    }
    const std::string problem_text =
        trial.key.problem.kind_text() + " " + trial.key.problem.sizes_text();
    const Candidate candidate{trial.key.template_name, trial.key.config};
    if (!seen.insert(problem_text + candidate_text(candidate)).second) continue;
    if (number++ % options.parts != options.part) continue;
    const Gemm gemm = gemm_of(trial.key.problem);
    Row row;
    row.measured_ns = trial.timing->median_ns;
    row.flops = 2.0 * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) *
                static_cast<double>(gemm.k);
    const KernelTemplate& kernel = catalog.at(candidate.template_name);
    row.static_ns =
        static_time_ns(kernel, candidate.config, trial.key.problem, profile).value_or(0.0);
    row.code = TimeCorrection::code_of(kernel.space(trial.key.problem, profile.limits).tunables(),
                                       candidate.config);
    if (runs) {
      const auto time_ns = runs->time_ns(candidate, gemm);
      if (!time_ns) continue;
      row.predicted_ns = *time_ns;
    }
    if (options.verbose) {
      fmt::print("{:.2f} measured, {:.2f} run, {:.2f} static  {}  {}\n", row.measured_ns / 1e3,
                 row.predicted_ns / 1e3, row.static_ns / 1e3, candidate_text(candidate),
                 problem_text);
    }
    tables[trial.key.template_name][problem_text].push_back(row);
  }
  fmt::print(
      "model   count  rank   best16   tries  learned   measured/predicted (10 %, 50 %, 90 %)\n");
  for (const auto& [name, problems] : tables) {
    for (const Forecast forecast : {&Row::predicted_ns, &Row::static_ns}) {
      std::vector<Row> all;
      for (const auto& [problem, rows] : problems) {
        print(name + ": " + problem, rows, forecast, true);
        all.insert(all.end(), rows.begin(), rows.end());
      }
      print(name + ", all problems, by rate", all, forecast, false);
    }
  }
  return 0;
}

std::optional<Options> read_arguments(int argc, char** argv) {
  Options options;
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-s") {
      options.static_only = true;
    } else if (word == "-v") {
      options.verbose = true;
    } else if (word == "--templates" && i + 1 < argc) {
      options.template_folders.emplace_back(argv[++i]);
    } else {
      words.push_back(word);
    }
  }
  if (words.empty() || words.size() == 3 || words.size() > 4) return std::nullopt;
  options.database = words[0];
  if (words.size() > 1) options.model = words[1];
  if (words.size() > 3) {
    options.part = std::atoi(words[2].c_str());
    options.parts = std::max(1, std::atoi(words[3].c_str()));
  }
  return options;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  const auto options = kiln::read_arguments(argc, argv);
  if (!options) {
    fmt::print(stderr,
               "usage: model_accuracy [-s] [-v] [--templates FOLDER] DATABASE [PROFILE] "
               "[PART PARTS]\n");
    return 2;
  }
  try {
    return kiln::compare(*options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "model_accuracy: {}\n", error.what());
    return 1;
  }
}
