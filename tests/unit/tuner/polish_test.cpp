// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The best candidates with settings of the compiler, at the end of a session.
#include "tuner/session/polish.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "templates/space/compile_settings.hpp"
#include "tests/unit/tuner/planted_operations.hpp"
#include "tests/unit/tuner/session_fixture.hpp"

namespace kiln::testing {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kPolishTemplate = R"(//@ template   polish_rows
//@ purpose    A test
//@ operation  scale_rows
//@ tune       variant = 0* 1
//@ launch     polish_rows<variant>
//@   grid     rows
//@   block    256
//@   args     x, y, (long long) rows * cols, scale

template <int kVariant>
__global__ void polish_rows(const float* x, float* y, long long count, float scale) {}
)";

/// Variant 1 takes 1000 ns and variant 0 twice as long. Each setting has its factor.
class PolishTest : public SessionTest {
 protected:
  PolishTest() {
    const Operation& operation = planted_operation(kScaleRows);
    request.tuned = declared_case(operation, problem_of(operation, {{"rows", 16}, {"cols", 64}}),
                                  {{"scale", 0.3}});
    request.polish = true;
    selection = {};
    use(std::string(kPolishTemplate));
    compiler = std::make_shared<FakeCompiler>([](const CompileRequest& compile) {
      FakeCompilation compilation;
      compilation.cubin.behaviour =
          fmt::format("{} {}", static_cast<int>(compile.code), fmt::join(compile.options, " "));
      return compilation;
    });
  }
  void use(const std::string& source) {
    std::ofstream(folder.path() / "scale_rows.cu") << kScaleRows;
    std::ofstream(folder.path() / "polish_rows.cu") << source;
    catalog = Catalog::with_directories({folder.path().string()});
  }
  void use_with(const std::string& line) {
    std::string text(kPolishTemplate);
    use(text.insert(text.find("//@ launch"), line + "\n"));
  }
  /// The labels of what ran.
  std::vector<std::string> ran() {
    const auto start = std::chrono::steady_clock::now();
    ScriptedEvaluator evaluator([&](const EvaluationJob& job) {
      last_ran_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      double time_ns = label_value(job.label, "variant") == 1 ? 1000.0 : 2000.0;
      for (const auto& [setting, factor] : factors) {
        if (job.label.find(setting) != std::string::npos) time_ns *= factor;
      }
      return passed_in(time_ns);
    });
    result = run(evaluator);
    return evaluator.evaluated();
  }
  [[nodiscard]] std::string best() const { return result.best->key.config.canonical(); }

  std::vector<std::pair<std::string, double>> factors;
  TuneResult result;
  double last_ran_s = 0.0;  ///< after the session's start
};

TEST_F(PolishTest, TriesEachSettingAndThenThoseThatHelpTogether) {
  factors = {{"compile.route=ptx", 0.95},
             {"compile.vectorize=true", 0.98},
             {"compile.max_registers=48", 1.2},
             {"compile.max_registers=40", 0.9}};
  const std::vector<std::string> labels = ran();
  EXPECT_EQ(best(), "variant=1 compile.max_registers=40 compile.route=ptx compile.vectorize=true");
  EXPECT_EQ(result.best->timing->median_ns, 1000.0 * 0.95 * 0.98 * 0.9);
  ASSERT_EQ(labels.size(), 7U) << "two of the search, four settings, and one with three of them";
  EXPECT_THAT(std::vector<std::string>(labels.begin() + 2, labels.end()),
              Each(HasSubstr("variant=1")))
      << "the other variant is too far behind";
  EXPECT_THAT(observer.phases, Contains("polishing"));
  EXPECT_EQ(result.session.state, "complete");
  EXPECT_EQ(result.session.space_size, 2U);
}

TEST_F(PolishTest, KeepsTheCandidateThatNoSettingMakesFaster) {
  factors = {{"compile.", 1.01}};
  EXPECT_EQ(ran().size(), 6U);
  EXPECT_EQ(best(), "variant=1");
}

// By this objective the slowest is the best.
TEST_F(PolishTest, FollowsTheObjective) {
  request.objective = Objective::parse("1e12 / time_ns", "test");
  factors = {{"compile.route=ptx", 1.2}, {"compile.vectorize=true", 1.1}};
  (void)ran();
  EXPECT_THAT(best(), HasSubstr("compile.route=ptx compile.vectorize=true"));
  EXPECT_EQ(result.best->timing->median_ns, 2000.0 * 1.2 * 1.1);
}

TEST_F(PolishTest, LaterSessionsKnowTheResults) {
  factors = {{"compile.route=ptx", 0.95}};
  (void)ran();
  EXPECT_THAT(ran(), IsEmpty());
  EXPECT_EQ(best(), "variant=1 compile.route=ptx");
  EXPECT_EQ(result.progress.known, 2U) << "a space counts no settings";
}

TEST_F(PolishTest, IsOffWhereItIsNotWanted) {
  const auto only_the_space = Each(Not(HasSubstr("compile.")));
  request.budget.candidates = 2;
  EXPECT_THAT(ran(), only_the_space) << "a count is for the search";
  std::filesystem::remove(folder.path() / "tuning.db");
  request.budget.candidates = 0;
  request.polish = false;
  EXPECT_THAT(ran(), only_the_space);
  request.polish = true;
  for (const std::string line : {"//@ compile route=cubin", "//@ cost fp32 = 100"}) {
    std::filesystem::remove(folder.path() / "tuning.db");
    use_with(line);
    EXPECT_THAT(ran(), only_the_space) << line;
  }
}

// The time kept for it is a tenth of the budget. What cannot be compiled in that is left to the
// search.
TEST_F(PolishTest, CompilesNothingThatTakesLongerThanItsTime) {
  std::string text(kPolishTemplate);
  use(text.replace(text.find("0* 1"), 4, "0:400:1"));
  std::atomic<int> with_settings = 0;
  compiler = std::make_shared<FakeCompiler>([&](const CompileRequest& compile) {
    FakeCompilation compilation;
    if (compile.source.find("polish_rows") != std::string::npos) {
      if (compile.code != CodeKind::cubin || !compile.options.empty()) ++with_settings;
      const auto& names = compile.name_expressions;
      const auto variant = names.empty() ? 0 : config_value(names[0], "variant");
      compilation.seconds = 0.45 + 0.01 * static_cast<double>(variant % 10);
      std::this_thread::sleep_for(std::chrono::duration<double>(compilation.seconds));
    }
    return compilation;
  });
  request.strategy = "random";
  request.compile_threads = 8;
  request.budget.seconds = 4.0;
  (void)ran();
  EXPECT_EQ(with_settings, 0);
  EXPECT_GT(last_ran_s, 3.6);
  EXPECT_EQ(result.session.state, "budget");
}

TEST_F(PolishTest, StopsWhenTheSessionDoes) {
  after_trial = [&](std::size_t count) {
    if (count == 3) stop = true;
  };
  EXPECT_LE(ran().size(), 4U);
  ASSERT_TRUE(result.best);
}

// Results of earlier versions have no settings, and those with some find their template.
TEST_F(PolishTest, CompilesWithTheOptionsOfASetting) {
  std::set<std::string> behaviours;
  compiler = std::make_shared<FakeCompiler>([&](const CompileRequest& compile) {
    if (compile.source.find("polish_rows") != std::string::npos) {
      behaviours.insert(
          fmt::format("{} {}", static_cast<int>(compile.code), fmt::join(compile.options, " ")));
    }
    return FakeCompilation{};
  });
  request.compile_threads = 1;
  (void)ran();
  EXPECT_THAT(behaviours, UnorderedElementsAre("0 ", "0 --maxrregcount=48", "0 --maxrregcount=40",
                                               "0 --extra-device-vectorization", "2 "));
}

TEST(RegisterLimits, AdmitOneAndTwoMoreBlocks) {
  const DeviceLimits limits = *limits_of_arch("sm_90a");
  EXPECT_THAT(register_limits(limits, 256, 64, 0), ElementsAre(48, 40));
  EXPECT_THAT(register_limits(limits, 1024, 40, 0), ElementsAre(32));
  EXPECT_THAT(register_limits(limits, 256, 32, 0), IsEmpty()) << "all threads fit";
  EXPECT_THAT(register_limits(limits, 256, 64, 60000), IsEmpty()) << "shared memory is the limit";
}

TEST(PolishShare, IsATenthAndAtMostSixSeconds) {
  EXPECT_DOUBLE_EQ(polish_share_s({.seconds = 25.0}), 2.5);
  EXPECT_DOUBLE_EQ(polish_share_s({.seconds = 600.0}), 6.0);
  EXPECT_DOUBLE_EQ(polish_share_s({.seconds = 0.0}), 0.0);
  BudgetClock clock({.seconds = 100.0}, 10.0);
  const double before_s = clock.search_left_s();
  clock.reserve(4.0);
  EXPECT_NEAR(clock.search_left_s(), before_s + 6.0, 1.0);
}

}  // namespace
}  // namespace kiln::testing
