// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Tunes a make-believe template into FOLDER/tuning.db and reports on stdout, trial by trial,
// what is safely stored: one line "ID TEMPLATE CONFIG" each. Meant to be killed.

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <thread>

#include "tests/support/fake_compiler.hpp"
#include "tests/support/scripted_evaluator.hpp"
#include "tests/support/toy_templates.hpp"
#include "tuner/gemm/case.hpp"
#include "tuner/session/session.hpp"

namespace kiln::testing {
namespace {

/// Acknowledges each trial with one write, so that a line is there whole or not at all.
class Acknowledge : public SessionObserver {
 public:
  void on_trial(const Trial& trial) override {
    const std::string line =
        fmt::format("{} {} {}\n", trial.id, trial.key.template_name, trial.key.config.canonical());
    if (::write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      _exit(3);
    }
  }
};

Evaluation evaluate(const EvaluationJob& job) {
  const std::size_t number = std::hash<std::string>{}(job.label);
  std::this_thread::sleep_for(std::chrono::microseconds(300 + number % 1200));
  if (number % 17 == 0) return failed_with(Outcome::wrong_result, "planted");
  if (number % 19 == 0) return failed_with(Outcome::crashed, "planted");
  return passed_in(1000.0 + static_cast<double>(number % 1000));
}

int run(const std::string& folder) {
  const Catalog catalog = Catalog::with_directories({folder});
  TuningStore store = TuningStore::open(folder + "/tuning.db", OpenMode::read_write);
  ScriptedEvaluator evaluator(evaluate);
  TuneRequest request;
  request.tuned = problem_case({Gemm::of(DType::f16, 512, 512, 512)});
  request.budget.seconds = 0;
  request.policy.finalists = 0;  // they are measured again on purpose
  request.compile_threads = 2;
  Acknowledge observer;
  const std::atomic<bool> stop{false};
  const SearchSpace space =
      make_search_space(catalog, request.tuned.problem, evaluator.info().limits, {{"toy"}, {}});
  const auto result = tune(request, space, catalog, std::make_shared<FakeCompiler>(), evaluator,
                           store, observer, stop);
  return result.session.state == "complete" ? 0 : 1;
}

}  // namespace
}  // namespace kiln::testing

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    return kiln::testing::run(argv[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
