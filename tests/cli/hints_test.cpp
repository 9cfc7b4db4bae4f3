// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the program tells a person to type next is typed here.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cache/store.hpp"
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

TEST(Hints, WhatIsNotThereNamesACommandThatMakesIt) {
  const Sandbox sandbox;
  const auto show =
      sandbox.run(with(on_gemm("show", 8, 8, 8), {"--db", "mine.db", "--device", "emulated:h200"}));
  EXPECT_EQ(show.exit_code, 3);
  const auto commands = commands_in(show.err);
  ASSERT_EQ(commands.size(), 2U) << show.err;
  const auto tuned = sandbox.shell(commands.back() + " --templates gemm_naive --max-candidates 1");
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
  EXPECT_NE(restored.out.find("6 new"), std::string::npos)
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
  const Words sizes{"--m", "2147483647", "--n", "2147483647", "--k", "2147483647"};
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
  EXPECT_NE(run.out.find("gemm_skinny does not take a=f64"), std::string::npos) << run.out;
  EXPECT_EQ(run.err, "kiln: --n, --k not given; using 4096\n");
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
