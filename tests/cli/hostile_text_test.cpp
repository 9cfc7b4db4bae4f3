// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Names and messages that try to talk to the terminal: of templates, of databases, of their
// devices.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "cache/store/store.hpp"
#include "tests/cli/fixture.hpp"
#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

/// A title for the window, U+009B as UTF-8 and as a byte, DEL, and letters turned round.
const std::string kHostile =
    "x\x1b]0;owned\x07\xc2\x9b"
    "31m\x9b\x7f\xe2\x80\xae"
    "cba\xe2\x81\xa6\xd8\x9c";

const std::string kHostileName =
    "owned\xc2\x9b"
    "31m\x7f\xe2\x80\xae"
    "cba\xe2\x81\xa6\xd8\x9c";

/// What of it a terminal would obey.
bool obeys(const std::string& text) {
  static const std::vector<std::string> kMarks{"\x1b",         "\x07",         "\xc2\x9b", "\x7f",
                                               "\xe2\x80\xae", "\xe2\x81\xa6", "\xd8\x9c"};
  return std::any_of(kMarks.begin(), kMarks.end(),
                     [&](const std::string& mark) { return text.find(mark) != std::string::npos; });
}

void expect_harmless(const Run& run) {
  EXPECT_FALSE(obeys(run.out)) << run.out;
  EXPECT_FALSE(obeys(run.err)) << run.err;
}

std::string hostile_template() {
  return "//@ template   hostile\n"
         "//@ purpose    Speaks " +
         kHostile +
         "\n"
         "//@ operation  gemm\n"
         "//@ types      a=f32 b=f32 c=f32 d=f32 acc=f32\n"
         "struct HostileConfig {  //@ config\n"
         "  int block;  //@ tune 64* 128   // " +
         kHostile +
         "\n"
         "};\n"
         "//@ require    block <= 32   // " +
         kHostile +
         "\n"
         "//@ launch     hostile\n"
         "//@   grid     1\n"
         "//@   block    block\n"
         "// " +
         kHostile + "\n";
}

TEST(HostileText, OfATemplateIsShownAsText) {
  const Sandbox sandbox;
  sandbox.write("hostile.cu", hostile_template());
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"templates"},
        {"templates", "hostile"},
        {"templates", "--json"},
        {"templates", "hostile", "--json"},
        {"templates", "hostile", "--m", "8", "--dtype", "f32", "--arch", "sm_90a"},
        {"render", "hostile", "--dtype", "f32", "--arch", "sm_90a"},
        {"render", "hostile", "--dtype", "f32", "--arch", "sm_90a", "--json"},
        {"templates", kHostile},
        {"list", "--db", kHostile},
        {kHostile}}) {
    const bool json = arguments.back() == "--json";
    auto words = arguments;
    words.insert(words.end(), {"--template-path", "."});
    const auto run = sandbox.run(words);
    expect_harmless(run);
    EXPECT_NE((run.out + run.err).size(), 0u);
    EXPECT_TRUE(!json || nlohmann::json::accept(run.out)) << run.out;
  }
  // A shell's redirection gets the bytes of the kernel; a terminal gets text.
  std::string sound = hostile_template();
  sound.replace(sound.find("<= 32"), 5, "<= 64");
  sandbox.write("hostile.cu", sound);
  const std::vector<std::string> render{"render", "hostile", "--dtype",         "f32",
                                        "--arch", "sm_90a",  "--template-path", "."};
  const auto piped = sandbox.run(render);
  ASSERT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_NE(piped.out.find(kHostile), std::string::npos);
  if (!has_terminals()) GTEST_SKIP() << "this machine has no pseudo-terminals";
  const auto shown = sandbox.run_on_terminal(render);
  ASSERT_EQ(shown.exit_code, 0) << shown.out;
  EXPECT_NE(shown.out.find("x\\u001b]0;owned\\u0007"), std::string::npos) << shown.out;
  expect_harmless(shown);
}

TEST(HostileText, OfADatabaseIsShownAsText) {
  const Sandbox sandbox;
  fill_database(sandbox);
  {
    auto store = TuningStore::open(sandbox.database().string(), OpenMode::read_write);
    auto trials = store.trials({});
    int number = 0;
    for (auto& trial : trials) {
      trial.id = std::string(31, 'e') + static_cast<char>('0' + number++);
      trial.session_id.clear();
      // The store refuses C0 in names; a message may be a compiler's log.
      trial.key.device.name = kHostileName;
      trial.key.template_name += kHostileName;
      if (!trial.message.empty()) trial.message = kHostile + "\nforged line";
      trial.environment.driver = kHostileName;
    }
    (void)store.record_all(trials);
  }
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"list"},
        {"list", "--json"},
        {"list", "--on", "zzz"},
        {"show", "gemm", "--m", "64", "--n", "48", "--k", "32", "--layout", "nt", "--all"},
        {"show", "gemm", "--m", "64", "--n", "48", "--k", "32", "--layout", "nt", "--all",
         "--json"},
        {"show", "gemm", "--m", "65", "--n", "48", "--k", "32", "--layout", "nt"},
        {"export", "gemm", "--m", "64", "--n", "48", "--k", "32", "--layout", "nt"},
        {"doctor"}}) {
    const auto run = sandbox.run(arguments);
    expect_harmless(run);
    EXPECT_EQ(run.out.find("\nforged line"), std::string::npos) << run.out;
    if (arguments.back() != "--json") continue;
    const auto json = nlohmann::json::parse(run.out);
    EXPECT_NE(json.dump().find("owned"), std::string::npos) << "JSON keeps the name itself";
  }
}

}  // namespace
}  // namespace kiln::cli
