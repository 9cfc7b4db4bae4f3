// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/compile/mutants/change.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace kiln::testing {
namespace {

std::string complaint(const std::string& text, const Change& change) {
  try {
    return "none: " + changed(text, change);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(Change, ReachesTheLineThatEndsInTheAnchor) {
  const std::string text = "  first();\n  wait<2>(2);  // mutant: wait\n  last();\n";
  EXPECT_EQ(changed(text, at("wait").removed()), "  first();\n    // mutant: wait\n  last();\n");
  EXPECT_EQ(changed(text, at("wait").replaced_by("stay();")),
            "  first();\n  stay();  // mutant: wait\n  last();\n");
  EXPECT_EQ(changed(text, at("wait").with("<2>", "<1>")),
            "  first();\n  wait<1>(2);  // mutant: wait\n  last();\n");
  EXPECT_EQ(changed(text, at("wait").without("(2)")),
            "  first();\n  wait<2>;  // mutant: wait\n  last();\n");
}

TEST(Change, ReachesTheStatementBelowAnAnchor) {
  const std::string text = "// mutant: sum\n  Sum sum{\n      a, b};\n  add(b, c);\n";
  EXPECT_EQ(changed(text, at("sum").removed()), "// mutant: sum\n  \n  add(b, c);\n");
  EXPECT_EQ(changed(text, at("sum").with("b", "d")),
            "// mutant: sum\n  Sum sum{\n      a, d};\n  add(b, c);\n");
}

TEST(Change, WithoutAnchorReplacesTextThatOccursOnce) {
  EXPECT_EQ(changed("a b a", {"", "b", "c"}), "a c a");
  EXPECT_EQ(complaint("a b a", {"", "a", "c"}), "'a' occurs more than once in the source");
}

TEST(Change, RefusesAnAnchorThatIsMissing) {
  // The anchor of a longer name is another one.
  EXPECT_EQ(complaint("wait();  // mutant: wait_all\n", at("wait").removed()),
            "'// mutant: wait' is not in the source");
}

TEST(Change, RefusesAnAnchorThatOccursTwice) {
  EXPECT_EQ(complaint("f();  // mutant: f\nf();  // mutant: f\n", at("f").removed()),
            "'// mutant: f' occurs more than once in the source");
}

TEST(Change, RefusesAWordThatIsNotOnceOnTheLine) {
  const std::string text = "f(a, a);  // mutant: f\nf(b);\n";
  EXPECT_EQ(complaint(text, at("f").without("b")), "'b' is not in the line of '// mutant: f'");
  EXPECT_EQ(complaint(text, at("f").without("a")),
            "'a' occurs more than once in the line of '// mutant: f'");
}

}  // namespace
}  // namespace kiln::testing
