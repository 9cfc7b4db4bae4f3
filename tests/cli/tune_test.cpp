// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Tuning as far as it goes without a GPU.

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cache/store/store.hpp"
#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

const std::vector<std::string> kNarrow{"tune",
                                       "gemm",
                                       "--m",
                                       "64",
                                       "--n",
                                       "64",
                                       "--k",
                                       "64",
                                       "--arch",
                                       "sm_90a",
                                       "--compile-only",
                                       "--templates",
                                       "gemm_naive",
                                       "--set",
                                       "block_x=32,64",
                                       "--set",
                                       "block_y=1,2"};

nlohmann::json compile_narrow(const Sandbox& sandbox) {
  auto arguments = kNarrow;
  arguments.push_back("--json");
  const auto run = sandbox.run(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return nlohmann::json::parse(run.out)["results"].at(0);
}

TEST(Tune, WithoutADeviceSaysWhatWorksWithoutOne) {
  const Sandbox sandbox;
  const auto run = sandbox.run({"tune", "gemm", "--m", "64", "--n", "64", "--k", "64"});
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find("--compile-only"), std::string::npos) << run.err;
  EXPECT_FALSE(std::filesystem::exists(sandbox.database()));
}

TEST(Tune, BenchAndRunNeedADevice) {
  const Sandbox sandbox;
  for (const char* verb : {"bench", "run"}) {
    const auto run = sandbox.run({verb, "gemm", "--m", "64", "--n", "64", "--k", "64"});
    EXPECT_EQ(run.exit_code, 4) << verb;
    EXPECT_EQ(run.out, "") << verb;
    EXPECT_NE(run.err.find("kiln: "), std::string::npos) << verb;
  }
}

TEST(Tune, CompileOnlyStoresEveryCandidate) {
  const Sandbox sandbox;
  const auto result = compile_narrow(sandbox);
  EXPECT_EQ(result["space"], 4);
  EXPECT_EQ(result["done"], 4);
  EXPECT_EQ(result["outcomes"]["ok"], 4);
  EXPECT_EQ(result["session"]["state"], "complete");
  EXPECT_EQ(result["device"]["arch"], "sm_90a");
  const auto show = sandbox.run({"show", "gemm", "--m", "64", "--n", "64", "--k", "64"});
  EXPECT_EQ(show.exit_code, 0) << show.err;
  EXPECT_NE(show.out.find("compiled only"), std::string::npos) << show.out;
  EXPECT_NE(show.out.find(" UTC, nvrtc "), std::string::npos) << show.out;
  EXPECT_EQ(show.out.find("driver="), std::string::npos) << show.out;
}

TEST(Tune, AResumedRunCompilesNothingAgain) {
  const Sandbox sandbox;
  (void)compile_narrow(sandbox);
  const auto again = compile_narrow(sandbox);
  EXPECT_EQ(again["done"], 0);
  EXPECT_EQ(again["known"], 4);
  EXPECT_FALSE(again["best"].is_null());
}

TEST(Tune, ABudgetOfCandidatesIsKept) {
  const Sandbox sandbox;
  auto arguments = kNarrow;
  arguments.insert(arguments.end(), {"--max-candidates", "1", "--json"});
  const auto run = sandbox.run(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto result = nlohmann::json::parse(run.out)["results"].at(0);
  EXPECT_EQ(result["done"], 1);
  EXPECT_EQ(result["session"]["state"], "budget");
}

TEST(Tune, ASuiteNamesWhatIsUnsupported) {
  const Sandbox sandbox;
  sandbox.write("suite.txt", "small f16 64 64 64 nt\nlimited s32 64 64 64 nn\n");
  const auto run = sandbox.run({"tune", "gemm", "--suite", "suite.txt", "--compile-only", "--arch",
                                "sm_80", "--templates", "gemm_naive", "--set", "block_x=32",
                                "--set", "block_y=1", "--quiet"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("limited is unsupported:\n  the template gemm_naive "), std::string::npos)
      << run.out;
  EXPECT_EQ(run.err, "");
}

// No template that takes part for e4m3 has the tunable: an error of that line alone.
TEST(Tune, ALineOfASuiteThatFailsCostsTheOthersNothing) {
  const Sandbox sandbox;
  sandbox.write("suite.txt", "bad e4m3 64 64 64 nn\ngood f16 64 64 64 nn\n");
  std::vector<std::string> arguments{
      "tune",  "--suite",   "suite.txt",   "--compile-only",       "--arch",           "sm_90a",
      "--set", "frag_m=16", "--templates", "gemm_wmma,gemm_naive", "--max-candidates", "1"};
  const auto text = sandbox.run(arguments);
  EXPECT_EQ(text.exit_code, 2) << text.err;
  EXPECT_NE(text.out.find("\nbad: error: "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("tunable 'frag_m'"), std::string::npos) << text.out;
  arguments.emplace_back("--json");
  const auto json = nlohmann::json::parse(sandbox.run(arguments).out);
  EXPECT_TRUE(json["results"].at(0).contains("error"));
  EXPECT_EQ(json["results"].at(1)["name"], "good");
  EXPECT_FALSE(json["results"].at(1)["best"].is_null());
}

TEST(Tune, ASuiteNamesAMistakeInAFlagOnce) {
  const Sandbox sandbox;
  sandbox.write("suite.txt", "a f16 64 64 64 nn\nb f16 32 32 32 nn\n");
  const auto run = sandbox.run(
      {"tune", "--suite", "suite.txt", "--compile-only", "--arch", "sm_90a", "--budget", "7"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err.find("--budget"), run.err.rfind("--budget")) << run.err;
}

TEST(Tune, AProblemThatNothingComputesIsExitCodeThree) {
  const Sandbox sandbox;
  const auto run = sandbox.run({"tune", "gemm", "--m", "8", "--n", "8", "--k", "8", "--dtype",
                                "s32", "--compile-only", "--arch", "sm_80"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_NE(run.out.find("no template computes this"), std::string::npos) << run.out;
  EXPECT_FALSE(std::filesystem::exists(sandbox.database()));
}

Words with_small_budget(const Words& words) {
  return with(words, {"--device", "emulated:h200", "--templates", "gemm_naive", "--max-candidates",
                      "1", "--db", "mine.db", "--json"});
}

// As an upgrade leaves a database: its trials are of templates as they were before.
TEST(Tune, StaleTunesAgainWhatAChangedTemplateLeft) {
  const Sandbox sandbox;
  ASSERT_EQ(sandbox.run(with_small_budget(on_gemm("tune", 16, 16, 16))).exit_code, 0);
  const auto stale = with_small_budget({"tune", "--stale"});
  const auto results = [&] {
    const auto tuned = sandbox.run(stale);
    EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
    return nlohmann::json::parse(tuned.out)["results"];
  };
  EXPECT_TRUE(results().empty()) << "nothing is stale yet";

  const std::string path = (sandbox.folder() / "mine.db").string();
  auto trials = TuningStore::open(path, OpenMode::read_only).trials({});
  ASSERT_FALSE(trials.empty());
  for (auto& trial : trials) {
    trial.key.template_digest = std::string(32, '0');
    trial.id.clear();
  }
  std::filesystem::remove(path);
  (void)TuningStore::open(path, OpenMode::read_write).record_all(trials);
  const auto run =
      with(on_gemm("run", 16, 16, 16), {"--device", "emulated:h200", "--db", "mine.db"});
  const auto before = sandbox.run(run);
  EXPECT_NE((before.out + before.err).find("`kiln tune --stale` retunes"), std::string::npos)
      << before.out << before.err;
  const auto verified = sandbox.run(
      with(on_gemm("verify", 16, 16, 16), {"--device", "emulated:h200", "--db", "mine.db"}));
  EXPECT_NE(verified.out.find("`kiln tune --stale` retunes"), std::string::npos) << verified.out;
  EXPECT_EQ(verified.err.find("has changed since"), std::string::npos)
      << "once is enough: " << verified.err;

  EXPECT_EQ(results().size(), 1U);
  const auto after = sandbox.run(run);
  EXPECT_EQ((after.out + after.err).find("has changed since"), std::string::npos) << after.out;
  EXPECT_TRUE(results().empty()) << "once is enough";
}

}  // namespace
}  // namespace kiln::cli
