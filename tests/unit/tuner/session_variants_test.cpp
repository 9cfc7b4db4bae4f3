// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a session tries while it would wait for a compiler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/tuner/session_fixture.hpp"

namespace kiln::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Lt;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

/// The toy has codes x = 0 to 2, launched with g and h = 0 or 1. Those of x = 1 and 2 compile until
/// `awaited` candidates were run, and 0.3 s longer.
class LaunchVariantsTest : public SessionTest {
 protected:
  LaunchVariantsTest() {
    ToyTemplate toy{"variant_toy", {{"x", {0, 1, 2}}}};
    toy.at_launch = {{"g", {0, 1}}, {"h", {0, 1}}};
    catalog = catalog_with(folder, {toy});
    selection.templates = {"variant_toy"};
    request.strategy = "random";
    request.compile_threads = 1;
    request.seed = 21;  // the first is proposed with x = 0, and of the next seven none
    request.budget.seconds = 60.0;
    request.fill_waits = true;
    compiler = std::make_shared<FakeCompiler>([this](const CompileRequest& compile) {
      const auto& names = compile.name_expressions;
      if (!names.empty() && names[0].starts_with("variant_toy") &&
          config_value(names[0], "x") > 0) {
        wait_for_runs();
      }
      return FakeCompilation{};
    });
  }

  void wait_for_runs() {
    std::unique_lock lock(mutex);
    (void)ran.wait_for(lock, std::chrono::seconds(20), [&] { return runs >= awaited; });
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  void count_run() {
    const std::lock_guard lock(mutex);
    ++runs;
    ran.notify_all();
  }

  /// Runs a session in which a candidate takes what `time_ns` says of g and h. Returns g and h of
  /// what was run before there was any other code than that of x = 0.
  std::vector<std::pair<int, int>> first_launches(const std::function<double(int, int)>& time_ns) {
    ScriptedEvaluator evaluator([&](const EvaluationJob& job) {
      count_run();
      const auto value = [&](const char* name) {
        return static_cast<int>(label_value(job.label, name));
      };
      return passed_in(time_ns(value("g"), value("h")) + 10.0 * value("x"));
    });
    const TuneResult result = run(evaluator);
    EXPECT_EQ(result.session.state, "complete");
    std::vector<std::string> labels = evaluator.evaluated();
    EXPECT_THAT(labels, SizeIs(12));
    EXPECT_THAT(std::set<std::string>(labels.begin(), labels.end()), SizeIs(12)) << "none twice";
    std::vector<std::pair<int, int>> launches;
    for (const std::string& label : labels) {
      if (label_value(label, "x") != 0) break;
      launches.emplace_back(label_value(label, "g"), label_value(label, "h"));
    }
    return launches;
  }

  std::size_t awaited = 0;
  std::mutex mutex;
  std::condition_variable ran;
  std::size_t runs = 0;
};

TEST_F(LaunchVariantsTest, AreRunMeanwhile) {
  awaited = 4;
  EXPECT_THAT(first_launches([](int g, int h) { return 1000.0 - 10.0 * g - h; }),
              UnorderedElementsAre(Pair(0, 0), Pair(1, 0), Pair(0, 1), Pair(1, 1)));
}

// Two values change at a time, once single ones are through, however much the static times promise;
// those of what is far behind do not change.
TEST_F(LaunchVariantsTest, OnesOfCandidatesFarBehindAreNot) {
  ToyTemplate toy{"variant_toy", {{"x", {0, 1, 2}}}};
  toy.at_launch = {{"g", {0, 1}}, {"h", {0, 1}}, {"i", {0, 1}}};
  toy.costs = {"waits = 1000 - 300 * (g + h + i)"};
  catalog = catalog_with(folder, {toy});
  awaited = 7;
  ScriptedEvaluator evaluator([&](const EvaluationJob& job) {
    count_run();
    const auto changed =
        label_value(job.label, "g") + label_value(job.label, "h") + label_value(job.label, "i");
    return passed_in(changed == 0 ? 1000.0 : 2000.0);
  });
  EXPECT_EQ(run(evaluator).session.state, "complete");
  std::vector<std::int64_t> changes;
  for (const std::string& label : evaluator.evaluated()) {
    if (label_value(label, "x") != 0) break;
    changes.push_back(label_value(label, "g") + label_value(label, "h") + label_value(label, "i"));
  }
  EXPECT_THAT(changes, ElementsAre(0, 1, 1, 1, 2, 2, 2));
}

TEST_F(LaunchVariantsTest, NothingIsWhereSessionsAreNotToDependOnCompilers) {
  const auto time_ns = [](int g, int h) { return 1000.0 - 10.0 * g - h; };
  request.fill_waits = false;
  EXPECT_THAT(first_launches(time_ns), SizeIs(Lt(4U)));
}

TEST_F(LaunchVariantsTest, NothingIsWhereCandidatesAreCounted) {
  request.budget.candidates = 12;
  ScriptedEvaluator evaluator([](const EvaluationJob&) { return passed_in(1000.0); });
  EXPECT_EQ(run(evaluator).progress.done, 12U);
}

}  // namespace
}  // namespace kiln::testing
