// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Files of a template path with a mistake in them: the mistake is what is said, and what is sound
// beside them works.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/sandbox.hpp"
#include "tests/cli/user_template.hpp"

namespace kiln::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kAddOne = R"(//@ operation  add_one
//@ purpose    Every number and one more
//@ size       n 1..1000
//@ type       x f32
//@ operand    x inout: n
//@ right      x exact
//@ ragged     n=1
//@ flops      n
//@ reference  add_one_reference
//@   grid     1
//@   block    32
__global__ void add_one_reference(float* x, int n) {
  for (int i = threadIdx.x; i < n; i += 32) x[i] += 1;
}
)";

constexpr const char* kAddPlainly = R"(//@ template   add_plainly
//@ purpose    A kernel as it is.
//@ operation  add_one
//@ tune       threads = 64* 128
//@ launch     add_plainly
//@   grid     ceil_div(n, threads)
//@   block    threads
__global__ void add_plainly(float* x, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i < n) x[i] += 1;
}
)";

class BrokenFiles : public ::testing::Test {
 protected:
  BrokenFiles() {
    std::filesystem::create_directory(sandbox_.folder() / "own");
    sandbox_.set("KILN_TEMPLATE_PATH", "own");
    sandbox_.write("own/add_one.cu", kAddOne);
    sandbox_.write("own/add_plainly.cu", kAddPlainly);
  }
  void misspell_block() {
    sandbox_.write("own/add_plainly.cu",
                   replaced(kAddPlainly, "block    threads", "block    treads"));
  }
  Sandbox sandbox_;
};

// --n is a flag of gemm as well, so nothing but the operation's name tells whose it is.
TEST_F(BrokenFiles, TheirOwnMistakeComesBeforeTheCommandLines) {
  misspell_block();
  for (const Words& words : {Words{"tune", "add_one", "--n", "100"}, Words{"tune", "add_one"},
                             Words{"verify", "add_one", "--n", "100", "--device", "emulated:h200"},
                             Words{"render", "add_plainly", "--arch", "sm_90a"}}) {
    const auto run = sandbox_.run(words);
    EXPECT_EQ(run.exit_code, 1) << run.err;
    EXPECT_THAT(run.err, AllOf(StartsWith("kiln: own/add_plainly.cu:7:"), HasSubstr("treads"),
                               Not(HasSubstr("--m"))));
  }
}

TEST_F(BrokenFiles, OneOfAnOperationIsToldForItsProblems) {
  sandbox_.write("own/add_one.cu", replaced(kAddOne, "x exact", "x exactly"));
  const auto run = sandbox_.run({"tune", "add_one", "--n", "100"});
  EXPECT_THAT(run.err, StartsWith("kiln: own/add_one.cu:6:"));
  sandbox_.write("own/add_one.cu", replaced(kAddOne, "//@ operation ", "//@ operaton "));
  EXPECT_THAT(sandbox_.run({"tune", "add_one", "--n", "100"}).err,
              AllOf(StartsWith("kiln: own/add_one.cu:1:"), HasSubstr("\"operation\"?")));
}

TEST_F(BrokenFiles, OneInUtf16IsToldForItsProblems) {
  std::string wide = "\xFF\xFE";
  for (const char c : std::string_view(kAddPlainly)) wide += std::string{c, '\0'};
  sandbox_.write("own/add_plainly.cu", wide);
  const auto run = sandbox_.run({"tune", "add_one", "--n", "100", "--device", "emulated:h200"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, AllOf(StartsWith("kiln: own/add_plainly.cu:1:1: "), HasSubstr("UTF-16")));
}

TEST_F(BrokenFiles, AnOperationWithoutAKernelSaysWhatItsFileLacks) {
  sandbox_.write("own/add_plainly.cu",
                 replaced(kAddPlainly, "operation  add_one", "operation  add_on"));
  const auto run = sandbox_.run({"tune", "add_one", "--n", "100", "--device", "emulated:h200"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("\"add_one\"?"));
  EXPECT_THAT(run.out, HasSubstr("no template computes this:\n  the template path has no template "
                                 "with the line \"//@ operation add_one\". Next: `kiln templates"));
}

TEST_F(BrokenFiles, OneIsNamedAndHidesNoOther) {
  sandbox_.write("own/wrong.cu",
                 replaced(replaced(kAddPlainly, "template   add_plainly", "template   wrong"),
                          "block    threads", "block    treads"));
  const auto render = sandbox_.run({"render", "add_plainly", "--n", "100", "--arch", "sm_90a"});
  EXPECT_EQ(render.exit_code, 0) << render.err;
  EXPECT_THAT(render.err, HasSubstr("warning: left out: own/wrong.cu:7:"));
  EXPECT_THAT(sandbox_.run({"render", "wrong", "--arch", "sm_90a"}).err,
              StartsWith("kiln: own/wrong.cu:7:"));
  EXPECT_THAT(sandbox_.run({"operations"}).out, HasSubstr("add_one"));
  const auto doctor = sandbox_.run({"doctor"});
  EXPECT_THAT(doctor.out, HasSubstr("1 file left out: own/wrong.cu:7:"));
}

}  // namespace
}  // namespace kiln::cli
