// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Code that does not match its front matter, as reported by NVRTC.
#include "templates/check/compile_diagnosis.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// What the compiler reports for any name that it cannot parse.
constexpr const char* kNameLog =
    "__nv_name_map(2): error: out-of-order initializers are nonstandard in C++\n";

/// The tiny template with one piece of its text replaced.
KernelTemplate tiny(const std::string& from = "", const std::string& to = "") {
  std::string text(test::kTinyTemplate);
  if (!from.empty()) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  }
  return KernelTemplate::parse("tiny.cu", text);
}

TEST(CompileDiagnosis, NamesTheKernelThatIsThere) {
  EXPECT_THAT(
      explain_compile_log(tiny("__global__ void tiny(", "__global__ void teeny("), kNameLog),
      AllOf(StartsWith("tiny.cu:21: the launch names the kernel \"tiny\""),
            HasSubstr("functions: teeny (line 28)")));
}

TEST(CompileDiagnosis, CountsTheParametersOfTheKernel) {
  EXPECT_THAT(
      explain_compile_log(tiny("class CIn, class D,", "class D,"), kNameLog),
      AllOf(
          StartsWith("tiny.cu:28: the kernel tiny has 5 template parameters, but Kiln "
                     "passes 6 template arguments: the config struct and the types of a b c d acc"),
          HasSubstr("template <TinyConfig C, class A, class B, class CIn, class D, class "
                    "Acc>")));
  // A default, or a pack, accepts anything.
  EXPECT_THAT(explain_compile_log(tiny("class Acc>", "class Acc, int kMore = 1>"), kNameLog),
              StartsWith("tiny.cu: a launch line names a kernel that the compiler does not find"));
}

TEST(CompileDiagnosis, PutsErrorsBeforeWarnings) {
  const std::string warning =
      "tiny.cu(13): warning #47-D: incompatible redefinition of macro \"n\"\n  #define n 1\n\n"
      "Remark: The warnings can be suppressed\n\n";
  const std::string error =
      "tiny.cu(14): error: identifier \"nothing\" is undefined\n  nothing\n\n";
  const std::string fatal = "tiny.cu(15): catastrophic error: #error directive: \"x\"\n";
  const std::string end = "2 errors detected in the compilation of \"tiny.cu\".\nnvrtc 13.0\n";
  EXPECT_EQ(explain_compile_log(tiny(), warning + error + fatal + end),
            error + fatal + warning + end);
  EXPECT_EQ(explain_compile_log(tiny(), error + end), error + end);
}

TEST(CompileDiagnosis, NamesTheHeaderToTakeInstead) {
  const auto log = [](std::string_view name) {
    return fmt::format("tiny.cu(9): catastrophic error: cannot open source file \"{}\"\n", name);
  };
  const auto kernel = tiny("#include \"helper.cuh\"", "#include <cuda/std/cstdio>");
  EXPECT_THAT(explain_compile_log(kernel, log("cuda/std/cstdio")),
              AllOf(StartsWith("tiny.cu:9: kernels cannot include <cuda/std/cstdio>"),
                    HasSubstr("Next: include <cstdio>, a header that Kiln supplies"),
                    EndsWith(log("cuda/std/cstdio"))));
  EXPECT_THAT(explain_compile_log(kernel, log("cuda/std/vector")), HasSubstr("no such header"));
  EXPECT_THAT(explain_compile_log(kernel, log("cub/gone.cuh")), HasSubstr("--cuda-include"));
}

TEST(CompileDiagnosis, OffersNoHeaderThatCudaDoesNotHave) {
  const std::string log =
      "tiny.cu(9): catastrophic error: cannot open source file \"cutlass/array.h\"\n";
  EXPECT_THAT(
      explain_compile_log(tiny("#include \"helper.cuh\"", "#include <cutlass/array.h>"), log),
      AllOf(StartsWith("tiny.cu:9: "), HasSubstr("<cutlass/array.h>"), HasSubstr("--include DIR"),
            ::testing::Not(HasSubstr("cuda/std"))));
}

TEST(CompileDiagnosis, AMisspeltTunableIsNamed) {
  const std::string log = "tiny.cu(31): error: class \"TinyConfig\" has no member \"tile_mm\"\n";
  EXPECT_THAT(
      explain_compile_log(tiny(), log),
      AllOf(StartsWith(
                "tiny.cu:31: \"tile_mm\" is not defined. Next: if you mean the tunable \"tile_m\""),
            EndsWith(log)));
  const std::string unknown = "tiny.cu(31): error: identifier \"elsewhere\" is undefined\n";
  EXPECT_EQ(explain_compile_log(tiny(), unknown), unknown);
}

TEST(CompileDiagnosis, TheHeaderThatDeclaresACommonNameIsNamed) {
  for (const auto& [name, header] :
       std::vector<std::pair<std::string, std::string>>{{"INFINITY", "<cmath>"},
                                                        {"M_PI", "<cmath>"},
                                                        {"FLT_MAX", "<cfloat>"},
                                                        {"uint32_t", "<cstdint>"},
                                                        {"INT_MAX", "<climits>"},
                                                        {"__half", "<cuda_fp16.h>"}}) {
    const std::string log = "tiny.cu(31): error: identifier \"" + name + "\" is undefined\n";
    EXPECT_THAT(explain_compile_log(tiny(), log),
                AllOf(StartsWith("tiny.cu:31: \"" + name + "\""), HasSubstr("#include " + header),
                      EndsWith(log)));
  }
}

TEST(CompileDiagnosis, NamesThatOnlyLookLikeTheOnesOfAHeaderAreTheUsers) {
  for (const std::string name : {"M_TILE", "INT_TILE", "FLT_SCALE", "NANS"}) {
    const std::string log = "tiny.cu(31): error: identifier \"" + name + "\" is undefined\n";
    EXPECT_THAT(explain_compile_log(tiny(), log), ::testing::Not(HasSubstr("#include")));
  }
}

TEST(CompileDiagnosis, ErrorsOfTheTextComeBeforeThoseOfTheName) {
  const std::string error = "tiny.cu(9): error: expected a declaration\n";
  EXPECT_EQ(explain_compile_log(tiny(), error + kNameLog), error + kNameLog);
}

TEST(CompileDiagnosis, LeavesOtherErrorsAsTheyAre) {
  const std::string log = "tiny.cu(31): error: expected a \";\"\n";
  EXPECT_EQ(explain_compile_log(tiny(), log), log);
}

TEST(CompileDiagnosis, KernelsTakeTheirArgumentsByValue) {
  const std::string head = "_Z4tinyITnDaXtl10TinyConfigLi1EEE6__halffEv";
  for (const char* fine : {"N4kiln8GemmArgsE", "NS_8GemmArgsE", "NS1_8GemmArgsE"}) {
    EXPECT_EQ(why_wrong_parameters(tiny(), {head + fine}), "") << fine;
  }
  for (const char* wrong : {"RKN4kiln8GemmArgsE", "PKN4kiln8GemmArgsE", "ON4kiln8GemmArgsE",
                            "RKNS1_8GemmArgsE", "N4kiln8GemmArgsEi", "iN4kiln8GemmArgsE"}) {
    EXPECT_THAT(why_wrong_parameters(tiny(), {head + wrong}),
                AllOf(StartsWith("tiny.cu:28: the kernel tiny has the wrong parameters: Kiln "
                                 "passes one kiln::GemmArgs by value"),
                      HasSubstr("Next: write tiny(const kiln::GemmArgs args).")))
        << wrong;
  }
  // After it the struct at launch, exactly if the template has one.
  const auto with_launch = tiny("//@ require    threads",
                                "struct TinyLaunch {  //@ at launch\n};\n//@ require    threads");
  EXPECT_EQ(why_wrong_parameters(with_launch, {head + "N4kiln8GemmArgsE10TinyLaunch"}), "");
  EXPECT_NE(why_wrong_parameters(tiny(), {head + "N4kiln8GemmArgsE10TinyLaunch"}), "");
  EXPECT_THAT(why_wrong_parameters(with_launch, {head + "N4kiln8GemmArgsE"}),
              HasSubstr("tiny(const kiln::GemmArgs args, const TinyLaunch launch)."));
  // And then the tensor maps of its launch.
  const auto with_maps = tiny(
      "//@ workspace", "//@   map a: k, m; box 8, 8\n//@   map b: n, k; box 8, 8\n//@ workspace");
  EXPECT_EQ(why_wrong_parameters(with_maps, {head + "N4kiln8GemmArgsENS1_9TensorMapES3_"}), "");
  for (const char* wrong :
       {"N4kiln8GemmArgsE", "N4kiln8GemmArgsENS1_9TensorMapE",
        "N4kiln8GemmArgsERKNS1_9TensorMapES5_", "N4kiln8GemmArgsENS1_9TensorMapES3_S3_"}) {
    EXPECT_THAT(why_wrong_parameters(with_maps, {head + wrong}),
                AllOf(HasSubstr("one kiln::GemmArgs and then 2 kiln::TensorMap by value"),
                      HasSubstr("tiny(const kiln::GemmArgs args, const __grid_constant__ "
                                "kiln::TensorMap a, const __grid_constant__ kiln::TensorMap b).")))
        << wrong;
  }
  // Compilers of tests do not mangle.
  EXPECT_EQ(why_wrong_parameters(tiny(), {"tiny<TinyConfig{}>"}), "");
}

}  // namespace
}  // namespace kiln
