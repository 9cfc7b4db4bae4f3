// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Scalars of 64 bits on the command line: references and kernels get the number that was written.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kKeyed = R"(//@ operation  keyed
//@ purpose    Mixes a key into a vector
//@ size       n 1..65536
//@ type       x u64
//@ type       y u64
//@ scalar     key u64 = 0x9e3779b97f4a7c15   // of the hash
//@ scalar     shift s64 = -9223372036854775808
//@ operand    x in: n
//@ operand    y out: n
//@ right      y exact
//@ ragged     n=37
//@ flops      n
//@ reference  keyed_reference
//@   grid     1
//@   block    32
//@   args     x, y, n, key, shift
__global__ void keyed_reference(const unsigned long long* x, unsigned long long* y, int n,
                                 unsigned long long key, long long shift) {
  for (int at = threadIdx.x; at < n; at += 32) y[at] = (x[at] ^ key) + shift;
}
)";

/// A kernel that takes the scalars.
constexpr const char* kGiven = R"(//@ template   keyed_given
//@ purpose    Takes the key
//@ operation  keyed
//@ tune       block_size = 32* 64
//@ launch     keyed_given
//@   grid     ceil_div(n, block_size)
//@   block    block_size
//@   args     x, y, n, key, shift
__global__ void keyed_given(const unsigned long long* x, unsigned long long* y, int n,
                             unsigned long long key, long long shift) {
  const int at = blockIdx.x * block_size + threadIdx.x;
  if (at < n) y[at] = (x[at] ^ key) + shift;
}
)";

/// A kernel that knows one key, so it shows what the reference gets.
constexpr const char* kFixed = R"(//@ template   keyed_fixed
//@ purpose    Knows one key
//@ operation  keyed
//@ launch     keyed_fixed
//@   grid     ceil_div(n, 32)
//@   block    32
//@   args     x, y, n
__global__ void keyed_fixed(const unsigned long long* x, unsigned long long* y, int n) {
  const int at = blockIdx.x * 32 + threadIdx.x;
  if (at < n) y[at] = (x[at] ^ 0x9e3779b97f4a7c15ULL) + 0x8000000000000000ULL;
}
)";

class Scalars : public ::testing::Test {
 protected:
  Scalars() {
    sandbox.set("KILN_DEVICE", "emulated:h200");
    sandbox.set("KILN_TEMPLATE_PATH", ".");
    sandbox.write("keyed.cu", kKeyed);
    sandbox.write("keyed_given.cu", kGiven);
    sandbox.write("keyed_fixed.cu", kFixed);
  }
  [[nodiscard]] cli::Run run(const std::string& verb, const Words& more = {}) const {
    return sandbox.run(with({verb, "keyed", "--n", "100"}, more));
  }

  Sandbox sandbox;
};

const Words kFixedWords{"--template", "keyed_fixed"};

TEST_F(Scalars, ReferencesGetAllBits) {
  const auto right = run("verify", kFixedWords);
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  for (const char* key : {"11400714819323198485", "0x9E3779B97F4A7C15"}) {
    const auto stated = run("verify", with(kFixedWords, {"--key", key}));
    EXPECT_EQ(stated.exit_code, 0) << key << stated.out << stated.err;
  }
  const Words others[] = {{"--key", "0x9e3779b97f4a7c14"},
                          {"--key", "11400714819323198486"},
                          {"--shift", "-9223372036854775807"}};
  for (const Words& other : others) {
    const auto wrong = run("verify", with(kFixedWords, other));
    EXPECT_EQ(wrong.exit_code, 1) << other[1] << wrong.out << wrong.err;
    EXPECT_THAT(wrong.out, HasSubstr("wrong_result")) << other[1];
  }
}

TEST_F(Scalars, KernelsGetTheBitsOfTheReference) {
  std::filesystem::remove(sandbox.folder() / "keyed_fixed.cu");
  const Words ends[] = {{"--key", "18446744073709551615", "--shift", "9223372036854775807"},
                        {"--key", "9007199254740993", "--shift", "-9007199254740993"}};
  for (const Words& end : ends) {
    for (const char* verb : {"tune", "verify", "run"}) {
      const auto right = run(verb, end);
      EXPECT_EQ(right.exit_code, 0) << verb << end[1] << right.out << right.err;
      EXPECT_THAT(right.out, HasSubstr("keyed_given")) << verb;
    }
  }
}

TEST_F(Scalars, SessionsJudgeByAllBits) {
  const auto tuned =
      run("tune", {"--compile-threads", "1", "--json", "--key", "0x9e3779b97f4a7c14"});
  EXPECT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  const auto result = nlohmann::json::parse(tuned.out)["results"].at(0);
  EXPECT_EQ(result["best"]["template"], "keyed_given") << result;
  EXPECT_EQ(result["outcomes"]["wrong_result"], 1) << result;
}

TEST_F(Scalars, ValuesOutsideOfTheTypeAreRefused) {
  const auto refusal = [&](const Words& more) {
    const auto refused = run("verify", more);
    EXPECT_EQ(refused.exit_code, 2) << refused.out;
    return refused.err;
  };
  EXPECT_THAT(refusal({"--key", "18446744073709551616"}),
              AllOf(HasSubstr("--key: 18446744073709551616 "), HasSubstr("0 to 2^64 - 1")));
  EXPECT_THAT(refusal({"--key", "-1"}), AllOf(HasSubstr("--key: -1 "), HasSubstr("0 to 2^64 - 1")));
  EXPECT_THAT(refusal({"--shift", "9223372036854775808"}),
              AllOf(HasSubstr("--shift: 9223372036854775808 "), HasSubstr("-2^63 to 2^63 - 1")));
  EXPECT_THAT(refusal({"--shift", "-9223372036854775809"}),
              AllOf(HasSubstr("--shift: -9223372036854775809 "), HasSubstr("-2^63 to 2^63 - 1")));
}

TEST_F(Scalars, DefaultsAreShownWithAllDigits) {
  const auto shown = sandbox.run({"operations", "keyed"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("u64 = 11400714819323198485"),
                               HasSubstr("s64 = -9.223372036854776e+18")));
  const auto json = nlohmann::json::parse(sandbox.run({"operations", "keyed", "--json"}).out);
  EXPECT_EQ(json["scalars"][0]["value"], std::uint64_t{0x9e3779b97f4a7c15});
}

}  // namespace
}  // namespace kiln::cli
