// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// How well the emulated GPU's performance model ranks configurations that a real one has measured:
/// predicts every measured GEMM candidate of a tuning database and compares. Needs no GPU. Prints,
/// for each problem and for each template over all its problems, Spearman's rank correlation, and
/// by how much the best of the model's first 16 is slower than the best of all. usage:
/// model_accuracy DATABASE [PROFILE] [PART PARTS]

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "cache/locations.hpp"
#include "cache/store.hpp"
#include "kiln/error.hpp"
#include "kiln/gemm.hpp"
#include "runtime/compiler.hpp"
#include "runtime/emulated/emulated_device.hpp"
#include "templates/catalog.hpp"
#include "templates/operation.hpp"
#include "tuner/session.hpp"
#include "tuner/strategies/strategy.hpp"
#include "tuner/workload.hpp"

namespace kiln {
namespace {

struct Row {
  double measured_ns = 0.0;
  double predicted_ns = 0.0;
  double flops = 0.0;
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
double best_of_first(const std::vector<Row>& rows, std::size_t count) {
  std::vector<Row> sorted = rows;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Row& x, const Row& y) { return x.predicted_ns < y.predicted_ns; });
  const auto measured = [](const Row& x, const Row& y) { return x.measured_ns < y.measured_ns; };
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(count, sorted.size()));
  return std::min_element(sorted.begin(), end, measured)->measured_ns /
         std::min_element(sorted.begin(), sorted.end(), measured)->measured_ns;
}

void print(const std::string& name, const std::vector<Row>& rows, bool one_problem) {
  std::vector<double> measured, predicted, ratios;
  for (const Row& row : rows) {
    // Over several problems the rates are compared: sizes alone would rank times well.
    const double scale = one_problem ? 1.0 : 1.0 / row.flops;
    measured.push_back(row.measured_ns * scale);
    predicted.push_back(row.predicted_ns * scale);
    ratios.push_back(row.measured_ns / row.predicted_ns);
  }
  std::sort(ratios.begin(), ratios.end());
  const auto quantile = [&](double q) {
    return ratios[static_cast<std::size_t>(q * (static_cast<double>(ratios.size()) - 1.0))];
  };
  fmt::print("{:5d}  {:.3f}  {:>7}  {:.2f} {:.2f} {:.2f}  {}\n", rows.size(),
             spearman(measured, predicted),
             one_problem ? fmt::format("{:.3f}", best_of_first(rows, 16)) : "-", quantile(0.1),
             quantile(0.5), quantile(0.9), name);
}

int compare(const std::string& database, const std::string& model, int part, int parts) {
  const Catalog& catalog = Catalog::builtin();
  const TuningStore store = TuningStore::open(database, OpenMode::read_only);
  const auto cubins = std::make_shared<CubinStore>(
      cubin_store_path("").value, std::int64_t{4} << 30,
      [](const std::string& text) { fmt::print(stderr, "{}\n", text); });
  CachingCompiler compiler(make_nvrtc_compiler("", SystemHeaders::precompile), cubins);
  EmulatedDevice device(model);
  const DeviceLimits& limits = device.info().limits;
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
    if (number++ % parts != part) continue;
    const GemmCase problem{gemm_of(trial.key.problem), 1.0, 0.0};
    const PreparedCandidate prepared = prepare_candidate(
        candidate, catalog, compiler, limits, {problem}, Admission::runnable, CodeKind::ptx);
    DeviceStatus status;
    const auto module = device.load(prepared.job.unit.cubin, prepared.job.unit.names, status);
    if (prepared.outcome != Outcome::ok || !status.ok()) {
      fmt::print(stderr, "{}: {}{}\n", candidate_text(candidate), prepared.message, status.message);
      continue;
    }
    MemoryLedger ledger(device, device.free_memory_bytes());
    const OperandSet operands(ledger, problem.gemm, "the problem");
    const GemmArgs args = operands.arguments(1.0, 0.0, 0);
    Row row{trial.timing->median_ns, 0.0,
            2.0 * static_cast<double>(problem.gemm.m) * static_cast<double>(problem.gemm.n) *
                static_cast<double>(problem.gemm.k)};
    const auto& launches = prepared.job.geometry.front();
    for (std::size_t i = 0; i < launches.size() && status.ok(); ++i) {
      row.predicted_ns +=
          device.predict({module->functions()[i], launches[i], &args}, status).time_ns;
    }
    if (!status.ok()) {
      fmt::print(stderr, "{}: {}\n", candidate_text(candidate), status.message);
      continue;
    }
    tables[trial.key.template_name][problem_text].push_back(row);
  }
  fmt::print("count  rank   best16  measured/predicted (10 %, 50 %, 90 %)\n");
  for (const auto& [name, problems] : tables) {
    std::vector<Row> all;
    for (const auto& [problem, rows] : problems) {
      print(name + ": " + problem, rows, true);
      all.insert(all.end(), rows.begin(), rows.end());
    }
    print(name + ", all problems, by rate", all, false);
  }
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3 && argc != 5) {
    fmt::print(stderr, "usage: model_accuracy DATABASE [PROFILE] [PART PARTS]\n");
    return 2;
  }
  try {
    return kiln::compare(argv[1], argc > 2 ? argv[2] : "h200", argc > 4 ? std::atoi(argv[3]) : 0,
                         argc > 4 ? std::max(1, std::atoi(argv[4])) : 1);
  } catch (const std::exception& error) {
    fmt::print(stderr, "model_accuracy: {}\n", error.what());
    return 1;
  }
}
