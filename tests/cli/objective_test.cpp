// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Searches for something other than the shortest time, and metrics of operations.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const Words kTinyGemm{"gemm", "--m", "64", "--n", "64", "--k", "64"};

Words tiny_gemm(const std::string& verb, const Words& more) {
  Words words{verb};
  words.insert(words.end(), kTinyGemm.begin(), kTinyGemm.end());
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Objectives, EmulatedDevicesHaveNoEnergy) {
  const Sandbox sandbox;
  for (const char* objective : {"energy", "energy_delay", "time_ns * power_w"}) {
    const auto run =
        sandbox.run(tiny_gemm("tune", {"--device", "emulated:h200", "--objective", objective}));
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_THAT(run.err, AllOf(HasSubstr(objective), HasSubstr("does not predict energy")));
  }
  EXPECT_FALSE(std::filesystem::exists(sandbox.database()));
}

TEST(Objectives, MistakesAreShownBeforeADeviceIsSought) {
  Sandbox sandbox;
  const auto misspelt = sandbox.run(tiny_gemm("tune", {"--objective", "enery"}));
  EXPECT_EQ(misspelt.exit_code, 2);
  EXPECT_THAT(misspelt.err, AllOf(HasSubstr("--objective"), HasSubstr("energy")));
  const auto unknown = sandbox.run(tiny_gemm("tune", {"--objective", "time_ns + loops"}));
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("--objective:1:11"), HasSubstr("loops")));
  const auto compiled = sandbox.run(
      tiny_gemm("tune", {"--compile-only", "--arch", "sm_90a", "--objective", "energy"}));
  EXPECT_EQ(compiled.exit_code, 2);
  EXPECT_THAT(compiled.err, HasSubstr("--compile-only"));
  sandbox.set("KILN_OBJECTIVE", "speed");
  const auto variable = sandbox.run(tiny_gemm("tune", {}));
  EXPECT_EQ(variable.exit_code, 2);
  EXPECT_THAT(variable.err, AllOf(HasSubstr("KILN_OBJECTIVE"), HasSubstr("speed")));
}

TEST(Objectives, ExpressionsDecideOnAnEmulatedDevice) {
  Sandbox sandbox;
  const auto tuned = sandbox.run(
      tiny_gemm("tune", {"--device", "emulated:h200", "--templates", "gemm_naive", "--set",
                         "block_x=32,64", "--set", "block_y=1,2", "--strategy", "exhaustive",
                         "--budget", "2m", "--objective", "1e9 / time_ns", "--json"}));
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  const auto result = nlohmann::json::parse(tuned.out)["results"].at(0);
  EXPECT_EQ(result["session"]["objective"], "1e9 / time_ns");
  const auto shown = sandbox.run(tiny_gemm("show", {"--json", "--all"}));
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const auto by_time = nlohmann::json::parse(shown.out)["devices"].at(0);
  EXPECT_EQ(by_time["objective"], "time");
  EXPECT_EQ(by_time["sessions"].at(0)["objective"], "1e9 / time_ns");
  const auto slowest = sandbox.run(tiny_gemm("show", {"--json", "--objective", "1e9 / time_ns"}));
  const auto by_objective = nlohmann::json::parse(slowest.out)["devices"].at(0);
  EXPECT_EQ(by_objective["best"]["config"], result["best"]["config"]);
  EXPECT_GE(by_objective["best"]["timing"]["median_ns"].get<double>(),
            by_time["best"]["timing"]["median_ns"].get<double>());
  const auto text = sandbox.run(tiny_gemm("show", {"--objective", "1e9 / time_ns"}));
  EXPECT_THAT(text.out, HasSubstr("objective"));
}

TEST(Metrics, AreShownAsTheRate) {
  Sandbox sandbox;
  sandbox.set("KILN_TEMPLATE_PATH",
              std::string(KILN_SOURCE_DIR) + "/examples/operations/stencil2d");
  const Words sizes{"stencil2d", "--rows", "100", "--cols", "120"};
  const auto on_stencil = [&](const std::string& verb, const Words& more) {
    Words words{verb};
    words.insert(words.end(), sizes.begin(), sizes.end());
    words.insert(words.end(), more.begin(), more.end());
    return sandbox.run(words);
  };
  const auto tuned =
      on_stencil("tune", {"--device", "emulated:h200", "--max-candidates", "1", "--json"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  const auto best = nlohmann::json::parse(tuned.out)["results"].at(0)["best"];
  const double time_ns = best["timing"]["median_ns"];
  EXPECT_NEAR(best["metrics"]["points_per_s"].get<double>(), 12000.0 / time_ns * 1e9, 1e3);
  EXPECT_FALSE(best["metrics"].contains("points_per_j")) << "an emulated GPU has no energy";
  EXPECT_THAT(on_stencil("show", {}).out, HasSubstr("points/s"));
  EXPECT_THAT(sandbox.run({"list"}).out, AllOf(HasSubstr("points/s"), HasSubstr("(emulated)")));
  const auto described = sandbox.run({"operations", "stencil2d"});
  EXPECT_THAT(described.out, AllOf(HasSubstr("points_per_s"), HasSubstr("rows * cols / energy_j")));
}

TEST(Metrics, AShareHasNoPrefix) {
  Sandbox sandbox;
  const auto copied = sandbox.shell(std::string("cp ") + KILN_SOURCE_DIR +
                                    "/examples/operations/stencil2d/* . && sed -i 's/metric .*"
                                    "points_per_s.*/metric saved = rows \\/ 400.0/' stencil2d.cu");
  ASSERT_EQ(copied.exit_code, 0) << copied.err;
  const auto tuned =
      sandbox.run({"tune", "stencil2d", "--rows", "100", "--cols", "120", "--template-path", ".",
                   "--device", "emulated:h200", "--max-candidates", "1"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr("0.25 saved"));
}

}  // namespace
}  // namespace kiln::cli
