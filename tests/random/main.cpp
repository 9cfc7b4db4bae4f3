// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Random problems, each with a random configuration of a random template, compiled and judged as a
// tuning session judges candidates. A GPU's kernels run in a worker, which is this program as well,
// so that a copy of it is all that another machine needs besides NVRTC.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/emulated/device/emulated_device.hpp"
#include "tests/random/random_problem.hpp"
#include "tests/support/chosen_cases.hpp"
#include "tests/support/toy_templates.hpp"
#include "tuner/local_evaluator.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/worker/evaluator.hpp"

namespace kiln {
namespace {

constexpr int kSkipped = 77;
/// Configurations that do not fit the device are replaced, but not for ever.
constexpr int kMostAttempts = 8;

struct Options {
  std::string device = "emulated:h200";
  std::uint64_t problems = 20;
  std::uint64_t first = 0;
  std::uint64_t seed = 1;
  double seconds = 0.0;
  std::string template_name;
  std::string worker;
};

/// A problem with its compiled candidate.
struct Prepared {
  testing::RandomProblem drawn;
  EvaluationSetup setup;
  PreparedCandidate candidate;
};

/// What became of one.
struct Finding {
  Outcome outcome = Outcome::ok;
  std::string message;
};

class Bench {
 public:
  Bench(const std::string& spec, const std::string& program, std::string template_name)
      : template_name_(std::move(template_name)) {
    if (!template_name_.empty()) static_cast<void>(Catalog::builtin().at(template_name_));
    if (names_emulated_device(spec)) {
      EmulationOptions options;
      options.checks = true;
      auto device = std::make_unique<EmulatedDevice>(spec.substr(spec.find(':') + 1), options);
      emulated_ = device.get();
      evaluator_ = std::make_unique<LocalEvaluator>(std::move(device), BaselineSource{});
    } else {
      evaluator_ =
          std::make_unique<WorkerEvaluator>(std::vector<std::string>{program, "--worker", spec});
    }
    compiler_ = std::make_unique<CachingCompiler>(
        make_nvrtc_compiler("", SystemHeaders::precompile),
        std::make_shared<CubinStore>((folder_.path() / "cubins.db").string(), std::int64_t{1} << 31,
                                     nullptr));
  }

  [[nodiscard]] const DeviceInfo& info() const { return evaluator_->info(); }
  [[nodiscard]] testing::RandomLimits limits() const {
    if (emulated_ != nullptr) return {std::int64_t{1} << 19, 300};
    return {std::int64_t{1} << 31, 3000};
  }

  [[nodiscard]] Prepared prepare(std::uint64_t seed, std::uint64_t index) {
    Prepared prepared;
    for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
      prepared.drawn = testing::draw_problem(seed, index, attempt, Catalog::builtin(),
                                             info().limits, limits(), template_name_);
      try {
        compile(prepared, data_seed(index));
      } catch (const Error& error) {
        prepared.candidate.outcome = Outcome::compile_failed;
        prepared.candidate.message = error.what();
      }
      if (prepared.candidate.outcome != Outcome::out_of_resources) break;
    }
    return prepared;
  }
  [[nodiscard]] static std::uint64_t data_seed(std::uint64_t index) { return index + 1; }

  [[nodiscard]] Finding judge(Prepared& prepared) {
    if (prepared.candidate.outcome != Outcome::ok) {
      return {prepared.candidate.outcome, prepared.candidate.message};
    }
    prepared.candidate.job.time_it = false;
    prepared.candidate.job.timeout_s = 60.0;
    Finding finding;
    try {
      evaluator_->set_up(prepared.setup);
      const Evaluation evaluation = evaluator_->evaluate(prepared.candidate.job);
      finding = {evaluation.outcome, evaluation.message};
      if (finding.outcome == Outcome::ok) finding.message = evaluation.verification.evidence;
    } catch (const Error& error) {
      finding = {Outcome::crashed, error.what()};
    }
    if (emulated_ == nullptr) return finding;
    for (const auto& report : emulated_->take_reports()) {
      if (finding.outcome == Outcome::ok) finding.outcome = Outcome::wrong_result;
      finding.message += "; " + report.describe();
    }
    return finding;
  }

 private:
  void compile(Prepared& prepared, std::uint64_t seed_of_data) {
    prepared.setup =
        testing::setup_of_cases({prepared.drawn.problem}, *compiler_, info(), seed_of_data);
    prepared.candidate =
        prepare_candidate(prepared.drawn.candidate, Catalog::builtin(), *compiler_, info().limits,
                          prepared.setup.cases, Admission::runnable, info().code);
  }

  std::string template_name_;
  testing::TempFolder folder_;
  EmulatedDevice* emulated_ = nullptr;
  std::unique_ptr<Evaluator> evaluator_;
  std::unique_ptr<Compiler> compiler_;
};

/// Verified and failed problems of a template.
struct Count {
  int right = 0;
  int wrong = 0;
  int skipped = 0;
};

class Report {
 public:
  Report(const Options& options, const DeviceInfo& info) : options_(options), info_(info) {}

  void add(std::uint64_t index, const Prepared& prepared, const Finding& finding) {
    Count& count = counts_[prepared.drawn.candidate.template_name];
    if (finding.outcome == Outcome::ok) {
      ++count.right;
      if (!finding.message.empty()) {
        print(index, prepared, "right, but " + finding.message);
      }
      return;
    }
    // No configuration that was drawn fits the device: nothing is known.
    if (finding.outcome == Outcome::out_of_resources) {
      ++count.skipped;
      return;
    }
    ++count.wrong;
    print(index, prepared, fmt::format("{}: {}", to_string(finding.outcome), finding.message));
  }
  [[nodiscard]] int finish() const {
    Count all;
    for (const auto& [name, count] : counts_) {
      fmt::print("{:18} {:5} right {:5} wrong {:5} skipped\n", name, count.right, count.wrong,
                 count.skipped);
      all.right += count.right;
      all.wrong += count.wrong;
      all.skipped += count.skipped;
    }
    fmt::print("{} problems of seed {} from {} on, on {}: {} right, {} wrong, {} skipped\n",
               all.right + all.wrong + all.skipped, options_.seed, options_.first, info_.spec,
               all.right, all.wrong, all.skipped);
    return all.wrong == 0 && all.right > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }

 private:
  void print(std::uint64_t index, const Prepared& prepared, const std::string& what) const {
    fmt::print("problem {} of seed {}: {}\n  {}\n", index, options_.seed, what,
               testing::command_to_repeat(prepared.drawn, info_.spec, Bench::data_seed(index)));
    std::fflush(stdout);
  }

  const Options& options_;
  const DeviceInfo& info_;
  std::map<std::string, Count> counts_;
};

int run(const Options& options, Bench& bench) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto time_left = [&] {
    const std::chrono::duration<double> spent = Clock::now() - start;
    return options.seconds <= 0.0 || spent.count() < options.seconds;
  };
  Report report(options, bench.info());
  fmt::print("seed {}, {} problems on {}\n", options.seed, options.problems, bench.info().spec);
  std::fflush(stdout);
  // As many are compiled ahead as there are processors.
  const std::uint64_t ahead = std::max(2U, std::thread::hardware_concurrency());
  const std::uint64_t end = options.first + options.problems;
  std::map<std::uint64_t, std::future<Prepared>> compiling;
  std::uint64_t next = options.first;
  for (std::uint64_t index = options.first; index < end && time_left(); ++index) {
    for (; next < end && next < index + ahead; ++next) {
      compiling[next] =
          std::async(std::launch::async, [&, next] { return bench.prepare(options.seed, next); });
    }
    Prepared prepared = compiling.at(index).get();
    compiling.erase(index);
    report.add(index, prepared, bench.judge(prepared));
  }
  compiling.clear();
  return report.finish();
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  CLI::App app("Verifies random problems with random configurations of all templates.");
  kiln::Options options;
  app.add_option("--device", options.device, "emulated:MODEL or cuda:N (default emulated:h200)")
      ->envname("KILN_DEVICE");
  app.add_option("--problems", options.problems, "How many (default 20)")
      ->envname("KILN_RANDOM_PROBLEMS");
  app.add_option("--seed", options.seed, "Of the problems (default 1)")
      ->envname("KILN_RANDOM_SEED");
  app.add_option("--first", options.first, "Number of the first one (default 0)");
  app.add_option("--seconds", options.seconds, "Starts none after that time (default: no limit)");
  app.add_option("--template", options.template_name, "Only of this one (default: of all)");
  app.add_option("--worker", options.worker, "Serves this program; not for people")->group("");
  CLI11_PARSE(app, argc, argv);
  if (!options.worker.empty()) {
    return kiln::worker_main(STDIN_FILENO, STDOUT_FILENO,
                             [&] { return kiln::open_device(options.worker); });
  }
  std::unique_ptr<kiln::Bench> bench;
  try {
    bench = std::make_unique<kiln::Bench>(options.device, "/proc/self/exe", options.template_name);
  } catch (const kiln::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return error.kind() == kiln::ErrorKind::usage ? EXIT_FAILURE : kiln::kSkipped;
  }
  return kiln::run(options, *bench);
}
