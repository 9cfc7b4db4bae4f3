// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/output/table.hpp"

#include <gtest/gtest.h>

namespace kiln::tools {
namespace {

TEST(Table, AlignsColumnsWithoutTrailingSpaces) {
  Table table({{"name"}, {"n", Table::Align::right}, {"note"}});
  table.add_row({"a", "5", "x"});
  table.add_row({"longer", "12345"});
  EXPECT_EQ(table.text(),
            "name        n  note\n"
            "a           5  x\n"
            "longer  12345\n");
}

TEST(Table, AForeignCellStaysOneCell) {
  Table table({{"name"}, {"why"}});
  table.add_row({"a\nforged  row", "\x1b[2J\xff"});
  EXPECT_EQ(table.text(),
            "name                why\n"
            "a\\u000aforged  row  \\u001b[2J\\xff\n");
}

TEST(FactSheet, FurtherLinesOfAValueAreNoOtherFacts) {
  FactSheet sheet;
  sheet.add("verdict", "NOT correct\n  verified  yes\x9b");
  EXPECT_EQ(sheet.text(),
            "  verdict  NOT correct\n"
            "             verified  yes\\x9b\n");
}

TEST(FactSheet, AlignsValues) {
  FactSheet sheet;
  sheet.add("a", "1");
  sheet.add("long", "2");
  EXPECT_EQ(sheet.text(), "  a     1\n  long  2\n");
}

}  // namespace
}  // namespace kiln::tools
