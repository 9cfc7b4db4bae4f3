// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/verbs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <set>

#include "templates/operation/problem_flag.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/operation_flags.hpp"
#include "tools/command_line/value_kinds.hpp"
#include "tools/command_line/variables.hpp"
#include "tools/program.hpp"

namespace kiln::tools {
namespace {

void for_each_option(const Manual& manual, const std::function<void(const OptionText&)>& act) {
  for (const auto& flag : manual.flags) act(flag);
  for (const auto& verb : manual.verbs) {
    for (const auto& argument : verb.arguments) act(argument);
    for (const auto& group : verb.groups) {
      for (const auto& flag : group.flags) act(flag);
    }
  }
}

TEST(Verbs, AreNamedOnceAndHaveExamplesOfTheirOwn) {
  std::set<std::string> names;
  for (const auto& verb : verbs()) {
    EXPECT_TRUE(names.insert(verb.name).second) << verb.name;
    const std::string purpose = verb.purpose;
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(purpose.front()))) << purpose;
    EXPECT_FALSE(purpose.ends_with('.')) << purpose;
    const std::string details = verb.details;
    EXPECT_TRUE(details.empty() || details.ends_with('.')) << details;
    if (std::string_view(verb.group).empty()) continue;  // only programs start it
    EXPECT_FALSE(verb.examples.empty()) << verb.name;
    for (const std::string_view example : verb.examples) {
      EXPECT_NE(example.find(std::string("kiln ") + verb.name), example.npos) << example;
    }
  }
  EXPECT_GT(names.size(), 10U);
}

TEST(Verbs, EveryOptionSaysWhatCompletesItAndWhatItDoes) {
  int options = 0;
  for_each_option(Program().manual(), [&](const OptionText& option) {
    ++options;
    EXPECT_TRUE(option.value.empty() || option.kind() != nullptr)
        << option.name << " takes " << option.value << ", which is no row of value_kinds()";
    EXPECT_FALSE(option.text.empty()) << option.name;
    EXPECT_FALSE(option.text.ends_with('.')) << option.text;
  });
  EXPECT_GT(options, 100);
}

TEST(Verbs, NoKindOfValueIsIdle) {
  std::set<std::string> used;
  for_each_option(Program().manual(), [&](const OptionText& option) { used.insert(option.value); });
  for (const auto& kind : value_kinds()) EXPECT_TRUE(used.contains(kind.name)) << kind.name;
}

TEST(Verbs, VariablesNameGlobalFlags) {
  const auto manual = Program().manual();
  for (const auto& variable : kVariables) {
    if (variable.flag.empty()) continue;
    const bool known = std::any_of(manual.flags.begin(), manual.flags.end(),
                                   [&](const auto& flag) { return flag.name == variable.flag; });
    EXPECT_TRUE(known) << variable.flag;
    EXPECT_EQ(variable_of(variable.flag), &variable);
  }
}

// What the sources read and the table does not name, the manual and `kiln doctor` would not know.
TEST(Verbs, VariablesAreAllThatTheSourcesName) {
  std::set<std::string> named;
  const std::regex quoted("\"(KILN_[A-Z_]+)\"");
  for (const char* folder : {"cache", "runtime", "tuner", "tools"}) {
    const auto root = std::filesystem::path(KILN_SOURCE_DIR) / folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      std::ifstream in(entry.path());
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      for (std::sregex_iterator at(text.begin(), text.end(), quoted), end; at != end; ++at) {
        named.insert((*at)[1]);
      }
    }
  }
  std::set<std::string> known;
  for (const auto& variable : kVariables) {
    if (variable.name.starts_with("KILN_")) known.insert(std::string(variable.name));
  }
  EXPECT_EQ(named, known);
}

// A size called `top` would otherwise be two flags of one name.
TEST(Verbs, FlagsThatAreNoProblemsAreReserved) {
  std::set<std::string> used{"help", "version", "dtype"};
  const auto manual = Program().manual();
  for (const auto& flag : manual.flags) used.insert(flag.name.substr(2));
  for (const auto& verb : manual.verbs) {
    for (const auto& group : verb.groups) {
      if (group.title == kProblemGroup) continue;
      for (const auto& flag : group.flags) used.insert(flag.name.substr(2));
    }
  }
  for (const std::string_view flag : kReservedFlags) used.erase(std::string(flag));
  EXPECT_THAT(used, ::testing::IsEmpty()) << "add them to kReservedFlags";
}

TEST(Verbs, ClosedValuesRefuseOtherWords) {
  CLI::App app;
  std::string mode;
  std::string arch;
  app.add_option("--mode", mode)->type_name("MODE");
  app.add_option("--arch", arch)->type_name("ARCH");
  check_closed_values(app);
  EXPECT_NO_THROW(app.parse("--mode require --arch 90a"));
  try {
    app.parse("--mode requir");
    FAIL();
  } catch (const CLI::ValidationError& error) {
    EXPECT_STREQ(error.what(),
                 "--mode: requir is unknown; choose from use, tune_on_miss, require, default_only; "
                 "did you mean \"require\"?");
  }
}

TEST(ExitCodes, EachHasItsMeaning) {
  std::set<int> codes;
  for (const auto& meaning : kExitMeanings) EXPECT_TRUE(codes.insert(meaning.code).second);
  for (const auto kind :
       {ErrorKind::usage, ErrorKind::template_, ErrorKind::device, ErrorKind::compiler,
        ErrorKind::database, ErrorKind::not_found, ErrorKind::internal}) {
    EXPECT_TRUE(codes.contains(exit_code_of(kind)));
  }
  EXPECT_EQ(codes, (std::set<int>{kExitOk, kExitFailure, kExitUsage, kExitNoCandidate,
                                  kExitNoDevice, kExitDatabase, kExitBudget, kExitInterrupted}));
}

}  // namespace
}  // namespace kiln::tools
