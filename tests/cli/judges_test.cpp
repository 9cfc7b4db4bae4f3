// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Verdicts and what judged them, as the author of an operation meets them: after its file was
// corrected, and where only checks show what is wrong.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/sandbox.hpp"
#include "tests/cli/user_template.hpp"

namespace kiln::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTriple = R"(//@ operation  triple
//@ purpose    Three times a vector
//@ size       n 1..65536
//@ type       x f32
//@ type       y f32
//@ operand    x in: n
//@ operand    y out: n
//@ right      y within 1e-6 1e-6
//@ ragged     n=1
//@ ragged     n=37
//@ flops      n
//@ reference  triple_reference
//@   grid     1
//@   block    32
//@   args     x.f64, y.f64, n
__global__ void triple_reference(const double* x, double* y, int n) {
  for (int at = threadIdx.x; at < n; at += 32) y[at] = 3 * x[at];
}
)";

/// One candidate is right and one almost.
constexpr const char* kTripleTemplate = R"(//@ template   triple_plain
//@ purpose    A thread an element
//@ operation  triple
//@ tune       off = 0* 1
//@ launch     triple_plain
//@   grid     ceil_div(n, 64)
//@   block    64
__global__ void triple_plain(const float* x, float* y, int n) {
  const int at = blockIdx.x * 64 + threadIdx.x;
  if (at < n) y[at] = off ? 3.001f * x[at] : 3.0f * x[at];
}
)";

class Judges : public ::testing::Test {
 protected:
  Judges() {
    sandbox.set("KILN_DEVICE", "emulated:h200");
    sandbox.set("KILN_TEMPLATE_PATH", ".");
    sandbox.write("triple_plain.cu", kTripleTemplate);
  }
  /// Writes the operation with one part in place of another.
  void declare(const std::string& from = "", const std::string& to = "") const {
    sandbox.write("triple.cu", from.empty() ? kTriple : replaced(kTriple, from, to));
  }
  [[nodiscard]] cli::Run run(const std::string& verb, const Words& more = {}) const {
    return sandbox.run(with({verb, "triple", "--n", "100"}, more));
  }
  /// What a session finds, by outcome, and how much of it was known.
  [[nodiscard]] nlohmann::json tune(const Words& more = {}) const {
    const Words common{"--compile-threads", "1", "--json"};
    const cli::Run tuned = run("tune", with(common, more));
    return nlohmann::json::parse(tuned.out)["results"].at(0);
  }
  [[nodiscard]] static std::string best_of(const nlohmann::json& result) {
    return result["best"].is_null() ? "none" : result["best"]["config"].dump();
  }

  Sandbox sandbox;
};

TEST_F(Judges, ACorrectedReferenceTurnsItsVerdictsAround) {
  declare("3 * x[at]", "3.001 * x[at]");
  EXPECT_EQ(best_of(tune()), R"({"off":1})");
  declare();
  const cli::Run before = run("run");
  EXPECT_THAT(before.out, HasSubstr("match     default_config"));
  EXPECT_THAT(before.out, HasSubstr("`kiln tune --stale`"));
  EXPECT_THAT(run("show").out,
              HasSubstr("outdated results (older operation): 1 ok, 1 wrong_result"));
  EXPECT_THAT(run("show").out, HasSubstr("none: no candidate has succeeded with the current"));
  EXPECT_THAT(sandbox.run({"list"}).out, HasSubstr("triple_plain (older operation)"));
  EXPECT_EQ(run("export").exit_code, 3) << "nothing that holds is stored";

  const cli::Run stale = sandbox.run({"tune", "--stale", "--json", "--compile-threads", "1"});
  ASSERT_EQ(stale.exit_code, 0) << stale.err;
  const auto result = nlohmann::json::parse(stale.out)["results"].at(0);
  EXPECT_EQ(best_of(result), R"({"off":0})");
  EXPECT_EQ(result["known"], 0);
  EXPECT_EQ(result["shared"], 0);
  const cli::Run after = run("run");
  EXPECT_EQ(after.exit_code, 0);
  EXPECT_THAT(after.out, HasSubstr("match     exact"));
  EXPECT_THAT(after.out, HasSubstr("off=0"));
  const cli::Run shown = run("show", {"--all"});
  EXPECT_THAT(shown.out, HasSubstr("outcomes          1 ok, 1 wrong_result\n"));
  EXPECT_THAT(shown.out, HasSubstr("off=1   older operation"));
  EXPECT_THAT(shown.out, HasSubstr("older operation: n=1 (normal data)"));
  EXPECT_EQ(best_of(tune({"--again"})), R"({"off":0})");
}

TEST_F(Judges, TrialsOfAnEditedTemplateAreMarked) {
  declare();
  static_cast<void>(tune());
  sandbox.write("triple_plain.cu", replaced(kTripleTemplate, "blockIdx.x * 64 + threadIdx.x",
                                            "threadIdx.x + 64 * blockIdx.x"));
  EXPECT_THAT(run("show").out,
              HasSubstr("outdated results (older template): 1 ok, 1 wrong_result"));
  EXPECT_THAT(sandbox.run({"list"}).out, HasSubstr("triple_plain (older template)"));
  static_cast<void>(tune());
  const cli::Run shown = run("show", {"--all"});
  EXPECT_THAT(shown.out, HasSubstr("outcomes          1 ok, 1 wrong_result\n"));
  EXPECT_THAT(shown.out, HasSubstr("off=1   older template"));
}

TEST_F(Judges, EditedHintsLeaveStoredResultsValid) {
  declare();
  EXPECT_EQ(best_of(tune()), R"({"off":0})");
  sandbox.write("triple_plain.hints", "//@ prefer off == 1\n");
  const cli::Run after = run("run");
  EXPECT_THAT(after.out, HasSubstr("match     exact"));
  EXPECT_THAT(after.out, HasSubstr("off=0"));
  EXPECT_THAT(run("show").out, Not(HasSubstr("older")));
  const cli::Run stale = sandbox.run({"tune", "--stale"});
  EXPECT_THAT(stale.err, HasSubstr("nothing is stale"));
  EXPECT_EQ(tune()["known"], 2);
}

TEST_F(Judges, HintsDecideTheUntunedChoiceAndWhatIsTriedFirst) {
  declare("within 1e-6 1e-6", "within 1e-2 1e-6");
  EXPECT_THAT(run("run").out, AllOf(HasSubstr("match     default_config"), HasSubstr("off=0")));
  sandbox.write("triple_plain.hints", "//@ prefer off == 1\n");
  EXPECT_THAT(run("run").out, AllOf(HasSubstr("match     default_config"), HasSubstr("off=1")));
  EXPECT_EQ(best_of(tune({"--max-candidates", "1"})), R"({"off":1})");
}

TEST_F(Judges, HintsWithoutATemplateAreLeftOutWithAWarning) {
  declare();
  sandbox.write("triple_plane.hints", "//@ prefer off == 1\n");
  const cli::Run said = run("run");
  EXPECT_EQ(said.exit_code, 0) << said.err;
  EXPECT_THAT(said.err, HasSubstr("triple_plane.cu"));
}

TEST_F(Judges, ALooserRuleAdmitsWhatWasWrongBefore) {
  declare();
  EXPECT_EQ(best_of(tune({"--set", "off=1"})), "none");
  declare("within 1e-6 1e-6", "within 1e-2 1e-6");
  const auto result = tune({"--set", "off=1"});
  EXPECT_EQ(best_of(result), R"({"off":1})");
  EXPECT_EQ(result["known"], 0);
}

TEST_F(Judges, WhatWasJudgedAgainAndIsWrongIsNotStale) {
  declare("within 1e-6 1e-6", "within 1e-2 1e-6");
  EXPECT_EQ(best_of(tune({"--set", "off=1"})), R"({"off":1})");
  declare();
  EXPECT_THAT(run("run").out, HasSubstr("tune --stale"));
  EXPECT_EQ(best_of(tune({"--set", "off=1"})), "none");
  for (const char* verb : {"run", "show"}) {
    const cli::Run said = run(verb);
    EXPECT_THAT(said.out + said.err, Not(HasSubstr("tune --stale"))) << verb;
  }
  const cli::Run stale = sandbox.run({"tune", "--stale"});
  EXPECT_EQ(stale.exit_code, 0) << stale.out;
  EXPECT_THAT(stale.err, HasSubstr("nothing is stale"));
}

TEST_F(Judges, StaleJudgesAgainWhatHadNoRightCandidate) {
  declare();
  EXPECT_EQ(best_of(tune({"--set", "off=1"})), "none");
  const Words stale{"tune", "--stale", "--json", "--compile-threads", "1"};
  EXPECT_TRUE(nlohmann::json::parse(sandbox.run(stale).out)["results"].empty());
  declare("within 1e-6 1e-6", "within 1e-2 1e-6");
  const auto results = nlohmann::json::parse(sandbox.run(stale).out)["results"];
  ASSERT_EQ(results.size(), 1U);
  EXPECT_NE(best_of(results.at(0)), "none");
  EXPECT_TRUE(nlohmann::json::parse(sandbox.run(stale).out)["results"].empty());
}

TEST_F(Judges, AnotherFillChangesTheJudgeAndNotTheTemplate) {
  declare();
  (void)tune();
  declare("x in: n", "x in: n; fill uniform");
  EXPECT_THAT(run("show").out,
              HasSubstr("outdated results (older operation): 1 ok, 1 wrong_result"));
  EXPECT_THAT(run("run").out, HasSubstr("`kiln tune --stale` verifies"));
}

TEST_F(Judges, WordsOfAnOperationThatNothingDependsOnChangeNothing) {
  declare();
  (void)tune();
  declare("Three times a vector", "Thrice a vector");
  EXPECT_EQ(tune()["known"], 2);
  declare("__global__", "// The plainest there is.\n__global__");
  EXPECT_EQ(tune()["known"], 2);
  EXPECT_THAT(run("run").out, HasSubstr("match     exact"));
}

/// Right on the emulated GPU, whose warps run one after the other, whatever the barrier.
constexpr const char* kShared = R"(//@ template   triple_shared
//@ purpose    By way of shared memory, in reverse
//@ operation  triple
//@ tune       safe = 0 1*
//@ launch     triple_shared
//@   grid     ceil_div(n, 64)
//@   block    64
__global__ void triple_shared(const float* x, float* y, int n) {
  __shared__ float part[64];
  const int at = blockIdx.x * 64 + threadIdx.x;
  part[threadIdx.x] = at < n ? 3 * x[at] : 0.0f;
  if (safe) __syncthreads();
  const int other = (threadIdx.x + 32) % 64;
  const int from = blockIdx.x * 64 + other;
  if (threadIdx.x >= 32 && from < n) y[from] = part[other];
  __syncthreads();
  if (threadIdx.x < 32 && from < n) y[from] = part[other];
}
)";

TEST_F(Judges, TheBestOfAnEmulatedDeviceIsToldOnceItsChecksFindNothing) {
  declare();
  sandbox.write("triple_shared.cu", kShared);
  const Words shared{"--templates", "triple_shared", "--compile-threads", "1"};
  const cli::Run racy = run("tune", with(shared, {"--set", "safe=0"}));
  EXPECT_EQ(racy.exit_code, 3) << racy.out;
  EXPECT_THAT(racy.out, HasSubstr("1 wrong_result"));
  EXPECT_THAT(racy.err, HasSubstr(" triple_shared safe=0, "));
  EXPECT_THAT(racy.err, HasSubstr("race at triple_shared.cu:"));
  EXPECT_THAT(racy.out, HasSubstr("failed    1 wrong_result: n=1"));
  EXPECT_THAT(racy.out, HasSubstr("race at triple_shared.cu:"));
  EXPECT_THAT(racy.out, Not(HasSubstr("criterion"))) << "the reference has nothing to do with it";
  EXPECT_EQ(run("verify", {"--template", "triple_shared", "--set", "safe=0"}).exit_code, 1);

  const cli::Run tuned = run("tune", shared);
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr("safe=1"));
  EXPECT_THAT(tuned.out,
              HasSubstr("checks     no findings; Kiln checked bounds, alignment, uninitialised"));
  EXPECT_THAT(run("show").out, Not(HasSubstr("safe=0")));
}

TEST_F(Judges, AnApplicationIsWarnedOfADefaultThatWasFoundWrong) {
  declare();
  std::filesystem::remove(sandbox.folder() / "triple_plain.cu");
  sandbox.write("triple_shared.cu", replaced(kShared, "safe = 0 1*", "safe = 0*"));
  EXPECT_EQ(run("tune", {"--compile-threads", "1"}).exit_code, 3);
  const cli::Run used = run("run");
  EXPECT_THAT(used.out, HasSubstr("match     default_config"));
  EXPECT_THAT(used.err, HasSubstr("triple_shared"));
  EXPECT_THAT(used.err, HasSubstr("gave wrong results for triple"));
  EXPECT_THAT(used.err, HasSubstr("race at triple_shared.cu:"));
}

TEST_F(Judges, WhatFailedInDifferentWaysAddsUp) {
  declare();
  sandbox.write("triple_plain.cu", replaced(replaced(kTripleTemplate, "off = 0* 1", "off = 0* 1 2"),
                                            "if (at < n) y", "if (at < n && off < 2) y"));
  const cli::Run tuned = run("tune", {"--compile-threads", "1"});
  EXPECT_THAT(tuned.out, HasSubstr("outcomes   1 ok, 2 wrong_result\n"));
  EXPECT_THAT(tuned.out, HasSubstr("failed     1 of 2 wrong_result: "));
  EXPECT_THAT(run("tune", {"--compile-threads", "1"}).out,
              HasSubstr("outcomes   nothing in this run\n"));
}

}  // namespace
}  // namespace kiln::cli
