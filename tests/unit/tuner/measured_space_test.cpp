// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/replay/measured_space.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "kiln/error.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

/// A file of the test's process, removed at its end.
class SpaceFile {
 public:
  explicit SpaceFile(const std::string& text)
      : path_(fs::path(::testing::TempDir()) / ("space" + std::to_string(getpid()) + ".json")) {
    std::ofstream(path_) << text;
  }
  SpaceFile(const SpaceFile&) = delete;
  SpaceFile& operator=(const SpaceFile&) = delete;
  ~SpaceFile() { fs::remove(path_); }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

using Values = std::vector<std::string>;
using Code = std::vector<std::uint16_t>;

constexpr std::string_view kCache =
    R"({"device_name": "NVIDIA A100", "kernel_name": "scale", "problem_size": 4096,
"tune_params_keys": ["block", "layout"],
"tune_params": {"block": [128, 32, 64, 256], "layout": ["soa", "aos"]}, "objective": "time",
"cache": {
"128,soa": {"block": 128, "layout": "soa", "time": 0.5, "times": [0.5], "compile_time": 250.0},
"32,aos": {"block": 32, "layout": "aos", "time": "CompilationFailedConfig", "compile_time": 10},
"64,aos": {"block": 64, "layout": "aos", "time": 0.25, "times": [0.25], "compile_time": 0},)";

TEST(MeasuredSpace, OrdersNumbersAndKeepsTheOrderOfWords) {
  const SpaceFile file(std::string{kCache});
  const MeasuredSpace space = read_measured_space(file.path());
  EXPECT_EQ(space.kernel, "scale");
  EXPECT_EQ(space.device, "NVIDIA A100");
  EXPECT_EQ(space.objective, "time");
  ASSERT_EQ(space.parameters.size(), 2U);
  EXPECT_EQ(space.parameters[0].name, "block");
  EXPECT_EQ(space.parameters[0].values, (Values{"32", "64", "128"}));
  EXPECT_EQ(space.parameters[1].values, (Values{"soa", "aos"}));
  ASSERT_EQ(space.rows.size(), 3U);
  EXPECT_EQ(space.rows[0].code, (Code{2, 0}));
  EXPECT_EQ(space.rows[0].time_ns, 5e5);
  EXPECT_EQ(space.rows[0].compile_s, 0.25);
  EXPECT_EQ(space.rows[1].code, (Code{0, 1}));
  EXPECT_EQ(space.rows[1].outcome, Outcome::compile_failed);
  EXPECT_EQ(space.rows[1].time_ns, 0.0);
  EXPECT_EQ(space.rows[2].code, (Code{1, 1}));
}

TEST(MeasuredSpace, IsTheSameInBothFormats) {
  const SpaceFile file(R"({"results": [
    {"configuration": {"block": 128, "layout": "soa"}, "invalidity": "correct", "correctness": 1,
     "times": {"compilation_time": 250.0, "runtimes": [0.5]},
     "measurements": [{"name": "time", "value": 0.5, "unit": "miliseconds"}]},
    {"configuration": {"layout": "aos", "block": 32}, "invalidity": "compile", "correctness": 0,
     "times": {"compilation": 10}},
    {"configuration": {"block": 64, "layout": "aos"}, "invalidity": "correct", "correctness": 1,
     "times": {"compilation": 0, "runtimes": [0.25]}}],
    "schema_version": "1.0.0", "metadata": {"timeunit": "miliseconds"}})");
  const MeasuredSpace t4 = read_measured_space(file.path());
  const SpaceFile cache_file(std::string{kCache});
  const MeasuredSpace cache = read_measured_space(cache_file.path());
  ASSERT_EQ(t4.rows.size(), cache.rows.size());
  for (std::size_t i = 0; i < t4.rows.size(); ++i) {
    EXPECT_EQ(t4.rows[i].code, cache.rows[i].code) << i;
    EXPECT_EQ(t4.rows[i].outcome, cache.rows[i].outcome) << i;
    EXPECT_EQ(t4.rows[i].time_ns, cache.rows[i].time_ns) << i;
    EXPECT_EQ(t4.rows[i].compile_s, cache.rows[i].compile_s) << i;
  }
}

TEST(MeasuredSpace, OfAnotherFileIsRefusedWithItsName) {
  const SpaceFile file("{\"data\": []}");
  try {
    (void)read_measured_space(file.path());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find(file.path().string()), std::string::npos);
  }
}

}  // namespace
}  // namespace kiln
