// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// With --json there is one document on standard output, whatever happens.

#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/fixture.hpp"
#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

struct Failure {
  Words arguments;
  int exit_code;
  const char* kind;
};

TEST(Json, ErrorsAreDocuments) {
  const Sandbox sandbox;
  fill_database(sandbox);
  sandbox.write("notes.txt", "This is a letter, not a database.\n");
  sandbox.write("bad.cu", "//@ template   bad\n//@ nonsense\n");
  for (const auto& [arguments, exit_code, kind] :
       {Failure{{"show", "gemm", "--m", "8"}, 2, "usage"},
        Failure{{"show", "gemm", "--m", "x", "--n", "8", "--k", "8"}, 2, "usage"},
        Failure{{"shwo"}, 2, "usage"}, Failure{{"show", "--nonsense"}, 2, "usage"},
        Failure{{"show", "gemm", "--m", "8", "--n", "8", "--k", "8"}, 3, "not_found"},
        Failure{{"list", "--on", "zzz"}, 3, "not_found"},
        Failure{{"list", "--db", "notes.txt"}, 5, "database"},
        Failure{{"bench", "gemm", "--m", "8", "--n", "8", "--k", "8"}, 4, "device"},
        Failure{{"doctor", "--save-profile", "mine.toml"}, 2, "usage"},
        Failure{{"templates", "bad", "--template-path", "."}, 1, "template"},
        Failure{{"export", "gemm", "--m", "9", "--n", "8", "--k", "8"}, 3, "not_found"}}) {
    const auto run = sandbox.run(with(arguments, {"--json"}));
    EXPECT_EQ(run.exit_code, exit_code) << run.err;
    ASSERT_TRUE(nlohmann::json::accept(run.out)) << arguments.front() << ": " << run.out;
    const auto json = nlohmann::json::parse(run.out);
    EXPECT_EQ(json["schema"], 2);
    EXPECT_EQ(json["kiln"], "error");
    EXPECT_EQ(json["kind"], kind) << run.out;
    EXPECT_EQ(json["exit_code"], exit_code);
    EXPECT_EQ(run.err.substr(run.err.size() - json["message"].get<std::string>().size() - 1),
              json["message"].get<std::string>() + "\n")
        << "standard error has it for people";
    EXPECT_EQ(json.contains("verb"), arguments.front() != "shwo");
    EXPECT_EQ(sandbox.run(arguments).out, "") << "without --json there is no document";
  }
}

// At the first moments that a run notices a signal it has no result yet, and soon after part of
// one.
TEST(Json, AnInterruptedRunIsADocument) {
  const Sandbox sandbox;
  const std::string tune =
      " kiln tune gemm --m 32 --n 32 --k 32 --device emulated:h200 --budget 60s --json";
  int noticed = 0;
  for (int delay_ms = 10; noticed < 4 && delay_ms < 10'000; delay_ms += 10) {
    const auto run = sandbox.shell("timeout --preserve-status -s TERM " +
                                   std::to_string(delay_ms * 1e-3) + tune);
    if (run.exit_code == 128 + SIGTERM) continue;  // not even started
    ++noticed;
    EXPECT_EQ(run.exit_code, 130) << run.err;
    EXPECT_TRUE(nlohmann::json::accept(run.out)) << delay_ms << " ms: " << run.out;
  }
  EXPECT_EQ(noticed, 4);
}

TEST(Json, ExportOfAKernelIsADocument) {
  const Sandbox sandbox;
  fill_database(sandbox);
  const Words plain = with(on_gemm("export", 64, 48, 32), {"--layout", "nt"});
  const auto run = sandbox.run(with(plain, {"--json"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["kiln"], "export");
  EXPECT_EQ(json["template"], "gemm_tiled");
  EXPECT_EQ(json["arch"], "sm_90a");
  EXPECT_EQ(json["problem"]["sizes"]["m"], 64);
  EXPECT_EQ(json["config"]["tile_m"], 32);
  EXPECT_EQ(json["text"], sandbox.run(plain).out);
}

}  // namespace
}  // namespace kiln::cli
