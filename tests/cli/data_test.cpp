// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// `--data`: operands whose data come from files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kPicked = R"(//@ operation  picked
//@ purpose    Numbers by their places
//@ size       n 1..65536
//@ size       entries 1..65536
//@ type       table f32
//@ type       place s32
//@ type       y f32
//@ operand    table in: entries
//@ operand    place in: n; fill integers 0 (entries - 1)
//@ operand    y out: n
//@ right      y exact
//@ ragged     n=37 entries=5
//@ flops      n
//@ reference  picked_reference
//@   grid     1
//@   block    32
//@   args     table, place, y, n
__global__ void picked_reference(const float* table, const int* place, float* y, int n) {
  for (int at = threadIdx.x; at < n; at += 32) y[at] = table[place[at]];
}
)";

/// Right unless a place comes many times in a row, which no generated data have.
constexpr const char* kHasty = R"(//@ template   picked_hasty
//@ purpose    Fails for runs of one place
//@ operation  picked
//@ tune       block_size = 32* 64
//@ launch     picked_hasty
//@   grid     ceil_div(n, block_size)
//@   block    block_size
//@   args     table, place, y, n
__global__ void picked_hasty(const float* table, const int* place, float* y, int n) {
  const int at = blockIdx.x * block_size + threadIdx.x;
  if (at >= n) return;
  bool is_run = at >= 16;
  for (int i = 1; i < 16 && is_run; ++i) is_run = place[at - i] == place[at];
  y[at] = is_run ? 0.0f : table[place[at]];
}
)";

std::string bytes_of_places(const std::vector<std::int32_t>& places) {
  return {reinterpret_cast<const char*>(places.data()), 4 * places.size()};
}

class DataFlag : public ::testing::Test {
 protected:
  DataFlag() {
    sandbox.set("KILN_DEVICE", "emulated:h200");
    sandbox.set("KILN_TEMPLATE_PATH", ".");
    sandbox.write("picked.cu", kPicked);
    sandbox.write("picked_hasty.cu", kHasty);
    std::vector<std::int32_t> places(100);
    for (int i = 0; i < 100; ++i) places[static_cast<std::size_t>(i)] = i * 7 % 50;
    sandbox.write("mixed.bin", bytes_of_places(places));
    sandbox.write("runs.bin", bytes_of_places(std::vector<std::int32_t>(100, 3)));
  }
  [[nodiscard]] cli::Run run(const std::string& verb, const Words& more = {}) const {
    return sandbox.run(with({verb, "picked", "--n", "100", "--entries", "50"}, more));
  }

  Sandbox sandbox;
};

TEST_F(DataFlag, DecidesWhatCandidatesAreVerifiedOn) {
  for (const char* const data : {"place=mixed.bin", "place="}) {
    const cli::Run right = run("verify", {"--data", data});
    EXPECT_EQ(right.exit_code, 0) << data << right.out << right.err;
  }
  const cli::Run wrong = run("verify", {"--data", "place=runs.bin"});
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("n=100 entries=50 (normal data): element 16: 0, expected"));
  const cli::Run ran = run("run", {"--data", "place=mixed.bin"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
}

TEST_F(DataFlag, SessionsUseResultsOfTheSameDataOnly) {
  const auto evaluated = [&](const Words& data) {
    const cli::Run tuned = run("tune", with(data, {"--compile-threads", "1", "--json"}));
    // 3: no candidate is right.
    EXPECT_TRUE(tuned.exit_code == 0 || tuned.exit_code == 3) << tuned.out << tuned.err;
    return nlohmann::json::parse(tuned.out)["results"].at(0)["outcomes"];
  };
  EXPECT_EQ(evaluated({})["ok"], 2);
  EXPECT_EQ(evaluated({"--data", "place=runs.bin"})["wrong_result"], 2);
  EXPECT_EQ(evaluated({"--data", "place=mixed.bin"})["ok"], 2);
}

TEST_F(DataFlag, RefusesWhatIsNoDataOfTheOperand) {
  const auto refusal = [&](const std::string& data) {
    const cli::Run refused = run("verify", {"--data", data});
    EXPECT_EQ(refused.exit_code, 2) << refused.out << refused.err;
    return refused.err;
  };
  EXPECT_THAT(refusal("place=none.npy"), AllOf(HasSubstr("none.npy"), HasSubstr("No such file")));
  EXPECT_THAT(refusal("plac=runs.bin"), HasSubstr("did you mean \"place\"?"));
  EXPECT_THAT(refusal("y=runs.bin"), HasSubstr("y is an output"));
  EXPECT_THAT(refusal("table=runs.bin"), HasSubstr("which takes 200 bytes as f32"));
  EXPECT_THAT(refusal("runs.bin"), HasSubstr("--data runs.bin: write the name of an operand"));
  const cli::Run shown = run("show", {"--data", "place=runs.bin"});
  EXPECT_EQ(shown.exit_code, 2) << "it runs no kernel";
}

}  // namespace
}  // namespace kiln::cli
