// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Options of the compiler that a template states, from its lines to the kernel that is exported.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/sandbox.hpp"
#include "tests/cli/user_template.hpp"

namespace kiln::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kQuotients = R"(//@ operation  quotients
//@ purpose    1 / (1 + x * x) of each number
//@ size       count 1..65536
//@ type       x f32
//@ type       y f32
//@ operand    x in: count
//@ operand    y out: count
//@ right      y within 1e-5 1e-6
//@ ragged     count=5
//@ flops      count
//@ reference  quotients_reference
//@   grid     1
//@   block    32
//@   args     x.f64, y.f64, count

__global__ void quotients_reference(const double* x, double* y, int count) {
  for (int i = threadIdx.x; i < count; i += 32) y[i] = 1.0 / (1.0 + x[i] * x[i]);
}
)";

const std::string kDivides = R"(//@ template   divides
//@ purpose    A division with tuned options
//@ operation  quotients
//@ tune       fast = false* true
//@ tune       regs = 0* 32
//@ tune       by = cubin* ptx
//@ compile    --prec-div=true
//@ compile    --use_fast_math --prec-div=false when fast
//@ compile    --maxrregcount=regs when regs > 0
//@ compile    route=by
//@ launch     divides
//@   grid     ceil_div(count, 64)
//@   block    64
//@   args     x, y, count

__global__ void divides(const float* x, float* y, int count) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < count) y[i] = 1.0f / (1.0f + x[i] * x[i]);
}
)";

const Words kOnEmulated{"--template-path", ".", "--device", "emulated:h100"};
const Words kOfQuotients{"quotients", "--count", "100"};
const Words kFast{"--template", "divides", "--set", "fast=true,regs=32,by=ptx"};
const std::string kFastOptions = "--use_fast_math --prec-div=false --maxrregcount=32";

class CompilerOptions : public ::testing::Test {
 protected:
  CompilerOptions() {
    sandbox_.write("quotients.cu", kQuotients);
    sandbox_.write("divides.cu", kDivides);
  }
  [[nodiscard]] cli::Run run(const Words& verb, const Words& more) const {
    return sandbox_.run(with(with(with(verb, kOfQuotients), kOnEmulated), more));
  }
  const Sandbox sandbox_;
};

TEST_F(CompilerOptions, AreVerifiedAndInspected) {
  const auto verified = run({"verify"}, kFast);
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  const auto inspected = run({"inspect"}, with(kFast, {"--source"}));
  ASSERT_EQ(inspected.exit_code, 0) << inspected.err;
  EXPECT_THAT(inspected.out, HasSubstr(kFastOptions + " route=ptx"));
  const auto plain = run({"inspect"}, {"--template", "divides", "--json"});
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  const auto compile = nlohmann::json::parse(plain.out)["compile"];
  EXPECT_EQ(compile["options"], nlohmann::json::array({"--prec-div=true"}));
  EXPECT_EQ(compile["route"], "cubin");
}

TEST_F(CompilerOptions, StandInWhatIsRenderedAndExported) {
  const auto rendered = sandbox_.run(
      with({"render", "divides"}, {"--template-path", ".", "--set", "fast=true,regs=32,by=ptx"}));
  ASSERT_EQ(rendered.exit_code, 0) << rendered.err;
  EXPECT_THAT(rendered.out, HasSubstr("// compile  " + kFastOptions + " route=ptx\n"));
  const auto exported = run({"export"}, with(kFast, {"--arch", "sm_90a", "--cubin", "code.ptx"}));
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.out, HasSubstr("code=compute_90a " + kFastOptions + " -c divides.cu"));
  EXPECT_THAT(exported.err, HasSubstr("has the PTX, which the driver compiles"));
  const std::string ptx = sandbox_.read("code.ptx");
  EXPECT_THAT(ptx, AllOf(HasSubstr(".target sm_90a"), HasSubstr(".maxnreg 32"),
                         HasSubstr("rcp.approx.ftz.f32")));
  EXPECT_EQ(ptx.find('\0'), std::string::npos);
  const auto machine_code = run({"export"}, {"--template", "divides", "--arch", "sm_90a", "--cubin",
                                             "code.cubin", "-o", "divides_exported.txt"});
  ASSERT_EQ(machine_code.exit_code, 0) << machine_code.err;
  EXPECT_THAT(sandbox_.read("code.cubin"), StartsWith("\x7f"
                                                      "ELF"));
}

TEST_F(CompilerOptions, AreTunedAndRunAsTheyWereTuned) {
  const auto tuned = run({"tune"}, {"--set", "fast=true,regs=32", "--json"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  const auto config = nlohmann::json::parse(tuned.out)["results"][0]["best"]["config"];
  EXPECT_EQ(config["fast"], true);
  const auto applied = run({"run"}, {});
  EXPECT_EQ(applied.exit_code, 0) << applied.out << applied.err;
  EXPECT_THAT(applied.out, HasSubstr("fast=true"));
  const auto described = sandbox_.run({"templates", "divides", "--template-path", "."});
  EXPECT_THAT(described.out, HasSubstr("--maxrregcount=regs when regs > 0"));
}

TEST_F(CompilerOptions, ThatAreNotAllowedAreNamedWithTheirPlace) {
  sandbox_.write("divides.cu", replaced(kDivides, "--prec-div=true\n", "-lineinfo\n"));
  const auto run_of = run({"verify"}, {"--template", "divides"});
  EXPECT_NE(run_of.exit_code, 0);
  EXPECT_THAT(run_of.err, AllOf(HasSubstr("divides.cu:7:16: "), HasSubstr("-lineinfo"),
                                HasSubstr("Next: remove this option")));
}

TEST_F(CompilerOptions, SettingsAreForTemplatesWithoutCompileLines) {
  const Words setting{"--template", "divides", "--set", "compile.max_registers=32"};
  EXPECT_THAT(run({"verify"}, setting).err, HasSubstr("compile.max_registers"));
  std::string plain = kDivides;
  for (const char* line : {"//@ compile    --prec-div=true\n", "//@ compile    route=by\n",
                           "//@ compile    --use_fast_math --prec-div=false when fast\n",
                           "//@ compile    --maxrregcount=regs when regs > 0\n"}) {
    plain = replaced(plain, line, "");
  }
  sandbox_.write("divides.cu", plain);
  const auto verified = run({"verify"}, setting);
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  EXPECT_THAT(run({"inspect"}, setting).out,
              AllOf(HasSubstr("regs=0 compile.max_registers=32"), HasSubstr("--maxrregcount=32")));
  EXPECT_THAT(run({"verify"}, {"--template", "divides", "--set", "compile.route=sass"}).err,
              HasSubstr("compile.route cannot be sass"));
}

}  // namespace
}  // namespace kiln::cli
