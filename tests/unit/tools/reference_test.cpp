// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/reference/reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "kiln/error.hpp"
#include "templates/operation/operation.hpp"
#include "tests/unit/tools/rows_operation.hpp"
#include "tools/program.hpp"
#include "tools/reference/shell_words.hpp"

namespace kiln::tools {
namespace {

using ::testing::HasSubstr;

const Sections kSections{{"one", "1"}, {"two-lines", "a\nb"}};

template <class Act>
std::string error_of_call(const Act& act) {
  try {
    (void)act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Filled, ReplacesSectionsAndNothingElse) {
  EXPECT_EQ(filled("x@one@y @two-lines@\n", kSections, "f"), "x1y a\nb\n");
  EXPECT_EQ(filled("a@b.c and $@ \"${x[@]}\" @@one@", kSections, "f"),
            "a@b.c and $@ \"${x[@]}\" @1");
}

TEST(Filled, NamesThePlaceOfAnUnknownSection) {
  EXPECT_EQ(error_of_call([] { return filled("a\nb @none@", kSections, "kiln.in"); }),
            "kiln.in:2: no section is called \"none\"; there are one, two-lines");
}

TEST(Refreshed, ReplacesWhatIsMarkedAndIsStable) {
  const std::string page = "# A\n<!-- generated: one -->\nold\n<!-- end -->\nprose\n";
  const std::string once = refreshed(page, kSections, "p");
  EXPECT_EQ(once, "# A\n<!-- generated: one -->\n\n1\n\n<!-- end -->\nprose\n");
  EXPECT_EQ(refreshed(once, kSections, "p"), once);
}

TEST(Refreshed, RefusesPagesWhoseMarkersAreWrong) {
  const auto why = [](const std::string& page) {
    return error_of_call([&] { return refreshed(page, kSections, "p.md"); });
  };
  EXPECT_THAT(why("prose"), HasSubstr("p.md:1: write <!-- generated: "));
  EXPECT_THAT(why("\n<!-- generated: one -->\n"), HasSubstr("p.md:2: this part is not closed"));
  EXPECT_THAT(why("<!-- generated: one --><!-- generated: two-lines --><!-- end -->"),
              HasSubstr("p.md:1: this part"));
  EXPECT_THAT(why("<!-- generated: none --><!-- end -->"), HasSubstr("\"none\""));
}

TEST(CliPage, HasTheTablesThatTheProgramGives) {
  const char* const name = "docs/reference/cli.md";
  std::ifstream in(std::string(KILN_SOURCE_DIR) + "/" + name, std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  // What other tests of the process declare is on no page, also if a program has seen it.
  declare_rows_operation();
  (void)Program().manual();
  const OperationSet built_in;
  const OperationScope scope(built_in);
  EXPECT_EQ(page, refreshed(page, sections_of(Program().manual()), name))
      << name << " is stale: cmake --build --preset test --target refresh_docs";
}

TEST(ShellWords, BriefIsTheFirstClause) {
  EXPECT_EQ(first_clause("Seed of the data (default 1)"), "Seed of the data");
  EXPECT_EQ(first_clause("Threads; 0 is one for each core (default 0)"), "Threads");
  EXPECT_EQ(first_clause("Storage: n or t"), "Storage: n or t");
}

TEST(ShellWords, AFlagTakesOneKindOfValueWhateverTheVerb) {
  Manual manual;
  const Verb verb{"a", "g", "", "", "", {}, nullptr};
  manual.verbs.push_back({&verb, {}, {{"Flags", {{"", "--x", "N", "", false, false}}}}});
  EXPECT_EQ(flags_by_value(manual).at("N"), std::set<std::string>{"--x"});
  manual.verbs.push_back({&verb, {}, {{"Flags", {{"", "--x", "FILE", "", false, false}}}}});
  EXPECT_THAT(error_of_call([&] { return flags_by_value(manual); }),
              HasSubstr("one verb shows the value of --x as N, another verb as FILE"));
}

/// One flag whose text has everything that formats must escape.
Manual strange_manual() {
  static const Verb verb{
      "try",  "g", "none", "Don't | panic", ".Dots [and] back\\slashes.", {"kiln try --flag 'x'"},
      nullptr};
  Manual manual;
  const FlagGroup problem{"Problem", {{"", "--m", "N", "Rows", false, false}}};
  manual.verbs.push_back(
      {&verb,
       {},
       {{"Flags", {{"-f", "--flag", "TYPE", "It's [a] x|y: \\z", false, true}}}, problem}});
  return manual;
}

TEST(Sections, EscapeWhatTheirReadersWouldTakeForSyntax) {
  const auto sections = sections_of(strange_manual());
  EXPECT_THAT(sections.at("man-verbs"), HasSubstr("\\&.Dots [and] back\\eslashes."));
  EXPECT_THAT(sections.at("man-verbs"), HasSubstr("kiln try \\-\\-flag 'x'"));
  EXPECT_THAT(sections.at("verbs"), HasSubstr("| `try` | Don't \\| panic | none |"));
  EXPECT_THAT(sections.at("zsh-cases"),
              HasSubstr("'*-f+[It'\\''s \\[a\\] x|y\\: \\\\z]:TYPE:(f16 bf16"));
  EXPECT_THAT(sections.at("fish-completions"),
              HasSubstr("-s f -l flag -x -a 'f16 bf16 tf32 f32 f64 e4m3 e5m2 s8 u8 s32 s4 u4 b1 "
                        "b1_xor s16 u16 u32 s64 u64 cf32 cf64' -d 'It\\'s [a] x|y: \\\\z'"));
  EXPECT_THAT(sections.at("bash-kinds"), HasSubstr("    --flag | -f)\n      _kiln_kind='TYPE' ;;"));
}

}  // namespace
}  // namespace kiln::tools
