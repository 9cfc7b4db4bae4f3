// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/output/wrapped.hpp"

#include <gtest/gtest.h>

namespace kiln::tools {
namespace {

TEST(Wrapped, FillsLinesOf80Columns) {
  const std::string word(39, 'x');
  EXPECT_EQ(wrapped("", 4), "");
  EXPECT_EQ(wrapped("a b", 4), "a b");
  EXPECT_EQ(wrapped(word + " " + word + "y z", 0), word + " " + word + "y\nz");
  EXPECT_EQ(wrapped(word + " " + word + " z", 2), word + "\n  " + word + " z");
}

TEST(Wrapped, LeavesALongWordWhole) {
  const std::string word(100, 'x');
  EXPECT_EQ(wrapped("a " + word + " b", 2), "a\n  " + word + "\n  b");
}

}  // namespace
}  // namespace kiln::tools
