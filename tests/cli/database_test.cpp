// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Verbs over the database: list, show, export, import, merge, prune, doctor.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cache/store/store.hpp"
#include "tests/cli/fixture.hpp"
#include "tests/cli/golden.hpp"
#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

const Words kTuned{"gemm", "--m", "64", "--n", "48", "--k", "32", "--layout", "nt"};

TEST(Database, AnAbsentOneIsEmptyAndStaysAbsent) {
  const Sandbox sandbox;
  expect_golden("list_absent", sandbox, sandbox.run({"list"}));
  expect_golden("show_absent", sandbox, sandbox.run(with({"show"}, kTuned)));
  EXPECT_EQ(sandbox.run({"prune"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(sandbox.database()));
}

TEST(Database, List) {
  const Sandbox sandbox;
  fill_database(sandbox);
  expect_golden("list", sandbox, sandbox.run({"list"}));
  const auto json = nlohmann::json::parse(sandbox.run({"list", "--json"}).out);
  EXPECT_EQ(json["schema"], 2);
  ASSERT_EQ(json["problems"].size(), 2u);
  const auto& best = json["problems"][0]["best"];
  EXPECT_EQ(best["problem"]["sizes"]["m"], 64);
  EXPECT_EQ(best["config"]["tile_m"], 32);
  EXPECT_EQ(sandbox.run({"list", "--on", "H200"}).out, "");
}

TEST(Database, Show) {
  const Sandbox sandbox;
  fill_database(sandbox);
  expect_golden("show", sandbox, sandbox.run(with({"show"}, kTuned)));
  expect_golden("show_all", sandbox, sandbox.run(with({"show", "--all"}, kTuned)));
  const auto json = nlohmann::json::parse(sandbox.run(with({"show", "--json"}, kTuned)).out);
  const auto& device = json["devices"].at(0);
  EXPECT_EQ(device["match"], "exact");
  EXPECT_EQ(device["outcomes"]["wrong_result"], 1);
  EXPECT_EQ(device["ranked"].size(), 2u);
}

// A prediction that came later must not make a program on the card one of another driver.
TEST(Database, ShowSpeaksOfTheDriverThatMeasured) {
  const Sandbox sandbox;
  fill_database(sandbox);
  {
    auto store = TuningStore::open(sandbox.database().string(), OpenMode::read_write);
    const auto trials = store.trials({});
    Trial predicted = *std::find_if(trials.begin(), trials.end(), [](const Trial& trial) {
      return trial.timing && trial.key.problem.size("m") == 64;
    });
    predicted.id = std::string(32, 'f');
    predicted.provenance = Provenance::modelled;
    predicted.environment.driver = "emulated";
    predicted.created_unix_ms += 1000;
    (void)store.record_all({predicted});
  }
  const auto run = sandbox.run(with({"show"}, kTuned));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("applications get  exact: "), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("now emulated"), std::string::npos) << run.out;
}

TEST(Database, ShowOfAnUntunedProblemSaysWhatApplicationsGet) {
  const Sandbox sandbox;
  fill_database(sandbox);
  expect_golden(
      "show_untuned", sandbox,
      sandbox.run({"show", "gemm", "--m", "80", "--n", "48", "--k", "32", "--layout", "nt"}));
}

TEST(Database, ExportOfTheBestKernel) {
  const Sandbox sandbox;
  fill_database(sandbox);
  const auto run = sandbox.run(with({"export"}, kTuned));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("tile_m=32"), std::string::npos);
  EXPECT_NE(run.out.find("&gemm_tiled<GemmTiledConfig{{.k_major_a = "), std::string::npos);
}

TEST(Database, ExportOfTheBestKernelSaysThatItsCubinWasCompiledAgain) {
  const Sandbox sandbox;
  fill_database(sandbox);
  // An empty store: other tests may have compiled this kernel.
  const auto run = sandbox.run(
      with({"export"},
           with(kTuned, {"--cubin", "best.cubin", "-o", "best.cu", "--cubin-store", "cubins.db"})));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("compiled again"), std::string::npos) << run.err;
  EXPECT_FALSE(sandbox.read("best.cubin").empty());
}

TEST(Database, ExportAndImportAreARoundTrip) {
  const Sandbox full;
  fill_database(full);
  const auto exported = full.run({"export", "--database", "-o", "trials.jsonl"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_EQ(exported.err, "kiln: 5 trials and 2 sessions exported\n");
  const auto lines = full.read("trials.jsonl");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 9);

  const Sandbox empty;
  empty.write("trials.jsonl", lines);
  EXPECT_EQ(empty.run({"import", "trials.jsonl"}).out,
            "7 rows added, 0 already there, 0 refused\n");
  EXPECT_EQ(empty.run({"import", "trials.jsonl"}).out,
            "0 rows added, 7 already there, 0 refused\n");
  EXPECT_EQ(empty.run({"export", "--database"}).out, lines);
  // With its sessions, so that a search that ran out of budget does not look final.
  EXPECT_EQ(empty.run({"list"}).out, full.run({"list"}).out);
}

TEST(Database, WhatCannotBeReadToItsEndIsNotImportedSilently) {
  const Sandbox full;
  fill_database(full);
  const std::string lines = full.run({"export", "--database"}).out;
  const Sandbox empty;
  empty.write("cut.jsonl", lines.substr(0, lines.size() - 300));
  const auto cut = empty.run({"import", "cut.jsonl"});
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_NE(cut.out.find("6 rows added, 0 already there, 1 refused"), std::string::npos) << cut.out;
  EXPECT_THAT(cut.err,
              ::testing::AllOf(::testing::HasSubstr("cut.jsonl "),
                               ::testing::HasSubstr(". The rows before this point are stored")));

  const Sandbox other;
  for (const std::string unreadable : {".", "/proc/self/mem"}) {
    const auto run = other.run({"import", unreadable});
    EXPECT_EQ(run.exit_code, 2) << unreadable;
    EXPECT_NE(run.err.find(unreadable + ": "), std::string::npos) << run.err;
  }
  EXPECT_FALSE(std::filesystem::exists(other.database()));
}

TEST(Database, ImportDoesNotBelieveAnEditedMedian) {
  const Sandbox full;
  fill_database(full);
  std::string lines = full.run({"export", "--database"}).out;
  const auto at = lines.find("\"median_ns\":2500.0");
  ASSERT_NE(at, std::string::npos);
  lines.replace(at, 18, "\"median_ns\":1.0");
  const Sandbox empty;
  empty.write("trials.jsonl", lines);
  const auto run = empty.run({"import", "trials.jsonl"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("'median_ns'"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find(" 2500"), std::string::npos) << run.err;
}

TEST(Database, ImportRefusesBadLinesAndKeepsGoodOnes) {
  const Sandbox full;
  fill_database(full);
  std::string lines = full.run({"export", "--database"}).out;
  lines.insert(lines.find('\n') + 1, "{\"id\": 5}\n");
  const Sandbox empty;
  empty.write("trials.jsonl", lines);
  const auto run = empty.run({"import", "trials.jsonl"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "7 rows added, 0 already there, 1 refused\n");
  EXPECT_NE(run.err.find("trials.jsonl:2:"), std::string::npos) << run.err;
}

/// Five trials and two sessions.
TEST(Database, MergeIsIdempotent) {
  const Sandbox sandbox;
  fill_database(sandbox);
  const auto source = sandbox.database().string();
  EXPECT_EQ(sandbox.run({"merge", "all.db", source}).out,
            "7 rows added, 0 already there, 0 refused\n");
  EXPECT_EQ(sandbox.run({"merge", "all.db", source}).out,
            "0 rows added, 7 already there, 0 refused\n");
  EXPECT_EQ(sandbox.run({"list", "--db", "all.db"}).out, sandbox.run({"list"}).out);
}

TEST(Database, MergeWithoutItsSourceLeavesTheTargetAlone) {
  const Sandbox sandbox;
  EXPECT_EQ(sandbox.run({"merge", "all.db", "absent.db"}).exit_code, 5);
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "all.db"));
}

TEST(Database, MergeSavesTheRowsOfADatabaseWithAForeignSchema) {
  const Sandbox sandbox;
  fill_database(sandbox);
  const auto source = sandbox.database().string();
  std::string bytes = sandbox.read(source);
  const auto cost = bytes.find("1.25 END) END) VIRTUAL");
  ASSERT_NE(cost, std::string::npos);
  bytes.replace(cost, 4, "0.25");
  sandbox.write(source, bytes);
  const auto list = sandbox.run({"list"});
  EXPECT_EQ(list.exit_code, 5);
  EXPECT_NE(list.err.find("`kiln merge NEW.db " + source + "`"), std::string::npos) << list.err;
  const auto merge = sandbox.run({"merge", "all.db", source});
  EXPECT_EQ(merge.exit_code, 0) << merge.err;
  EXPECT_EQ(merge.out, "7 rows added, 0 already there, 0 refused\n");
  EXPECT_NE(merge.err.find("table trials"), std::string::npos) << merge.err;
  EXPECT_EQ(sandbox.run({"list", "--db", "all.db"}).exit_code, 0);
}

TEST(Database, ADryRunOfPruneCountsAndChangesNothing) {
  const Sandbox sandbox(Sandbox::Cache::own);
  fill_database(sandbox);
  const auto before = sandbox.read(sandbox.database().string());
  const Words prune{"prune", "--older", "0s", "--keep-best", "1"};
  const auto dry = sandbox.run(with(prune, {"--dry-run", "--cubins", "1MiB"}));
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_NE(dry.out.find(" trials and 0 compiled kernels would be removed (dry run)\n"),
            std::string::npos)
      << dry.out;
  EXPECT_EQ(sandbox.read(sandbox.database().string()), before);
  const auto json = nlohmann::json::parse(sandbox.run(with(prune, {"--dry-run", "--json"})).out);
  EXPECT_EQ(json["dry_run"], true);
  EXPECT_EQ(nlohmann::json::parse(sandbox.run(with(prune, {"--json"})).out)["trials_removed"],
            json["trials_removed"]);
}

TEST(Database, PruneKeepsTheBest) {
  const Sandbox sandbox;
  fill_database(sandbox);
  const auto before = sandbox.run(with({"export"}, kTuned)).out;
  const auto run = sandbox.run({"prune", "--older", "0s", "--keep-best", "1"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(sandbox.run(with({"export"}, kTuned)).out, before);
}

TEST(Database, ADamagedOneIsNamedWithExitCodeFive) {
  const Sandbox sandbox;
  fill_database(sandbox);
  std::filesystem::resize_file(sandbox.database(), 5000);
  for (const auto& arguments :
       {Words{"list"}, with({"show"}, kTuned), std::vector<std::string>{"export", "--database"}}) {
    const auto run = sandbox.run(arguments);
    EXPECT_EQ(run.exit_code, 5) << arguments.front();
    EXPECT_NE(run.err.find(sandbox.database().string()), std::string::npos) << run.err;
  }
  const auto doctor = sandbox.run({"doctor"});
  EXPECT_EQ(doctor.exit_code, 1);
  EXPECT_NE(doctor.out.find("broken   database"), std::string::npos) << doctor.out;
}

TEST(Database, WhatIsNoDatabaseIsRefused) {
  const Sandbox sandbox;
  sandbox.write("notes.txt", "This is a letter, not a database.\n");
  const auto run = sandbox.run({"list", "--db", "notes.txt"});
  EXPECT_EQ(run.exit_code, 5);
  EXPECT_NE(run.err.find("notes.txt"), std::string::npos) << run.err;
  EXPECT_EQ(sandbox.read("notes.txt"), "This is a letter, not a database.\n");
}

TEST(Doctor, WithoutADeviceEverythingElseIsWell) {
  Sandbox sandbox;
  sandbox.set("KILN_MODE", "require");
  const auto run = sandbox.run({"doctor", "--json"});
  EXPECT_EQ(run.exit_code, 4) << run.out;
  const auto json = nlohmann::json::parse(run.out);
  for (const auto& finding : json["findings"]) {
    EXPECT_NE(finding["state"], "broken") << finding;
    EXPECT_EQ(finding["state"] == "ok", finding["fix"] == "") << finding;
  }
  const auto& mode = json["settings"].at(1);
  EXPECT_EQ(mode["name"], "KILN_MODE");
  EXPECT_EQ(mode["value"], "require");
  EXPECT_EQ(mode["origin"], "KILN_MODE");
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "data"));
}

TEST(Doctor, ABadSettingIsBroken) {
  Sandbox sandbox;
  sandbox.set("KILN_MODE", "sometimes");
  sandbox.set("KILN_DATABASE", "typo.db");
  const auto run = sandbox.run({"doctor"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.out.find("KILN_MODE=sometimes is not a mode"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("unknown: KILN_DATABASE"), std::string::npos) << run.out;
}

}  // namespace
}  // namespace kiln::cli
