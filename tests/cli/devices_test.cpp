// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The list of devices. No GPU is visible here; tests/gpu has one.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/golden.hpp"
#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

TEST(Devices, AreListedWithTheDefault) {
  const Sandbox sandbox;
  expect_golden("devices", sandbox,
                sandbox.run({"devices", "--quiet", "--device", "emulated:l40s"}));
}

TEST(Devices, ANoteSaysWhyThereIsNoGpu) {
  const Sandbox sandbox;
  const auto run = sandbox.run({"devices"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("emulated:h200"), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find('*'), std::string::npos) << "cuda:0 is the default, and not there";
  EXPECT_TRUE(run.err.starts_with("kiln: ")) << run.err;
  EXPECT_NE(run.err.find("emulated:h200"), std::string::npos) << "what works without: " << run.err;
}

TEST(Devices, ThoseOfTheDocumentCanBeNamed) {
  const Sandbox sandbox;
  const auto document = nlohmann::json::parse(sandbox.run({"devices", "--json"}).out);
  EXPECT_EQ(document["kiln"], "devices");
  ASSERT_GT(document["devices"].size(), 3U);
  for (const auto& device : document["devices"]) {
    EXPECT_EQ(device["emulated"], true) << device;
    EXPECT_FALSE(device["device_class"]["name"].get<std::string>().empty()) << device;
    const auto run = sandbox.run({"templates", "--dtype", "f32", "--device", device["device"]});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const std::string arch = device["device_class"]["arch"];
    EXPECT_NE(run.out.find(" on " + arch + "\n"), std::string::npos) << run.out;
    EXPECT_EQ(run.err, "");
  }
}

TEST(Devices, AProfileOfOnesOwnIsListed) {
  Sandbox sandbox;
  const std::string source = KILN_SOURCE_DIR;
  const auto copied =
      sandbox.shell("find " + source + "/runtime -name h200.toml -exec cp {} mine.toml \\;");
  ASSERT_EQ(copied.exit_code, 0) << copied.err;
  sandbox.set("KILN_DEVICE", "emulated:./mine.toml");
  const auto document = nlohmann::json::parse(sandbox.run({"devices", "--json"}).out);
  const auto& own = document["devices"].back();
  EXPECT_EQ(own["device"], "emulated:./mine.toml");
  EXPECT_EQ(own["default"], true);
}

TEST(Devices, ANameThatIsNoneIsExplained) {
  const Sandbox sandbox;
  const auto model = sandbox.run({"devices", "--device", "emulated:h300"});
  EXPECT_EQ(model.exit_code, 4) << model.err;
  EXPECT_TRUE(model.err.starts_with("kiln: there is no emulated GPU 'h300'")) << model.err;
  const auto words = sandbox.run({"devices", "--device", "gpu"});
  EXPECT_EQ(words.exit_code, 2) << words.err;
  EXPECT_NE(words.err.find("'gpu' is unknown"), std::string::npos) << words.err;
}

}  // namespace
}  // namespace kiln::cli
