// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// `kiln doctor --save-profile` where there is no GPU to measure.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

TEST(SaveProfile, AnEmulatedGpuHasNothingToMeasure) {
  const Sandbox sandbox;
  const auto run =
      sandbox.run({"doctor", "--save-profile", "mine.toml", "--device", "emulated:h200"});
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_NE(run.err.find("--device cuda:0"), std::string::npos) << run.err;
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "mine.toml"));
}

TEST(SaveProfile, HasNoJson) {
  const Sandbox sandbox;
  const auto run = sandbox.run({"doctor", "--save-profile", "mine.toml", "--json"});
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_NE(run.err.find("leave out --json"), std::string::npos) << run.err;
}

TEST(SaveProfile, WithoutAGpuTheExitCodeSaysSo) {
  const Sandbox sandbox;
  const auto run = sandbox.run({"doctor", "--save-profile", "mine.toml"});
  if (run.exit_code == 0) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(run.exit_code, 4) << run.err;
}

}  // namespace
}  // namespace kiln::cli
