// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Ends of a run that scripts tell apart and that no other test here meets.

#include <gtest/gtest.h>

#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

TEST(ExitCode, IsSixWhenTheBudgetEndsBeforeAnyResult) {
  const Sandbox sandbox;
  const auto run = sandbox.run({"tune", "gemm", "--m", "64", "--n", "64", "--k", "64",
                                "--compile-only", "--arch", "sm_90a", "--budget", "1ms"});
  EXPECT_EQ(run.exit_code, 6) << run.out << run.err;
  EXPECT_NE(run.out.find("the budget is spent"), std::string::npos) << run.out;
}

}  // namespace
}  // namespace kiln::cli
