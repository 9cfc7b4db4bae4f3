// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// With --json there is one document on standard output, whatever happens.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/fixture.hpp"
#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

struct Failure {
  std::vector<std::string> arguments;
  int exit_code;
  const char* kind;
};

TEST(Json, ErrorsAreDocuments) {
  const Sandbox sandbox;
  fill_database(sandbox);
  sandbox.write("notes.txt", "This is a letter, not a database.\n");
  sandbox.write("bad.cu", "//@ template\n");
  for (const auto& [arguments, exit_code, kind] :
       {Failure{{"show", "gemm", "--m", "8"}, 2, "usage"},
        Failure{{"show", "gemm", "--m", "x", "--n", "8", "--k", "8"}, 2, "usage"},
        Failure{{"shwo"}, 2, "usage"}, Failure{{"show", "--nonsense"}, 2, "usage"},
        Failure{{"show", "gemm", "--m", "8", "--n", "8", "--k", "8"}, 3, "not_found"},
        Failure{{"list", "--on", "zzz"}, 3, "not_found"},
        Failure{{"list", "--db", "notes.txt"}, 5, "database"},
        Failure{{"bench", "gemm", "--m", "8", "--n", "8", "--k", "8"}, 4, "device"},
        Failure{{"doctor", "--save-profile", "mine.toml"}, 2, "usage"},
        Failure{{"templates", "--template-path", "."}, 1, "template"},
        Failure{{"export", "gemm", "--m", "9", "--n", "8", "--k", "8"}, 3, "not_found"}}) {
    auto words = arguments;
    words.emplace_back("--json");
    const auto run = sandbox.run(words);
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

TEST(Json, ExportOfAKernelIsADocument) {
  const Sandbox sandbox;
  fill_database(sandbox);
  const std::vector<std::string> plain{"export", "gemm", "--m", "64",       "--n",
                                       "48",     "--k",  "32",  "--layout", "nt"};
  auto with_json = plain;
  with_json.emplace_back("--json");
  const auto run = sandbox.run(with_json);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["kiln"], "export");
  EXPECT_EQ(json["template"], "gemm_tiled");
  EXPECT_EQ(json["arch"], "sm_90a");
  EXPECT_EQ(json["problem"]["sizes"]["m"], 64);
  EXPECT_EQ(json["text"], sandbox.run(plain).out);
}

}  // namespace
}  // namespace kiln::cli
