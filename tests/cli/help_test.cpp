// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Help texts and errors of usage.

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/golden.hpp"
#include "tests/cli/sandbox.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::cli {
namespace {

std::vector<std::string> visible_verbs() {
  std::vector<std::string> names;
  for (const auto& verb : tools::verbs()) {
    if (!std::string(verb.group).empty()) names.emplace_back(verb.name);
  }
  return names;
}

class Help : public ::testing::TestWithParam<std::string> {};

TEST_P(Help, OfAVerb) {
  const Sandbox sandbox;
  expect_golden("help_" + GetParam(), sandbox, sandbox.run({GetParam(), "--help"}));
  expect_golden("help_all_" + GetParam(), sandbox, sandbox.run({GetParam(), "--help-all"}));
}

INSTANTIATE_TEST_SUITE_P(Verbs, Help, ::testing::ValuesIn(visible_verbs()),
                         [](const auto& verb) { return verb.param; });

TEST(Help, StaysIn80Columns) {
  const Sandbox sandbox;
  for (const auto& verb : visible_verbs()) {
    for (const char* flag : {"--help", "--help-all"}) {
      std::istringstream help(sandbox.run({verb, flag}).out);
      bool examples = false;  // which are to be copied
      for (std::string line; std::getline(help, line);) {
        examples = examples || line == "Examples:";
        EXPECT_TRUE(examples || line.size() <= 80U) << verb << ": " << line;
      }
    }
  }
}

TEST(Help, FitsAScreen) {
  constexpr auto kMostLines = 45;
  const Sandbox sandbox;
  const auto lines = [&](const Words& words) {
    const std::string help = sandbox.run(words).out;
    return std::count(help.begin(), help.end(), '\n');
  };
  EXPECT_LE(lines({"--help"}), kMostLines);
  for (const auto& verb : visible_verbs()) EXPECT_LE(lines({verb, "--help"}), kMostLines) << verb;
}

TEST(Usage, HelpOfTheProgram) {
  const Sandbox sandbox;
  expect_golden("help", sandbox, sandbox.run({"--help"}));
  expect_golden("help_all", sandbox, sandbox.run({"--help-all"}));
}

TEST(Usage, VersionIsData) {
  const Sandbox sandbox;
  const auto run = sandbox.run({"--version"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(run.out.starts_with("kiln ")) << run.out;
  EXPECT_EQ(run.err, "");
}

/// A size of 0 is no mistake, but leaves nothing to do, with or without a device.
TEST(Usage, SizesOfZeroLeaveNothingToTune) {
  const Sandbox sandbox;
  expect_golden("tune_k_zero", sandbox, sandbox.run(on_gemm("tune", 64, 64, 0)));
  expect_golden("tune_m_zero", sandbox, sandbox.run(with(on_gemm("tune", 0, 64, 8), {"--json"})));
  expect_golden("verify_n_zero", sandbox, sandbox.run(on_gemm("verify", 64, 0, 8)));
  expect_golden("show_k_zero", sandbox, sandbox.run(on_gemm("show", 64, 64, 0)));
  EXPECT_FALSE(std::filesystem::exists(sandbox.database()));
}

struct Mistake {
  const char* name;
  Words arguments;
};

class Mistakes : public ::testing::TestWithParam<Mistake> {};

/// Every mistake ends with exit code 2, nothing on standard output, and no database made.
TEST_P(Mistakes, AreExplained) {
  const Sandbox sandbox;
  sandbox.write("suite.txt", "square f16 64 64 64 nt\nbroken f16 64 64 nt\n");
  const auto run = sandbox.run(GetParam().arguments);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_FALSE(std::filesystem::exists(sandbox.database()));
  expect_golden(std::string("mistake_") + GetParam().name, sandbox, run);
}

INSTANTIATE_TEST_SUITE_P(
    Usage, Mistakes,
    ::testing::Values(
        Mistake{"no_verb", {}}, Mistake{"unknown_verb", {"tunes", "gemm"}},
        Mistake{"unknown_verb_help", {"tunes", "--help"}},
        Mistake{"unknown_verb_help_all", {"tunes", "--help-all"}},
        Mistake{"unknown_flag",
                {"show", "gemm", "--m", "8", "--n", "8", "--k", "8", "--dtyp", "f16"}},
        Mistake{"no_operation", {"show", "--m", "8"}},
        Mistake{"unknown_operation", {"show", "conv", "--m", "8"}},
        Mistake{"size_missing", {"show", "gemm", "--m", "8", "--n", "8"}},
        Mistake{"sizes_missing", {"show", "gemm", "--n", "8"}},
        Mistake{"size_negative", {"show", "gemm", "--m", "-1", "--n", "8", "--k", "8"}},
        Mistake{"export_k_zero", {"export", "gemm", "--m", "8", "--n", "8", "--k", "0"}},
        Mistake{"export_m_zero",
                {"export", "gemm", "--m", "0", "--n", "8", "--k", "8", "--template", "gemm_naive",
                 "--arch", "sm_90a"}},
        Mistake{"size_no_number", {"show", "gemm", "--m", "many", "--n", "8", "--k", "8"}},
        Mistake{"dtype", {"show", "gemm", "--m", "8", "--n", "8", "--k", "8", "--dtype", "half"}},
        Mistake{"layout", {"show", "gemm", "--m", "8", "--n", "8", "--k", "8", "--layout", "row"}},
        Mistake{"lda", {"show", "gemm", "--m", "8", "--n", "8", "--k", "8", "--lda", "7"}},
        Mistake{"budget_without_unit",
                {"tune", "gemm", "--m", "8", "--n", "8", "--k", "8", "--budget", "45"}},
        Mistake{"strategy",
                {"tune", "gemm", "--m", "8", "--n", "8", "--k", "8", "--strategy", "luck"}},
        Mistake{"compile_only_without_arch",
                {"tune", "gemm", "--m", "8", "--n", "8", "--k", "8", "--compile-only"}},
        Mistake{"arch",
                {"tune", "gemm", "--m", "8", "--n", "8", "--k", "8", "--compile-only", "--arch",
                 "sm_12"}},
        Mistake{"template", {"render", "gemm_wma", "--arch", "sm_90a"}},
        Mistake{"tunable", {"render", "gemm_naive", "--set", "block_z=8", "--arch", "sm_90a"}},
        Mistake{"value", {"render", "gemm_naive", "--set", "block_x=7", "--arch", "sm_90a"}},
        Mistake{"two_values",
                {"render", "gemm_naive", "--set", "block_x=8,16", "--arch", "sm_90a"}},
        Mistake{"invalid_config",
                {"render", "gemm_tiled", "--set", "tile_m=128,tile_n=128,thread_m=1,thread_n=1",
                 "--arch", "sm_90a"}},
        Mistake{"suite_line", {"tune", "gemm", "--suite", "suite.txt"}},
        Mistake{"suite_absent", {"bench", "gemm", "--suite", "absent.txt"}},
        Mistake{"turn_too_long",
                {"bench", "gemm", "--m", "8", "--n", "8", "--k", "8", "--turn", "2s"}},
        Mistake{"suite_and_problem", {"bench", "--suite", "suite.txt", "--m", "8"}},
        Mistake{"stale_and_problem", {"tune", "gemm", "--stale", "--m", "8", "--dtype", "f32"}},
        Mistake{"suite_or_operation", {"tune", "--m", "8", "--n", "8", "--k", "8"}},
        Mistake{"alpha_not_whole",
                {"show", "gemm", "--m", "8", "--n", "8", "--k", "8", "--dtype", "s8", "--alpha",
                 "0.5"}},
        Mistake{"alpha_too_large",
                {"show", "gemm", "--m", "8", "--n", "8", "--k", "8", "--alpha", "1e39"}},
        Mistake{"log", {"run", "gemm", "--m", "8", "--n", "8", "--k", "8", "--log", "loud"}},
        Mistake{"export_nothing", {"export"}},
        Mistake{"set_without_template",
                {"export", "gemm", "--m", "8", "--n", "8", "--k", "8", "--set", "block_x=8"}},
        Mistake{"show_top", {"show", "gemm", "--m", "8", "--n", "8", "--k", "8", "--top", "-1"}},
        Mistake{"inspect_top",
                {"inspect", "gemm", "--m", "8", "--n", "8", "--k", "8", "--top", "-1"}},
        Mistake{"inspect_clusters",
                {"inspect", "gemm", "--m", "8", "--n", "8", "--k", "8", "--clusters", "-1"}},
        Mistake{"inspect_timeout",
                {"inspect", "gemm", "--m", "8", "--n", "8", "--k", "8", "--timeout", "60"}},
        Mistake{"import_absent", {"import", "absent.jsonl"}},
        Mistake{"keep_best", {"prune", "--keep-best", "0"}},
        Mistake{"older", {"prune", "--older", "30"}}),
    [](const auto& mistake) { return std::string(mistake.param.name); });

/// A flag that takes a number, after the words of its verb.
struct NumberFlag {
  Words words;
  const char* flag;
};

class Numbers : public ::testing::TestWithParam<NumberFlag> {};

TEST_P(Numbers, AreNeitherWrappedNorCut) {
  const Sandbox sandbox;
  const auto& [words, flag] = GetParam();
  for (const std::string number :
       {"-1", "-3", "99999999999999999999", "18446744073709551613", "1e3", "2.5", "7x", ""}) {
    const auto run = sandbox.run(with(words, {flag, number}));
    EXPECT_EQ(run.exit_code, 2) << flag << " " << number << run.err;
    EXPECT_EQ(run.err.find(std::string("kiln: ") + flag + ": " + number + " is not a whole number"),
              0u)
        << run.err;
  }
}

Words verb_on_problem(const char* verb) {
  return on_gemm(verb, 8, 8, 8);
}

INSTANTIATE_TEST_SUITE_P(
    Usage, Numbers,
    ::testing::Values(
        NumberFlag{verb_on_problem("tune"), "--max-candidates"},
        NumberFlag{verb_on_problem("tune"), "--seed"},
        NumberFlag{verb_on_problem("tune"), "--samples"},
        NumberFlag{verb_on_problem("tune"), "--compile-threads"},
        NumberFlag{verb_on_problem("bench"), "--rounds"},
        NumberFlag{verb_on_problem("verify"), "--seed"},
        NumberFlag{verb_on_problem("run"), "--seed"},
        NumberFlag{verb_on_problem("run"), "--repeat"},
        NumberFlag{verb_on_problem("inspect"), "--clusters"},
        NumberFlag{verb_on_problem("inspect"), "--top"},
        NumberFlag{verb_on_problem("show"), "--top"}, NumberFlag{{"prune"}, "--keep-best"},
        NumberFlag{{"show", "gemm", "--n", "8", "--k", "8"}, "--m"},
        NumberFlag{{"show", "gemm", "--m", "8", "--k", "8"}, "--n"},
        NumberFlag{{"show", "gemm", "--m", "8", "--n", "8"}, "--k"},
        NumberFlag{verb_on_problem("show"), "--lda"}, NumberFlag{verb_on_problem("show"), "--ldb"},
        NumberFlag{verb_on_problem("show"), "--ldc"}, NumberFlag{verb_on_problem("show"), "--ldd"},
        NumberFlag{verb_on_problem("show"), "--align-a"},
        NumberFlag{verb_on_problem("show"), "--align-b"},
        NumberFlag{verb_on_problem("show"), "--align-c"},
        NumberFlag{verb_on_problem("show"), "--align-d"}),
    [](const auto& number) {
      const std::string flag = number.param.flag + 2;
      std::string name = number.param.words.front() + "_" + flag;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

}  // namespace
}  // namespace kiln::cli
