// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the shells offer with the generated completions, asked of the shells themselves.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include "templates/printable.hpp"
#include "tests/cli/sandbox.hpp"
#include "tests/cli/user_template.hpp"
#include "tools/command_line/problem_flags.hpp"
#include "tools/program.hpp"

namespace kiln::cli {
namespace {

using ::testing::IsSupersetOf;
using Names = std::set<std::string>;

const std::string kOperations = KILN_SOURCE_DIR "/examples/operations";

struct Shell {
  const char* name;
  const char* start;   ///< what runs a script without a person's own settings
  const char* script;  ///< the generated completion
};

class Completion : public ::testing::TestWithParam<Shell> {
 protected:
  void SetUp() override {
    if (sandbox.shell(fmt::format("command -v {}", GetParam().name)).exit_code != 0) {
      GTEST_SKIP() << GetParam().name << " is not installed";
    }
    // zsh completes only on a terminal, which its script makes.
    if (GetParam().name == std::string("zsh") && !has_terminals()) {
      GTEST_SKIP() << "this machine has no pseudo-terminals";
    }
  }

  /// The words that the shell offers at the end of a line; `more` are further arguments of the
  /// script that asks it.
  Names offered(const std::string& line, const std::string& more = "") const {
    const auto& [name, start, script] = GetParam();
    const auto run =
        sandbox.shell(fmt::format("{} {}/tests/cli/complete.{} {}/{} {} {}", start, KILN_SOURCE_DIR,
                                  name, KILN_REFERENCE, script, shell_word(line), more));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    Names words;
    std::istringstream lines(run.out);
    for (std::string word; std::getline(lines, word);) {
      // Some shells repeat what stands before the value, others don't.
      word.erase(0, word.find_last_of(",=") + 1);
      if (word.ends_with('/')) word.pop_back();
      if (!word.empty()) words.insert(word);
    }
    return words;
  }

  Sandbox sandbox;
};

TEST_P(Completion, OffersVerbs) {
  EXPECT_EQ(offered("kiln t"), (Names{"tune", "templates"}));
  EXPECT_EQ(offered("kiln --json sh"), Names{"show"});
  EXPECT_EQ(offered("kiln --db list sh"), Names{"show"}) << "the file is called list";
}

TEST_P(Completion, OffersEveryFlagOfEveryVerb) {
  const auto manual = tools::Program().manual();
  ASSERT_FALSE(manual.verbs.empty());
  for (const auto& verb : manual.verbs) {
    Names flags;
    for (const auto& flag : manual.flags) flags.insert(flag.name);
    for (const auto& group : verb.groups) {
      for (const auto& flag : group.flags) flags.insert(flag.name);
    }
    EXPECT_EQ(offered(fmt::format("kiln {} --", verb.verb->name)), flags) << verb.verb->name;
  }
}

TEST_P(Completion, OffersTheWordsOfAValue) {
  EXPECT_EQ(offered("kiln tune --strategy m"), Names{"model"});
  EXPECT_EQ(offered("kiln run gemm --mode t"), Names{"tune_on_miss"});
  EXPECT_EQ(offered("kiln render gemm_naive --arch=sm_9"), (Names{"sm_90", "sm_90a"}));
  EXPECT_EQ(offered("kiln show --device emulated:h2"), Names{"emulated:h200"});
  EXPECT_EQ(offered("kiln tune gemm --dtype e"), (Names{"e4m3", "e5m2"}));
}

TEST_P(Completion, OffersArgumentsInTheirPlace) {
  EXPECT_EQ(offered("kiln tune g"), Names{"gemm"});
  EXPECT_FALSE(offered("kiln tune gemm ").contains("gemm"));
  EXPECT_FALSE(offered("kiln --quiet tune --seed 3 gemm ").contains("gemm"));
}

TEST_P(Completion, OffersNothingForAFreeValue) {
  EXPECT_EQ(offered("kiln tune gemm --m "), Names{});
}

TEST_P(Completion, OffersTemplatesWithThoseOfAPath) {
  EXPECT_EQ(offered("kiln render gemm_t"), Names{"gemm_tiled"});
  EXPECT_EQ(offered("kiln tune --templates gemm_naive,gemm_w"),
            (Names{"gemm_wgmma", "gemm_wmma", "gemm_wmma_direct"}));
  std::filesystem::create_directory(sandbox.folder() / "own");
  sandbox.write("own/mine.cu", user_template("mine"));
  EXPECT_EQ(offered("kiln --template-path own render m"), Names{"mine"});
}

TEST_P(Completion, OffersOperationsWithThoseOfAPath) {
  EXPECT_EQ(offered("kiln --template-path " + kOperations + " tune so"), Names{"softmax"});
  EXPECT_EQ(offered("kiln tune --template-path " + kOperations + " so"), Names{"softmax"});
  EXPECT_EQ(offered("kiln --template-path=" + kOperations + " operations so"), Names{"softmax"});
}

/// The flags that `kiln VERB` has of its own, with `more`. Some shells offer a flag once only.
Names own_flags(const std::string& verb, Names more) {
  const auto manual = tools::Program().manual();
  for (const auto& flag : manual.flags) more.insert(flag.name);
  for (const auto& group : manual.find(verb)->groups) {
    if (group.title == tools::kProblemGroup) continue;
    for (const auto& flag : group.flags) more.insert(flag.name);
  }
  return more;
}

TEST_P(Completion, OffersTheFlagsOfDeclaredOperations) {
  const std::string path = " --template-path " + kOperations;
  const Names of_softmax{"--rows", "--cols", "--dtype", "--x", "--y", "--scale"};
  Names behind = offered("kiln tune softmax" + path + " --");
  behind.insert("--template-path");
  EXPECT_EQ(behind, own_flags("tune", of_softmax));
  EXPECT_EQ(offered("kiln" + path + " verify softmax --"), own_flags("verify", of_softmax));
  EXPECT_EQ(
      offered("kiln run" + path + " --seed 3 stencil2d --c"),
      (Names{"--centre", "--cols", "--corner", "--color", "--cubin-store", "--cuda-include"}));
  sandbox.set("KILN_TEMPLATE_PATH", kOperations);
  EXPECT_EQ(offered("kiln show stencil2d --rows 3 --s"), Names{"--side"});
}

TEST_P(Completion, OffersTheValuesOfDeclaredFlags) {
  const std::string line = "kiln tune softmax --template-path " + kOperations;
  EXPECT_EQ(offered(line + " --x e"), (Names{"e4m3", "e5m2"}));
  EXPECT_EQ(offered(line + " --rows 3 --dtype=e"), (Names{"e4m3", "e5m2"}));
  EXPECT_EQ(offered(line + " --rows "), Names{});
  EXPECT_EQ(offered("kiln show softmax --rows 3 --template-path " + kOperations + " so"), Names{});
}

TEST_P(Completion, OffersOnlyTheVerbsFlagsForAnUnknownOperation) {
  EXPECT_EQ(offered("kiln tune softmax --"), own_flags("tune", {}));
  EXPECT_EQ(offered("kiln tune softmax --template-path /none --m"), Names{"--max-candidates"});
}

TEST_P(Completion, EscapesWhatADeclarationSays) {
  sandbox.write("odd.cu",
                "//@ operation  odd\n"
                "//@ purpose    Odd\n"
                "//@ size       n 1..8   // [it's] \"a\": \\ 5%d\t$(touch run) `touch run`\n"
                "//@ type       x f32\n"
                "//@ type       y f32\n"
                "//@ operand    x in: n\n"
                "//@ operand    y out: n\n"
                "//@ right      y exact\n"
                "//@ ragged     n=1\n"
                "//@ flops      n\n"
                "//@ reference  odd_reference\n"
                "//@   grid     1\n"
                "//@   block    1\n"
                "//@   args     x, y, n\n"
                "__global__ void odd_reference(const float* x, float* y, int n) {}\n");
  EXPECT_EQ(offered("kiln tune --template-path . odd --n"),
            (Names{"--n", "--no-baseline", "--no-wait"}));
  EXPECT_EQ(offered("kiln tune --template-path . odd --n "), Names{});
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "run"));
}

TEST_P(Completion, AsksKilnOnceAndOnlyForWhatIsNotBuiltIn) {
  sandbox.write("kiln", "#!/bin/sh\necho asked >>asked\nprintf '%s\\t%s\\n' --p One --q Two\n");
  std::filesystem::permissions(sandbox.folder() / "kiln", std::filesystem::perms::owner_all);
  EXPECT_TRUE(offered("./kiln tune gemm --m 3 --").contains("--n"));
  EXPECT_TRUE(offered("./kiln merge softmax --").contains("--db"));
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "asked"));
  EXPECT_TRUE(offered("./kiln tune softmax --p 3 --").contains("--q"));
  EXPECT_EQ(sandbox.read("asked"), "asked\n");
}

TEST_P(Completion, OffersFilesAndFolders) {
  sandbox.write("trials.jsonl", "");
  std::filesystem::create_directory(sandbox.folder() / "traces");
  EXPECT_THAT(offered("kiln import tr"), IsSupersetOf({"trials.jsonl"}));
  EXPECT_THAT(offered("kiln merge all.db other.db tr"), IsSupersetOf({"trials.jsonl"}));
  EXPECT_THAT(offered("kiln export -o tr"), IsSupersetOf({"trials.jsonl"}));
  EXPECT_EQ(offered("kiln list --template-path tr"), Names{"traces"});
}

INSTANTIATE_TEST_SUITE_P(Shells, Completion,
                         ::testing::Values(Shell{"bash", "bash --norc", "kiln.bash"},
                                           Shell{"zsh", "zsh -f", "_kiln"},
                                           Shell{"fish", "fish --no-config", "kiln.fish"}),
                         [](const auto& shell) { return std::string(shell.param.name); });

using BashCompletion = Completion;

// Where a colon ends a word, readline replaces only what stands behind it.
TEST_P(BashCompletion, RepeatsNothingBeforeAColon) {
  EXPECT_EQ(offered("kiln show --device emulated:h2", "':='"), Names{"h200"});
  EXPECT_EQ(offered("kiln show --device e", "':='").size(), 5U);
}

INSTANTIATE_TEST_SUITE_P(Shells, BashCompletion,
                         ::testing::Values(Shell{"bash", "bash --norc", "kiln.bash"}),
                         [](const auto& shell) { return std::string(shell.param.name); });

TEST(ManualPage, IsSoundRoff) {
  const Sandbox sandbox;
  if (sandbox.shell("command -v groff").exit_code != 0) GTEST_SKIP() << "groff is not installed";
  const auto run = sandbox.shell(fmt::format("groff -man -Tutf8 -ww -z {}/kiln.1", KILN_REFERENCE));
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out + run.err, "");
}

TEST(ManualPage, HasEveryVerbFlagAndVariableAsItIsTyped) {
  const Sandbox sandbox;
  if (sandbox.shell("command -v groff").exit_code != 0) GTEST_SKIP() << "groff is not installed";
  const std::string page =
      sandbox.shell(fmt::format("groff -man -Tascii -rLL=200n -P-cbou {}/kiln.1", KILN_REFERENCE))
          .out;
  const auto manual = tools::Program().manual();
  for (const auto& verb : manual.verbs) {
    EXPECT_NE(page.find("   " + verb.usage() + "\n"), std::string::npos) << verb.usage();
    for (const auto& group : verb.groups) {
      for (const auto& flag : group.flags) {
        EXPECT_NE(page.find(flag.name + (flag.value.empty() ? "" : " " + flag.value)),
                  std::string::npos)
            << flag.name;
      }
    }
    for (const std::string& example : verb.verb->examples) {
      EXPECT_NE(page.find(std::string(" ") + example + "\n"), std::string::npos) << example;
    }
  }
  for (const char* variable : {"KILN_DB", "KILN_MODE", "KILN_LOG", "NO_COLOR"}) {
    EXPECT_NE(page.find(variable), std::string::npos) << variable;
  }
  for (const char* heading : {"EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SUITES"}) {
    EXPECT_NE(page.find(heading), std::string::npos) << heading;
  }
}

}  // namespace
}  // namespace kiln::cli
