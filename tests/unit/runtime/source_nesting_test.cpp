// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/source_nesting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "templates/catalog.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr NestingLimits kLimits{10, 50};

std::string times(int count, const std::string& text) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

std::string found_in(const std::string& source) {
  return why_too_nested(source, "k.cu", kLimits);
}

TEST(SourceNesting, BracketsOfAllKindsCountWhereTheyAreOpen) {
  EXPECT_EQ(found_in(times(10, "(") + times(10, ")")), "");
  EXPECT_EQ(found_in(times(100, "f(x){a[1];}")), "");
  EXPECT_THAT(found_in("\n\nint a = " + times(11, "(") + "1" + times(11, ")")),
              StartsWith("k.cu(3): error: brackets are nested more than 10 levels deep"));
  EXPECT_THAT(found_in(times(4, "([{")), HasSubstr("nested"));
}

TEST(SourceNesting, AStatementCountsWithThoseThatItIsPartOf) {
  EXPECT_EQ(found_in("x = " + times(45, "!") + "y;"), "");
  EXPECT_THAT(found_in("x = " + times(50, "!") + "y;"), HasSubstr("more than 50 tokens"));
  EXPECT_THAT(found_in(times(30, "if (x) ") + "y;"), HasSubstr("tokens"));
  EXPECT_THAT(found_in(times(30, "if (x) y; else ") + "z;"), HasSubstr("tokens"));
  EXPECT_THAT(found_in(times(30, "if (x) { y; } else ") + "z;"), HasSubstr("tokens"));
  EXPECT_THAT(found_in(times(9, "f(-----") + "x"), HasSubstr("tokens"));
  EXPECT_THAT(found_in("A" + times(60, "<b, A") + times(60, ">")), HasSubstr("tokens"));
}

TEST(SourceNesting, LongIsNotDeep) {
  EXPECT_EQ(found_in(times(500, "x = y + 1;\n")), "");
  EXPECT_EQ(found_in(times(500, "if (x) { y; }\n")), "");
  EXPECT_EQ(found_in("int a[] = {" + times(500, "-1, 1 << 3, a < b ? 1 : 2 > 1, ") + "};"), "");
  EXPECT_EQ(found_in(times(500, "#define A(x) ((x) + 1)\n")), "");
  EXPECT_EQ(found_in(times(500, "void f() {}\n")), "");
}

TEST(SourceNesting, CommentsLiteralsAndOtherBranchesDoNotCount) {
  const std::string open = times(20, "(");
  EXPECT_EQ(found_in("// " + open + "\n/* " + open + "*/ x"), "");
  EXPECT_EQ(found_in("a(\"" + open + "\\\"" + open + "\", '(', 1'000'000)"), "");
  EXPECT_EQ(found_in("auto s = R\"x(" + open + "\n)\" " + open + ")x\";"), "");
  EXPECT_EQ(found_in(times(20, "#if A\nif (x) {\n#else\nif (y) {\n#endif\n}\n")), "");
  EXPECT_EQ(found_in(times(20, "#define BEGIN { ( /* ( \n ( */ [\n")), "");
  EXPECT_THAT(found_in("#define A " + open), HasSubstr("nested"));
}

TEST(SourceNesting, ThePlaceIsThatOfTheFileThatWasIncluded) {
  EXPECT_THAT(found_in("#line 7 \"mine/part.cuh\"\n\n" + times(11, "{")),
              StartsWith("mine/part.cuh(8): error:"));
}

TEST(SourceNesting, AnyBytesAreReadToTheirEnd) {
  for (const char* text :
       {"", "#", "R\"", "R\"(", "'", "\"\\", "/*", "//", "\\\n", "#define \\\n", "#if\n#else",
        "#else\n#endif\n#endif", ")]}", "#line", "#line 9 \"", "#/*", "}", "else", ">,<"}) {
    EXPECT_EQ(found_in(text), "") << text;
  }
}

TEST(SourceNesting, WhatKilnShipsIsFarFromTheLimits) {
  constexpr NestingLimits kTight{40, 1000};
  for (const auto& [name, text] : embedded_files()) {
    EXPECT_EQ(why_too_nested(text, name, kTight), "") << name;
  }
}

TEST(SourceNesting, LimitsGrowWithTheStackUpToWhatIsEnough) {
  EXPECT_LT(nesting_limits(1 << 20).brackets, nesting_limits(8 << 20).brackets);
  EXPECT_EQ(nesting_limits(256 << 20).brackets, 1000U);
  EXPECT_EQ(nesting_limits(256 << 20).tokens, 50'000U);
}

}  // namespace
}  // namespace kiln
