// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/fake_compiler.hpp"
#include "tests/support/scripted_evaluator.hpp"
#include "tests/support/toy_templates.hpp"
#include "tuner/gemm/case.hpp"
#include "tuner/session/session.hpp"

namespace kiln::testing {

/// Records everything that a session reports, and may set its stop flag.
class RecordingObserver : public SessionObserver {
 public:
  void on_progress(const Progress& progress) override {
    progresses.push_back(progress);
    if (phases.empty() || phases.back() != progress.phase) phases.push_back(progress.phase);
  }
  void on_trial(const Trial& trial) override {
    trials.push_back(trial);
    if (after_trial) after_trial(trials.size());
  }
  void on_note(const std::string& note) override { notes.push_back(note); }

  std::vector<Progress> progresses;
  std::vector<std::string> phases;
  std::vector<Trial> trials;
  std::vector<std::string> notes;
  std::function<void(std::size_t)> after_trial;
};

/// The value of "name=..." in a candidate's label.
[[nodiscard]] inline std::int64_t label_value(const std::string& label, const std::string& name) {
  const std::string key = " " + name + "=";
  const std::size_t at = label.find(key);
  return at == std::string::npos ? -1 : std::stoll(label.substr(at + key.size()));
}

/// Sessions over two toy templates with a store in a folder of their own.
class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    request.tuned = problem_case({Gemm::of(DType::f16, 512, 512, 512)});
    selection.templates = {"toy"};
    request.strategy = "exhaustive";
    request.budget.seconds = 0;
    request.policy.finalists = 0;
    request.policy.unlike_finalists = 0;
    request.compile_threads = 2;
  }

  TuneResult run(ScriptedEvaluator& evaluator) {
    TuningStore store = open();
    observer = {};
    observer.after_trial = after_trial;
    return tune(request, space(), catalog, compiler, evaluator, store, observer, stop);
  }
  /// What the request's problem has, as `selection` restricts it.
  [[nodiscard]] SearchSpace space() const {
    return make_search_space(catalog, request.tuned.problem, *limits_of_arch("sm_90a"), selection);
  }
  [[nodiscard]] TuningStore open() const {
    return TuningStore::open((folder.path() / "tuning.db").string(), OpenMode::read_write);
  }
  [[nodiscard]] std::vector<Trial> stored() const { return open().trials({}); }
  /// As if all that is stored had been judged by that judge.
  void make_verdicts_of(const std::string& judge) const {
    std::vector<Trial> trials = stored();
    for (Trial& trial : trials) trial.judge_digest = judge;
    std::filesystem::remove(folder.path() / "tuning.db");
    (void)open().record_all(trials);
  }

  /// The time of toy is 1000 ns + 10 x + y.
  [[nodiscard]] static Evaluation by_config(const EvaluationJob& job) {
    return passed_in(1000.0 + 10.0 * static_cast<double>(label_value(job.label, "x")) +
                     static_cast<double>(label_value(job.label, "y")));
  }

  TempFolder folder;
  Catalog catalog =
      catalog_with(folder, {{"toy", {{"x", {0, 1, 2, 3}}, {"y", {0, 1, 2}}}},
                            {"toy_slow", {{"x", {0, 1, 2, 3, 4}}, {"y", {0, 1, 2, 3}}}}});
  std::shared_ptr<FakeCompiler> compiler = std::make_shared<FakeCompiler>();
  TuneRequest request;
  SpaceSelection selection;
  RecordingObserver observer;
  std::function<void(std::size_t)> after_trial;
  std::atomic<bool> stop{false};
};

}  // namespace kiln::testing
