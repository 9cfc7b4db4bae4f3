// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/front_matter/tune_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "templates/front_matter/declaration_check.hpp"
#include "templates/space/tunable_value.hpp"
#include "tests/unit/templates/expect_error.hpp"

namespace kiln {
namespace {

using test::error_text;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Tunable tuned(std::string_view text, std::string_view type = kMacro) {
  FrontMatterLine line;
  line.key = "tune";
  line.text = text;
  line.text_place = {"k.cu", 5, 10};
  line.declaration = {std::string(type), "t", "", {"k.cu", 5, 1}};
  return parse_tunable(line);
}
std::string values_of_line(std::string_view text, std::string_view type = kMacro) {
  const Tunable tunable = tuned(text, type);
  return values_text(tunable.values) + " / " + value_text(tunable.default_value);
}
std::string refused_line(std::string_view text, std::string_view type = kMacro) {
  return error_text(ErrorKind::template_, [&] { (void)tuned(text, type); });
}

TEST(TuneLine, ListsValuesOfEachKind) {
  EXPECT_EQ(values_of_line("64 128* 256"), "64 128 256 / 128");
  EXPECT_EQ(values_of_line("aos soa*"), "aos soa / soa");
  EXPECT_EQ(values_of_line("RowMajor float4_interleaved_soa*"),
            "RowMajor float4_interleaved_soa / float4_interleaved_soa");
  EXPECT_EQ(values_of_line("false true*"), "false true / true");
  EXPECT_EQ(values_of_line("0.25 .5* 1 2e-7 1.50f"), "0.25 0.5 1 2e-7 1.5f / 0.5");
  EXPECT_EQ(values_of_line("64 128 default 128"), "64 128 / 128");
  EXPECT_EQ(values_of_line("aos soa default soa"), "aos soa / soa");
}

TEST(TuneLine, RangesIncludeTheirEnd) {
  EXPECT_EQ(values_of_line("1:4"), "1 2 3 4 / 1");
  EXPECT_EQ(values_of_line("32:128:32"), "32 64 96 128 / 32");
  EXPECT_EQ(values_of_line("-2:2:2"), "-2 0 2 / -2");
  EXPECT_EQ(values_of_line("8:2:-2"), "8 6 4 2 / 8");
  EXPECT_EQ(values_of_line("5:5"), "5 / 5");
  EXPECT_EQ(values_of_line("0.1:0.4:0.1"), "0.1 0.2 0.3 0.4 / 0.1");
  EXPECT_EQ(values_of_line("0:1:0.5"), "0.0 0.5 1.0 / 0.0");
  EXPECT_EQ(values_of_line("0.5f:1:0.25"), "0.5f 0.75f 1.0f / 0.5f");
  EXPECT_EQ(values_of_line("1 2* 32:96:32 128"), "1 2 32 64 96 128 / 2");
  EXPECT_EQ(values_of_line("32:128:32 default 96"), "32 64 96 128 / 96");
  EXPECT_EQ(tuned("1:4096").values.size(), 4096U);
}

TEST(TuneLine, PowersAreProducts) {
  EXPECT_EQ(values_of_line("32..256 x2"), "32 64 128 256 / 32");
  EXPECT_EQ(values_of_line("1..100 x10 default 10"), "1 10 100 / 10");
  EXPECT_EQ(values_of_line("0 1..8 x2 12"), "0 1 2 4 8 12 / 0");
  EXPECT_EQ(values_of_line("0.25..1 x2"), "0.25 0.5 1.0 / 0.25");
  EXPECT_EQ(values_of_line("1..1073741824 x2 default 1024").substr(0, 6), "1 2 4 ");
}

TEST(TuneLineErrors, OfRangesSayWhatToWrite) {
  EXPECT_EQ(refused_line("32:100:32"),
            "k.cu:5:10: the range 32:100:32: it ends at 96, because 100 is not a whole number of "
            "steps away from 32. Next: write 32:96:32\n  32:100:32\n  ^");
  EXPECT_THAT(refused_line("1 0:8:0"), AllOf(StartsWith("k.cu:5:12: "), HasSubstr("never end")));
  EXPECT_THAT(refused_line("64:32"), HasSubstr("it has no values. Next: write 32:64, or"));
  EXPECT_THAT(refused_line("32:64:-2"), HasSubstr("it has no values. Next: write a positive step"));
  EXPECT_THAT(refused_line("1:5000"),
              HasSubstr("it has 5000 values, but a tunable has at most 4096"));
  EXPECT_THAT(refused_line("1:4096 5000"), HasSubstr("more than 4096 values"));
  EXPECT_THAT(refused_line("1:2147483647"), HasSubstr("has 2147483647 values"));
  EXPECT_THAT(refused_line("2147483646:2147483648"), HasSubstr("32-bit"));
  EXPECT_THAT(refused_line("1:2:3:4"), HasSubstr("expected: first:last or first:last:step"));
  for (const char* text : {"a:b", "1:", ":4", "1:2:x", "1..", "a..b x2", "true:false"}) {
    EXPECT_THAT(refused_line(text), HasSubstr("is not a number")) << text;
  }
  EXPECT_THAT(refused_line("32:64:32*"),
              AllOf(StartsWith("k.cu:5:18: "), HasSubstr("default VALUE")));
  EXPECT_THAT(refused_line("32..100 x2"), HasSubstr("Next: write 32..64 x2"));
  EXPECT_THAT(refused_line("32..64"), HasSubstr("write 32..64 x2, or 32:64:1"));
  EXPECT_THAT(refused_line("32..64 x1"), AllOf(StartsWith("k.cu:5:17: "), HasSubstr("from 2")));
  EXPECT_THAT(refused_line("32..64 xyz"), HasSubstr("from 2"));
  EXPECT_THAT(refused_line("0..64 x2"), HasSubstr("must be positive"));
  EXPECT_THAT(refused_line("64..32 x2"), HasSubstr("Next: write 32..64 x2"));
  EXPECT_THAT(refused_line("0.000000000000001:100:1"), HasSubstr("too many digits"));
}

TEST(TuneLineErrors, OfDefaultsPointAtTheWord) {
  EXPECT_THAT(refused_line("1:4 default 5"),
              AllOf(StartsWith("k.cu:5:22: "), HasSubstr("5 is not one")));
  EXPECT_THAT(refused_line("1:4 default"), HasSubstr("expected after \"default\""));
  EXPECT_THAT(refused_line("default 4"), HasSubstr("expected before \"default\""));
  EXPECT_THAT(refused_line("1:4 default 2 8"), HasSubstr("is the end of a \"tune\" line"));
  EXPECT_THAT(refused_line("1 2* 3:4 default 2"), HasSubstr("two defaults"));
  EXPECT_THAT(refused_line("1* 2*"), HasSubstr("two values are marked"));
}

TEST(TuneLineErrors, OfMixedValues) {
  EXPECT_THAT(refused_line("aos 1"), HasSubstr("mix names and numbers"));
  EXPECT_THAT(refused_line("true 1"), HasSubstr("mix names and numbers"));
  EXPECT_THAT(refused_line("true auto"), HasSubstr("mix false or true with other names"));
  EXPECT_THAT(refused_line("1 1.0"), HasSubstr("1.0 is listed twice"));
  EXPECT_THAT(refused_line("0.5 0.50"), HasSubstr("0.5 is listed twice"));
  EXPECT_THAT(refused_line("4 1:8"), HasSubstr("4 is listed twice"));
  EXPECT_THAT(refused_line("a-b"), HasSubstr("\"a-b\" is neither a 32-bit integer, a decimal"));
  EXPECT_THAT(refused_line("3000000000"), HasSubstr("32-bit"));
}

TEST(TuneLine, ValuesFitTheTypeOfTheField) {
  EXPECT_EQ(values_of_line("false true*", "bool"), "false true / true");
  EXPECT_EQ(values_of_line("0 1*", "bool"), "0 1 / 1");
  EXPECT_EQ(values_of_line("0.5 1", "float"), "0.5 1 / 0.5");
  EXPECT_EQ(values_of_line("1:2:0.5", "double"), "1.0 1.5 2.0 / 1.0");
  EXPECT_EQ(values_of_line("RowMajor ColMajor", "Layout"), "RowMajor ColMajor / RowMajor");
  EXPECT_THAT(refused_line("0.5", "int"), HasSubstr("change the field to float t;"));
  EXPECT_THAT(refused_line("true", "int"), HasSubstr("change the field to bool t;"));
  EXPECT_THAT(refused_line("0.5", "bool"), HasSubstr("must be false and true, or 0 and 1"));
  EXPECT_THAT(refused_line("true", "Layout"), HasSubstr("change the field to bool t;"));
  EXPECT_THAT(refused_line("fast", "float"), EndsWith("its values must be numbers\n  fast\n  ^"));
}

}  // namespace
}  // namespace kiln
