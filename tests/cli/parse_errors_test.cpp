// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the program says of command lines that it cannot read: the place, the reason, the next step.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct WrongLine {
  Words words;
  std::string says;       ///< behind "kiln: "
  std::string also = {};  ///< anywhere
};

const Words kSizes{"--m", "8", "--n", "8", "--k", "8"};

const std::vector<WrongLine> kWrongLines{
    {{"tune", "gemm", "--m", "8", "--m", "9"},
     "--m is given 2 times, with the values 8 and 9; give it only once"},
    {{"tune", "gemm", "--m", "8", "--k"}, "--k: ", "write --k N"},
    {{"tune", "gemm", "--device"}, "--device: the value is missing; write --device DEVICE, e.g. "},
    {{"export", "gemm", "--on"}, "--on: ", "write --on TEXT"},
    {with({"tune", "gemm", "--alpha", "x"}, kSizes), "--alpha x: not a number; write it as"},
    {{"tune", "gemm", "64", "65", "66"}, "64: write sizes as flags: --m 64 --n 65 --k 66"},
    {{"tune", "gemm", "64x65x66"}, "64x65x66: ", "--m 64 --n 65 --k 66"},
    {with({"gemm", "tune"}, kSizes),
     "gemm: write the operation only once, directly after the verb: kiln tune gemm ..."},
    {{"gemm"}, "gemm: this is an operation; write the verb first: kiln tune gemm"},
    {{"tun", "gemm"}, "tun: no such verb", "\"tune\"?"},
    {{"benchmark", "gemm"}, "benchmark: ", "\"bench\"?"},
    {{"tune", "gem"}, "operation: gem ", "\"gemm\"?"},
    {with({"tune", "gemm", "--dtype", "float16"}, kSizes),
     "--dtype: float16 is unknown; choose from f16, ", "\"f16\"?"},
    {with({"bench", "gemm", "--against", "cublas"}, kSizes),
     "--against: cublas is unknown; the only choice is cublaslt; did you mean \"cublaslt\"?"},
    {with({"render", "gemm_naive", "--arch", "sm_91"}, kSizes),
     "--arch sm_91: unknown; choose from"},
    {{"operations", "--flags"}, "--flags also needs name"},
    {{"operations", "gemm", "--flags", "--names"},
     "--names and --flags cannot be combined: leave one of them out"},
    {with({"verify", "gemm", "--all", "--sample", "3"}, kSizes), "--all and --sample "},
    {{"merge"}, "target ", "write kiln merge"},
    {{"import"}, "file is missing: write kiln import FILE"},
    {{"tune", "gemm", "--max", "8"}, "--max: not expected here", "\"--max-candidates\"?"},
    {{"tune", "gemm", "--m", "2000000000", "--n", "2000000000", "--k", "2000000000"},
     "gemm 2000000000 x 2000000000 x 2000000000 f16 nn: the operands take 21316 PiB, more memory "
     "than any GPU has; give smaller values for --m, --n, --k"},
    {with({"tune", "gemm", "--dtype", "complex128"}, kSizes), "--dtype: complex128 ", "\"cf64\"?"},
};

TEST(ParseErrors, SayPlaceReasonAndNextStep) {
  const Sandbox sandbox;
  for (const auto& [words, says, also] : kWrongLines) {
    const auto run = sandbox.run(words);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_THAT(run.err, AllOf(StartsWith("kiln: " + says), HasSubstr(also)));
    EXPECT_EQ(run.out, "");
  }
}

// The parser has words of its own, which nothing of what a person may mistype should bring up.
TEST(ParseErrors, AreInNoOtherWords) {
  const Sandbox sandbox;
  const auto expect_own_words = [&](const Words& words) {
    const std::string text = sandbox.run(words).err;
    for (const char* foreign : {"required", "Could not convert", "At Most", "At Least", "Expected",
                                "subcommand", "argument", "excludes", "disallowed"}) {
      EXPECT_THAT(text, Not(HasSubstr(foreign))) << fmt::format("{}", fmt::join(words, " "));
    }
  };
  const auto names = sandbox.run({"operations", "gemm", "--flags"});
  ASSERT_THAT(names.out, HasSubstr("--m\t"));
  for (const std::string verb :
       {"tune", "bench", "run", "templates", "operations", "adopt", "render", "verify", "inspect",
        "list", "show", "export", "import", "merge", "prune", "doctor", "devices"}) {
    expect_own_words({verb, "--db"});
    expect_own_words({verb, "--db", "a", "--db", "b"});
    expect_own_words({verb, "surplus", "words", "12", "13"});
  }
}

}  // namespace
}  // namespace kiln::cli
