// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The list of operations, and what one of them consists of.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/golden.hpp"
#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

TEST(Operations, AreListed) {
  const Sandbox sandbox;
  expect_golden("operations", sandbox, sandbox.run({"operations"}));
}

TEST(Operations, OneIsExplained) {
  const Sandbox sandbox;
  expect_golden("operations_gemm", sandbox, sandbox.run({"operations", "gemm"}));
}

TEST(Operations, TheDocumentHasTheSame) {
  const Sandbox sandbox;
  const auto all = nlohmann::json::parse(sandbox.run({"operations", "--json"}).out);
  const auto gemm = nlohmann::json::parse(sandbox.run({"operations", "gemm", "--json"}).out);
  EXPECT_EQ(all["kiln"], "operations");
  EXPECT_EQ(gemm["kiln"], "operation");
  ASSERT_EQ(all["operations"].size(), 1U);
  EXPECT_EQ(all["operations"][0]["operands"], gemm["operands"]);
  EXPECT_EQ(gemm["sizes"][0]["name"], "m");
  EXPECT_EQ(gemm["operands"][2]["when"], "reads_c");
  EXPECT_GT(gemm["templates"].size(), 5U);
}

TEST(Operations, ANameThatIsNoneIsExplained) {
  const Sandbox sandbox;
  const auto run = sandbox.run({"operations", "gem"});
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_NE(run.err.find("gem is unknown; the only choice is gemm"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace kiln::cli
