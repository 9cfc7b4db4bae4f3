// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the program tells a person to type next is typed here.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cache/store/store.hpp"
#include "tests/cli/fixture.hpp"
#include "tests/cli/sandbox.hpp"
#include "tests/cli/user_template.hpp"

namespace kiln::cli {
namespace {

/// The commands between backticks.
std::vector<std::string> commands_in(const std::string& text) {
  std::vector<std::string> commands;
  for (auto at = text.find("`kiln "); at != std::string::npos; at = text.find("`kiln ", at)) {
    const auto end = text.find('`', at + 1);
    commands.push_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return commands;
}

std::vector<std::string> lines_starting(const std::string& text, const std::string& start) {
  std::vector<std::string> lines;
  for (auto at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  }
  return lines;
}

// With neither the database nor the template of the user every one of them would fail, or answer
// with another kernel.
TEST(Hints, UseItCommandsFindWhatWasTuned) {
  const Sandbox sandbox;
  std::filesystem::create_directory(sandbox.folder() / "my templates");
  sandbox.write("my templates/mine.cu", user_template("mine"));
  const auto tuned = sandbox.run(
      with(on_gemm("tune", 8, 32, 8),
           {"--dtype", "f32", "--templates", "mine", "--max-candidates", "1", "--db",
            "my results.db", "--template-path", "my templates", "--device", "emulated:h200"}));
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  const auto commands = lines_starting(tuned.out, "kiln ");
  ASSERT_EQ(commands.size(), 4U) << tuned.out;
  for (const auto& command : commands) {
    const auto run = sandbox.shell(command);
    EXPECT_EQ(run.exit_code, 0) << command << "\n" << run.err;
    EXPECT_NE(run.out.find("template"), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("mine\n"), std::string::npos) << command << "\n" << run.out;
  }
  EXPECT_NE(tuned.out.find(".database = \"my results.db\", .template_path = {\"my templates\"}, "
                           ".device = \"emulated:h200\""),
            std::string::npos)
      << tuned.out;
}

/// A kernel that writes every element but the last of each block's, and what it is to compute.
void write_failing_kernel(const Sandbox& sandbox) {
  std::filesystem::create_directory(sandbox.folder() / "my templates");
  sandbox.write(
      "my templates/twice.cu",
      "//@ operation  twice\n//@ purpose    Every number twice\n//@ size       n 1..9999\n"
      "//@ type       y f32\n//@ type       x f32\n//@ operand    y out: n\n"
      "//@ operand    x in: n\n//@ right      y exact\n//@ ragged     n=70\n"
      "//@ flops      n\n//@ reference  twice_reference\n//@   grid     1\n"
      "//@   block    1\n"
      "__global__ void twice_reference(float* y, const float* x, int n) {\n"
      "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n");
  sandbox.write("my templates/twice_kernel.cu",
                "//@ template   twice_kernel\n//@ purpose    A number a thread\n"
                "//@ operation  twice\n//@ tune       width = 32* 64\n//@ tune       good = 0* 1\n"
                "//@ launch     twice\n//@   grid     ceil_div(n, width)\n//@   block    width\n"
                "__global__ void twice(float* y, const float* x, int n) {\n"
                "  const int i = blockIdx.x * width + threadIdx.x;\n"
                "  if (i < n && (good || threadIdx.x + 1 < width)) y[i] = 2 * x[i];\n}\n");
}

TEST(Hints, WhatFailsIsToldWithACommandThatShowsMore) {
  const Sandbox sandbox;
  write_failing_kernel(sandbox);
  const Words tune{"tune",
                   "twice",
                   "--n",
                   "100",
                   "--device",
                   "emulated:h200",
                   "--template-path",
                   "my templates",
                   "--max-candidates",
                   "4"};
  const auto some = sandbox.run(tune);
  EXPECT_EQ(some.exit_code, 0) << some.err;
  EXPECT_NE(some.out.find("outcomes   2 ok, 2 wrong_result"), std::string::npos) << some.out;
  EXPECT_NE(some.out.find("failed     2 wrong_result: n=70 ("), std::string::npos) << some.out;
  EXPECT_NE(some.out.find(": never written, expected "), std::string::npos) << some.out;
  EXPECT_NE(
      some.out.find("criterion  my templates/twice.cu:8: right y exact; reference in line 11"),
      std::string::npos)
      << some.out;
  const auto commands = lines_starting(some.out, "kiln verify twice --n 100 --template ");
  ASSERT_EQ(commands.size(), 1U) << some.out;
  const auto more = sandbox.shell(commands.front());
  EXPECT_EQ(more.exit_code, 1) << more.err;
  EXPECT_NE(more.out.find("good=0"), std::string::npos) << more.out;
  EXPECT_NE(more.out.find("NOT correct"), std::string::npos) << more.out;
  EXPECT_NE(more.out.find("1 of 4 configurations"), std::string::npos) << more.out;
  for (const auto& command : lines_starting(some.out, "kiln ")) {
    if (command == commands.front()) continue;
    EXPECT_EQ(sandbox.shell(command).exit_code, 0) << command;
  }
  // Where nothing succeeds.
  const auto none = sandbox.run(with(tune, {"--set", "good=0", "--json", "--db", "other.db"}));
  EXPECT_EQ(none.exit_code, 3) << none.err;
  const auto result = nlohmann::json::parse(none.out)["results"].at(0);
  EXPECT_TRUE(result["best"].is_null());
  EXPECT_EQ(result["failures"].at(0)["count"], 2);
  EXPECT_EQ(result["failures"].at(0)["outcome"], "wrong_result");
  EXPECT_NE(result["failures"].at(0)["message"].get<std::string>().find("never written"),
            std::string::npos);
  const auto again = sandbox.run(with(tune, {"--set", "good=0", "--db", "other.db"}));
  EXPECT_NE(again.out.find("none: all 2 "), std::string::npos) << again.out;
  // All configurations, or some of them.
  const Words verify{"verify", "twice", "--n", "100", "--template-path", "my templates"};
  const auto all = sandbox.run(with(verify, {"--all"}));
  EXPECT_EQ(all.exit_code, 1) << all.err;
  EXPECT_NE(all.out.find("tried     4 of 4 configurations"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("NOT correct: 2 of 4 configurations"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("criterion  my templates/twice.cu:8: right y exact; reference in line 11"),
            std::string::npos)
      << all.out;
  EXPECT_EQ(all.out.find("the rule or the reference may be wrong"), std::string::npos) << all.out;
  const auto wrong =
      sandbox.run(with(verify, {"--all", "--template", "twice_kernel", "--set", "good=0"}));
  EXPECT_EQ(wrong.exit_code, 1) << wrong.err;
  EXPECT_NE(wrong.out.find("reference in line 11; all configurations fail this rule, so the rule "
                           "or the reference may be wrong"),
            std::string::npos)
      << wrong.out;
  const auto good =
      sandbox.run(with(verify, {"--sample", "9", "--template", "twice_kernel", "--set", "good=1"}));
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_NE(good.out.find("correct: all tried configurations"), std::string::npos) << good.out;
}

// As README has it: 1 GiB is read and 1 GiB written.
TEST(Hints, WhatTheEmulatedMemoryCannotHoldIsJudgedOnSmallerSizes) {
  const Sandbox sandbox;
  const Words softmax{"softmax",
                      "--rows",
                      "65536",
                      "--cols",
                      "4096",
                      "--device",
                      "emulated:h200",
                      "--template-path",
                      std::string(KILN_SOURCE_DIR) + "/examples/operations"};
  const auto tuned = sandbox.run(with({"tune"}, with(softmax, {"--max-candidates", "1"})));
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_NE(tuned.out.find("verified   yes"), std::string::npos) << tuned.out;
  EXPECT_NE(tuned.out.find("TB/s"), std::string::npos) << tuned.out;
  const auto verified = sandbox.run(with({"verify"}, softmax));
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
  EXPECT_NE(verified.out.find("the requested problem is too large to run on emulated:h200"),
            std::string::npos)
      << verified.out;
}

TEST(Hints, ADatabaseOfSomebodyElseIsCopiedByTheCommand) {
  const Sandbox sandbox;
  fill_database(sandbox);
  std::filesystem::create_directory(sandbox.folder() / "shared");
  const auto file = sandbox.folder() / "shared" / "team's.db";
  std::filesystem::rename(sandbox.database(), file);
  constexpr uid_t kSomebody = 12345;
  if (::chown(file.c_str(), kSomebody, kSomebody) != 0)
    GTEST_SKIP() << "files cannot be given away";
  const auto refused = sandbox.run({"list", "--db", file.string()});
  EXPECT_EQ(refused.exit_code, 5) << refused.err;
  const auto begin = refused.err.find("`cp ");
  ASSERT_NE(begin, std::string::npos) << refused.err;
  const auto command = refused.err.substr(begin + 1, refused.err.find('`', begin + 1) - begin - 1);
  const auto copied = sandbox.shell(command + " && kiln list --db ~/\"team's.db\"");
  EXPECT_EQ(copied.exit_code, 0) << command << copied.err;
}

TEST(Hints, WhatIsNotThereNamesACommandThatMakesIt) {
  const Sandbox sandbox;
  const auto show =
      sandbox.run(with(on_gemm("show", 8, 8, 8), {"--db", "mine.db", "--device", "emulated:h200"}));
  EXPECT_EQ(show.exit_code, 3);
  const auto commands = commands_in(show.err);
  ASSERT_EQ(commands.size(), 2U) << show.err;
  const auto tuned = sandbox.shell(commands.back() + " --templates gemm_wmma --max-candidates 1");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_TRUE(std::filesystem::exists(sandbox.folder() / "mine.db"));
}

// A row that its digest disowns: the doctor names it, and its remedy brings back all others.
TEST(Hints, TheRemedyForDamagedRowsWorks) {
  const Sandbox sandbox;
  fill_database(sandbox);
  std::filesystem::rename(sandbox.database(), sandbox.folder() / "team.db");
  std::string bytes = sandbox.read("team.db");
  const auto message = bytes.find("spills 64 bytes");
  ASSERT_NE(message, std::string::npos);
  bytes[message + 8] = '5';
  sandbox.write("team.db", bytes);
  const auto show = sandbox.run(
      with(on_gemm("show", 64, 48, 32), {"--layout", "nt", "--all", "--db", "team.db"}));
  EXPECT_EQ(show.exit_code, 0) << show.err;
  const auto hints = commands_in(show.err);
  ASSERT_EQ(hints.size(), 1U) << show.err;
  const auto doctor = sandbox.shell(hints.front());
  EXPECT_EQ(doctor.exit_code, 1) << doctor.err;
  EXPECT_NE(doctor.out.find("broken   database"), std::string::npos) << doctor.out;
  const auto remedy = commands_in(doctor.out);
  ASSERT_EQ(remedy.size(), 2U) << doctor.out;
  const auto saved = sandbox.shell(remedy[0]);
  EXPECT_EQ(saved.exit_code, 0) << saved.err;
  std::filesystem::rename(sandbox.folder() / "team.db", sandbox.folder() / "away.db");
  const auto restored = sandbox.shell(remedy[1]);
  EXPECT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_NE(restored.out.find("6 rows added"), std::string::npos)
      << "4 trials, 2 sessions: " << restored.out;
}

/// `bytes` of a database without the page on which `what` stands first.
std::string without_page(std::string bytes, const std::string& what) {
  constexpr std::size_t kPage = 4096;
  const auto at = bytes.find(what);
  EXPECT_NE(at, std::string::npos);
  return bytes.replace(at / kPage * kPage, kPage, std::string(kPage, '\xee'));
}

// A page that SQLite cannot read: the message names the file in every command, the one that saves
// what is readable saves all but the rows of that page, and the last brings them back.
TEST(Hints, TheRemedyForADamagedFileWorks) {
  const Sandbox sandbox;
  fill_database(sandbox);
  const auto file = sandbox.folder() / "team.db";
  std::filesystem::rename(sandbox.database(), file);
  constexpr int kMore = 200;
  {
    auto store = TuningStore::open(file.string(), OpenMode::read_write);
    std::vector<Trial> more(kMore, store.trials({}).front());
    for (int i = 0; i < kMore; ++i) {
      more[i].id = fmt::format("{:032x}", 0x70000000 + i);
      more[i].created_unix_ms += 1000 + i;
      more[i].rendered_digest = fmt::format("{:032x}", 0x60000000 + i);  // in no index
    }
    (void)store.record_all(more);
  }
  sandbox.write("team.db", without_page(sandbox.read("team.db"),
                                        fmt::format("{:032x}", 0x60000000 + kMore / 2)));
  const auto met = sandbox.run({"export", "--database", "--db", "team.db"});
  EXPECT_EQ(met.exit_code, 1) << met.err;
  const auto commands = commands_in(met.err);
  ASSERT_EQ(commands.size(), 3U) << met.err;
  for (const auto& command : commands) {
    EXPECT_NE(command.find("--db " + file.string()), std::string::npos) << command;
  }
  EXPECT_EQ(sandbox.shell(commands[0]).exit_code, 1);
  const auto saved = sandbox.shell(commands[1]);
  EXPECT_EQ(saved.exit_code, 1) << "something is lost: " << saved.err;
  std::filesystem::rename(file, sandbox.folder() / "away.db");
  const auto restored = sandbox.shell(commands[2]);
  EXPECT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_GT(std::stoi(restored.out), kMore / 2) << restored.out;
}

TEST(Hints, ALimitOfTimeIsBlamedForWhatItEnds) {
  const Sandbox sandbox;
  const auto run =
      sandbox.run(with(on_gemm("verify", 64, 64, 64),
                       {"--dtype", "f32", "--template", "gemm_naive", "--timeout", "1ms"}));
  EXPECT_NE(run.err.find("--timeout: "), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("do not run on this device"), std::string::npos) << run.err;
  EXPECT_EQ(run.exit_code, 2);
}

TEST(Hints, NamesTheRequirementThatNothingMeets) {
  const Sandbox sandbox;
  const Words sizes{"--m", "16000000", "--n", "16000000", "--k", "1", "--dtype", "f32"};
  for (const Words& words : {Words{"verify", "gemm"},
                             {"templates", "--arch", "sm_90a"},
                             {"templates", "gemm_tiled", "--arch", "sm_90a"}}) {
    const auto run = sandbox.run(with(words, sizes));
    EXPECT_NE((run.out + run.err).find("one-dimensional grid"), std::string::npos) << run.out;
  }
}

TEST(Hints, TemplatesListsWhatAProblemLeaves) {
  const Sandbox sandbox;
  const auto run = sandbox.run({"templates", "--m", "64", "--dtype", "f64", "--arch", "sm_90a"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("for gemm 64 x 4096 x 4096 f64 nn on sm_90a\n"), std::string::npos);
  EXPECT_THAT(run.out, ::testing::ContainsRegex("the template gemm_wgmma [^\n]*a=f64"));
  EXPECT_EQ(run.err, "kiln: missing sizes: --n, --k; Kiln uses 4096 for each of these sizes\n");
  const auto json = nlohmann::json::parse(
      sandbox.run({"templates", "--m", "64", "--arch", "sm_90a", "--json"}).out);
  EXPECT_EQ(json["templates"].at(0)["problem"]["sizes"]["m"], 64);
  EXPECT_GT(json["templates"].at(0)["valid_size"], 0);
}

TEST(Hints, ADeviceThatNobodyHasIsNotAnEmptyDatabase) {
  const Sandbox sandbox;
  fill_database(sandbox);
  for (const Words& words : {Words{"list"}, with(on_gemm("show", 64, 48, 32), {"--layout", "nt"}),
                             with(on_gemm("export", 64, 48, 32), {"--layout", "nt"})}) {
    const auto run = sandbox.run(with(words, {"--on", "zzz"}));
    EXPECT_EQ(run.exit_code, 3) << words.front();
    EXPECT_NE(run.err.find("--on zzz: no device in the database has this"), std::string::npos)
        << run.err;
    EXPECT_NE(run.err.find("Imagined GPU, sm_90a, 8 SMs"), std::string::npos) << run.err;
  }
}

}  // namespace
}  // namespace kiln::cli
