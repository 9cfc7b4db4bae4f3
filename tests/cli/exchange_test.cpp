// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Results of other autotuners, as a person brings them in and takes Kiln's results out.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/cli/fixture.hpp"
#include "tests/cli/sandbox.hpp"
#include "tests/cli/user_template.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// `idle`, with 40 values of a tunable that its code does not use.
void write_idle_template(const Sandbox& sandbox) {
  std::string values = "1*";
  for (int i = 2; i <= 40; ++i) values += fmt::format(" {}", i);
  sandbox.write("idle.cu", replaced(user_template("idle"), "  int block_x;  //@ tune 32\n",
                                    fmt::format("  int block_x;  //@ tune 32\n"
                                                "  int unused;  //@ tune {}\n",
                                                values)));
}

/// A cache file without its last braces, as Kernel Tuner leaves it when it is killed.
constexpr std::string_view kIdleCache =
    R"({"device_name": "NVIDIA A100", "kernel_name": "idle", "problem_size": [48, 4],
"tune_params_keys": ["unused", "block_x"], "tune_params": {"unused": [3, 37, 5], "block_x": [32]},
"objective": "time",
"cache": {
"3,32": {"unused": 3, "block_x": 32, "time": 0.5, "times": [0.5, 0.5], "compile_time": 100.0},
"37,32": {"unused": 37, "block_x": 32, "time": 0.25, "times": [0.25], "compile_time": 100.0},
"5,32": {"unused": 5, "block_x": 32, "time": "RuntimeFailedConfig", "compile_time": 10.0},)";

Words idle_problem(const std::string& verb) {
  return with(on_gemm(verb, 4, 48, 8), {"--dtype", "f32", "--template-path", "."});
}

Words import_idle(const Words& more = {"--arch", "sm_80"}) {
  return with(with({"import", "cache.json"}, {"gemm", "--m", "4", "--n", "48", "--k", "8"}),
              with({"--dtype", "f32", "--template-path", ".", "--template", "idle"}, more));
}

Sandbox& prepared(Sandbox& sandbox) {
  write_idle_template(sandbox);
  sandbox.write("cache.json", std::string(kIdleCache));
  return sandbox;
}

TEST(Exchange, ImportedResultsAreShownButNeverChosen) {
  Sandbox sandbox;
  const auto imported = prepared(sandbox).run(import_idle());
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(imported.out, "3 rows added, 0 already there, 0 refused\n");
  EXPECT_THAT(imported.err, HasSubstr("Kiln has not verified these results"));
  EXPECT_EQ(sandbox.run(import_idle()).out, "0 rows added, 3 already there, 0 refused\n");

  const auto shown = sandbox.run(idle_problem("show"));
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("on NVIDIA A100, sm_80\n"),
                               HasSubstr("none: all results are imported"),
                               HasSubstr("3 results of another autotuner, not verified by Kiln; "
                                         "fastest: 250"),
                               HasSubstr("unused=37")));
  const auto document = Json::parse(sandbox.run(with(idle_problem("show"), {"--json"})).out);
  const auto& device = document.at("devices").at(0);
  EXPECT_TRUE(device.at("best").is_null());
  EXPECT_EQ(device.at("imported").at(0).at("provenance"), "imported");
  EXPECT_EQ(device.at("ranked").size(), 0U);
  EXPECT_THAT(sandbox.run({"list", "--template-path", "."}).out,
              HasSubstr("none: only imported results"));
  const auto kernel = sandbox.run(idle_problem("export"));
  EXPECT_NE(kernel.exit_code, 0) << kernel.out;
}

TEST(Exchange, TheArchitectureIsTheOneThatKilnCompilesFor) {
  Sandbox sandbox;
  ASSERT_EQ(prepared(sandbox).run(import_idle({"--arch", "sm_90"})).exit_code, 0);
  EXPECT_THAT(sandbox.run(idle_problem("show")).out, HasSubstr("on NVIDIA A100, sm_90a\n"));
}

TEST(Exchange, TuneTriesTheFastestImportedCandidateRightAfterTheDefault) {
  Sandbox sandbox;
  ASSERT_EQ(prepared(sandbox).run(import_idle()).exit_code, 0);
  const auto tuned =
      sandbox.run(with(idle_problem("tune"), {"--device", "emulated:h200", "--templates", "idle",
                                              "--max-candidates", "2"}));
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  std::set<int> tried;
  const auto lines = sandbox.shell("kiln export --database | grep '\"modelled\"'").out;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    tried.insert(Json::parse(lines.substr(at, end - at)).at("config").at("unused").get<int>());
    at = end + 1;
  }
  EXPECT_EQ(tried, (std::set<int>{1, 37}));
}

TEST(Exchange, ExportsGiveTheImportedFilesAgain) {
  Sandbox sandbox;
  ASSERT_EQ(prepared(sandbox).run(import_idle()).exit_code, 0);
  const auto cache = sandbox.run(with(idle_problem("export"), {"--format", "kernel_tuner"}));
  ASSERT_EQ(cache.exit_code, 0) << cache.err;
  Json written = Json::parse(cache.out);
  Json read = Json::parse(std::string(kIdleCache.substr(0, kIdleCache.size() - 1)) + "}}");
  // The template lists more values.
  EXPECT_EQ(written.at("tune_params").at("unused").size(), 40U);
  written.erase("tune_params");
  read.erase("tune_params");
  EXPECT_EQ(written, read);

  const auto t4 = sandbox.run(with(idle_problem("export"), {"--format", "t4", "-o", "cache.json"}));
  ASSERT_EQ(t4.exit_code, 0) << t4.err;
  const Sandbox other;
  write_idle_template(other);
  other.write("cache.json", sandbox.read("cache.json"));
  const auto imported = other.run(import_idle({"--arch", "80", "--gpu", "NVIDIA A100"}));
  EXPECT_EQ(imported.out, "3 rows added, 0 already there, 0 refused\n") << imported.err;
  EXPECT_EQ(other.run(with(idle_problem("export"), {"--format", "t4"})).out,
            sandbox.read("cache.json"));
}

TEST(Exchange, ImportNamesWhatDoesNotFit) {
  Sandbox sandbox;
  prepared(sandbox);
  const auto refusal = [&](const Words& words) {
    const auto run = sandbox.run(words);
    EXPECT_EQ(run.exit_code, 2) << run.out;
    return run.err;
  };
  EXPECT_THAT(refusal(import_idle({})), HasSubstr("--arch is missing"));
  EXPECT_THAT(
      refusal({"import", "cache.json"}),
      AllOf(HasSubstr("cache.json: not a file written by `kiln export"), HasSubstr("--template")));
  EXPECT_THAT(refusal({"import", "cache.json", "--arch", "sm_80"}), HasSubstr("add the problem"));
  EXPECT_THAT(refusal({"import", "cache.json", "gemm", "--m", "4", "--n", "48", "--k", "8"}),
              HasSubstr("with --template"));

  std::string cache(kIdleCache);
  sandbox.write("cache.json",
                replaced(cache, "\"unused\": 37, \"block_x\"", "\"unused\": 41, \"block_x\""));
  EXPECT_THAT(refusal(import_idle()), HasSubstr("cache.json:6: unused has the value 41"));
  sandbox.write("cache.json", replaced(cache, "[\"unused\", \"block_x\"]", "[\"unused\"]"));
  EXPECT_THAT(refusal(import_idle()), HasSubstr("Only in the template: block_x."));
  std::string extra = cache;
  for (std::size_t at = 0; (at = extra.find("\"block_x\": 32,", at)) != extra.npos; at += 30) {
    extra.insert(at, "\"odd\": 1, ");
  }
  sandbox.write("cache.json",
                replaced(extra, "[\"unused\", \"block_x\"]", "[\"unused\", \"block_x\", \"odd\"]"));
  EXPECT_THAT(refusal(import_idle()), HasSubstr("Only in the file: odd."));
  EXPECT_FALSE(std::filesystem::exists(sandbox.database()));
}

TEST(Exchange, ImportRefusesTimesThatNoGpuReaches) {
  Sandbox sandbox;
  prepared(sandbox);
  sandbox.write("cache.json",
                replaced(std::string(kIdleCache), "\"time\": 0.5,", "\"time\": 0.0000001,"));
  const auto run = sandbox.run(import_idle());
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "2 rows added, 0 already there, 1 refused\n");
  EXPECT_THAT(run.err, HasSubstr("cache.json:5: trial field 'median_ns'"));
}

TEST(Exchange, ATableHasOneRowForEachTrial) {
  const Sandbox sandbox;
  fill_database(sandbox);
  const auto all = sandbox.run({"export", "--format", "csv"});
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(std::count(all.out.begin(), all.out.end(), '\n'), 6) << all.out;
  EXPECT_TRUE(all.out.starts_with("trial_id,"));
  const auto none = sandbox.run({"export", "--format", "csv", "--on", "A100"});
  EXPECT_NE(none.exit_code, 0);
  EXPECT_THAT(none.err, HasSubstr("--on A100"));
}

TEST(Exchange, OwnResultsAreExportedForOneProblemTemplateAndDevice) {
  const Sandbox sandbox;
  fill_database(sandbox);
  const Words problem{"gemm", "--m", "64", "--n", "48", "--k", "32", "--layout", "nt"};
  const auto run =
      sandbox.run(with(with({"export"}, problem), {"--format", "t4", "--template", "gemm_tiled"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json file = Json::parse(run.out);
  EXPECT_EQ(file.at("schema_version"), "1.0.0");
  EXPECT_EQ(file.at("results").size(), 4U);
  EXPECT_THAT(run.err, HasSubstr("verified with an older version of the operation gemm"));
  EXPECT_THAT(sandbox.run({"export", "--format", "t4"}).err, HasSubstr("name the problem"));
  EXPECT_THAT(sandbox.run({"export", "--format", "t4", "--database"}).err,
              HasSubstr("leave out --database"));
  EXPECT_THAT(sandbox.run({"export", "--format", "xml"}).err, HasSubstr("xml is unknown"));
}

}  // namespace
}  // namespace kiln::cli
