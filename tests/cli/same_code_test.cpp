// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Candidates of the same machine code, as a person meets them: a template with a tunable that its
// code does not use.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/sandbox.hpp"
#include "tests/cli/user_template.hpp"

namespace kiln::cli {
namespace {

/// Three candidates of one code.
void write_template(const Sandbox& sandbox, const std::string& fault = "") {
  std::string text = user_template("idle", fault);
  text = replaced(text, "  int block_x;  //@ tune 32\n",
                  "  int block_x;  //@ tune 32\n  int unused;  //@ tune 1* 22 333\n");
  sandbox.write("idle.cu", text);
}

Words on_idle(const std::string& verb) {
  return with(on_gemm(verb, 4, 48, 8), {"--dtype", "f32"});
}

Words tune_idle(const Words& more = {}) {
  return with(
      on_idle("tune"),
      with({"--device", "emulated:h200", "--templates", "idle", "--template-path", "."}, more));
}

nlohmann::json json_of(const Run& run) {
  EXPECT_EQ(run.err, "");
  return nlohmann::json::parse(run.out);
}

TEST(SameCode, RunsOnceOnTheEmulatedGpuAndEveryVerbSaysSo) {
  const Sandbox sandbox;
  write_template(sandbox);
  const auto tuned = sandbox.run(tune_idle());
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_NE(tuned.out.find(" 3 candidates; 2 candidates (66.7 %) reused "), std::string::npos)
      << tuned.out;
  EXPECT_NE(tuned.out.find("3 ok"), std::string::npos) << tuned.out;

  const Words show = with(on_idle("show"), {"--template-path", "."});
  const auto text = sandbox.run(show);
  EXPECT_NE(text.out.find("same code as"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("unused=22   #1"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("unused=333  #1"), std::string::npos) << text.out;
  const auto shown = json_of(sandbox.run(with(show, {"--json"})));
  const auto& ranked = shown.at("devices").at(0).at("ranked");
  ASSERT_EQ(ranked.size(), 3U);
  EXPECT_FALSE(ranked[0].contains("shared_from"));
  // The best has a later trial as well, in which it was checked.
  const auto ran = ranked[1]["shared_from"].get<std::string>();
  EXPECT_EQ(ran.size(), 32U);
  for (const std::size_t i : {1U, 2U}) {
    EXPECT_EQ(ranked[i]["shared_from"], ran);
    EXPECT_EQ(ranked[i]["code_digest"], ranked[0]["code_digest"]);
    EXPECT_EQ(ranked[i]["timing"], ranked[0]["timing"]);
  }

  const auto exported = sandbox.run({"export", "--database"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  sandbox.write("rows.jsonl", exported.out);
  const auto imported = sandbox.run({"import", "--db", "other.db", "rows.jsonl"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(sandbox.run({"export", "--database", "--db", "other.db"}).out, exported.out);
}

TEST(SameCode, AWrongResultIsWrongForAll) {
  const Sandbox sandbox;
  write_template(sandbox, "  if (row == 2 && col == 3) sum += 1;");
  const auto tuned = sandbox.run(tune_idle({"--json"}));
  EXPECT_EQ(tuned.exit_code, 3) << tuned.err;
  const auto result = nlohmann::json::parse(tuned.out)["results"].at(0);
  EXPECT_EQ(result["outcomes"]["wrong_result"], 3);
  EXPECT_EQ(result["codes"], 1);
  const auto shown = sandbox.run(with(on_idle("show"), {"--all"}));
  EXPECT_NE(shown.out.find(" (the same code as idle block_x=32 unused=1)"), std::string::npos)
      << shown.out;
}

TEST(SameCode, ARemarkInTheTemplateCostsNoRun) {
  const Sandbox sandbox;
  write_template(sandbox);
  ASSERT_EQ(sandbox.run(tune_idle()).exit_code, 0);
  write_template(sandbox, "  // a remark where there was an empty line");
  const auto result = json_of(sandbox.run(tune_idle({"--json"})))["results"].at(0);
  EXPECT_EQ(result["known"], 0);
  EXPECT_EQ(result["done"], 3);
  EXPECT_EQ(result["codes"], 0);
  EXPECT_EQ(result["shared"], 3);
}

TEST(SameCode, WithoutADeviceItIsCounted) {
  const Sandbox sandbox;
  write_template(sandbox);
  const Words compile = with(on_idle("tune"), {"--compile-only", "--arch", "sm_90a", "--templates",
                                               "idle", "--template-path", "."});
  const auto text = sandbox.run(compile);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("1 distinct binary among 3 candidates; 2 candidates (66.7 %) have the "
                          "same binary as another candidate"),
            std::string::npos)
      << text.out;
  const auto result = json_of(sandbox.run(with(compile, {"--again", "--json"})))["results"].at(0);
  EXPECT_EQ(result["compiled"], 3);
  EXPECT_EQ(result["codes"], 1);
  EXPECT_EQ(result["shared"], 2);
}

}  // namespace
}  // namespace kiln::cli
