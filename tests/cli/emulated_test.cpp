// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the program does with the emulated GPU, on problems that take a second.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

std::vector<std::string> on_emulated(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--device", "emulated:h200"});
  return arguments;
}

std::vector<std::string> small_problem(const std::string& verb) {
  return {verb, "gemm", "--m", "48", "--n", "40", "--k", "24"};
}

TEST(Emulated, DoctorKnowsIt) {
  Sandbox sandbox;
  sandbox.set("KILN_DEVICE", "emulated:h200");
  const auto run = sandbox.run({"doctor"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_NE(run.out.find("an emulated NVIDIA H200, sm_90a, 132 SMs"), std::string::npos) << run.out;
}

TEST(Emulated, EveryVerbThatFindsNoGpuNamesIt) {
  const Sandbox sandbox;
  for (const char* verb : {"tune", "bench", "run"}) {
    const auto run = sandbox.run(small_problem(verb));
    EXPECT_EQ(run.exit_code, 4) << verb;
    EXPECT_NE(run.err.find("--device emulated:h200"), std::string::npos) << run.err;
  }
}

TEST(Emulated, AnUnknownModelIsNamedWithTheKnownOnes) {
  const Sandbox sandbox;
  auto arguments = small_problem("run");
  arguments.insert(arguments.end(), {"--device", "emulated:h2000"});
  const auto run = sandbox.run(arguments);
  EXPECT_NE(run.exit_code, 0);
  EXPECT_NE(run.err.find("h2000"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("h200"), std::string::npos) << run.err;
}

TEST(Emulated, RunComputesAndClaimsNoTime) {
  const Sandbox sandbox;
  auto arguments = on_emulated(small_problem("run"));
  const auto text = sandbox.run(arguments);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("on emulated NVIDIA H200"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("verified  yes, 1,920 elements"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("1 compiled"), std::string::npos) << text.out;

  arguments.insert(arguments.end(), {"--json", "--beta", "1", "--layout", "nt"});
  const auto run = sandbox.run(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_TRUE(json["emulated"]);
  EXPECT_TRUE(json["verified"]);
  EXPECT_TRUE(json["times_ns"].empty());
  EXPECT_FALSE(json.contains("tflops"));
}

// The second process finds the PTX of the first one in the store of compiled kernels.
TEST(Emulated, RunLoadsWhatAnotherProcessCompiled) {
  const Sandbox sandbox;
  const auto arguments = on_emulated(small_problem("run"));
  ASSERT_EQ(sandbox.run(arguments).exit_code, 0);
  const auto again = sandbox.run(arguments);
  EXPECT_NE(again.out.find("0 compiled, 1 loaded from the cubin store"), std::string::npos)
      << again.out << again.err;
}

}  // namespace
}  // namespace kiln::cli
