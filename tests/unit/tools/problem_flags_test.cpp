// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/problem_flags.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "kiln/error.hpp"
#include "templates/operation/problem.hpp"
#include "tools/gemm/flags.hpp"
#include "tools/output/how_to_use.hpp"

namespace kiln::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Parses a command line and asks for the problem, or returns the error's text.
GemmCase parse_gemm(const std::string& line, std::int64_t default_size = 0) {
  CLI::App app;
  ProblemFlags flags;
  flags.add_to(app, *find_operation("gemm"), ProblemFlags::Word::required);
  app.parse(line);
  return gemm_case_of(flags.request(default_size));
}

std::string error_of_flags(const std::string& line) {
  try {
    (void)parse_gemm(line);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  } catch (const CLI::ValidationError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ProblemFlags, ShortFormIsTheShortFormOfTheLibrary) {
  const auto request = parse_gemm("gemm --m 64 --n 32 --k 16 --dtype e4m3 --layout nt");
  EXPECT_EQ(request.gemm, normalised(Gemm::of(DType::e4m3, 64, 32, 16, Storage::n, Storage::t)));
}

TEST(ProblemFlags, TypesOfOperandsOverrideTheShortForm) {
  const auto gemm = parse_gemm("gemm --m 8 --n 8 --k 8 --dtype bf16 --d f32 --beta 0.5").gemm;
  EXPECT_EQ(gemm.a, DType::bf16);
  EXPECT_EQ(gemm.d, DType::f32);
  EXPECT_EQ(gemm.c, DType::f32);
  EXPECT_TRUE(gemm.reads_c);
  EXPECT_EQ(parse_gemm("gemm --m 8 --n 8 --k 8 --d f32 --c f16 --beta -1").gemm.c, DType::f16);
}

TEST(ProblemFlags, ErrorsNameTheFlag) {
  EXPECT_THAT(error_of_flags("gemm --n 8 --k 8"), StartsWith("--m "));
  EXPECT_EQ(error_of_flags("gemm --n 8"), "--m, --k are missing");
  EXPECT_EQ(error_of_flags("gemm"), "--m, --n, --k are missing");
  for (const std::string number : {"-3", "2147483648", "99999999999999999999", "8.0", "0x8"}) {
    EXPECT_EQ(error_of_flags("gemm --m 8 --n 8 --k " + number),
              "--k: " + number + " is not a whole number from 0 to 2147483647");
  }
  EXPECT_EQ(error_of_flags("gemm --m 8 --n 8 --k 8 --lda 99999999999999999999").find("--lda: 9999"),
            0u);
  EXPECT_EQ(error_of_flags("gemm --m 8 --n 8 --k 8 --dtype f17").find("--dtype f17: "), 0u);
  EXPECT_EQ(error_of_flags("gemm --m 8 --n 8 --k 8 --acc int").find("--acc int: "), 0u);
  EXPECT_EQ(error_of_flags("gemm --m 8 --n 8 --k 8 --layout rc").find("--layout rc: "), 0u);
  EXPECT_EQ(error_of_flags("gemm --m 8 --n 8 --k 8 --lda 4").find("--lda = 4 "), 0u);
  EXPECT_EQ(error_of_flags("gemm --m 8 --n 8 --k 8 --align-b 3").find("--align-b = 3 "), 0u);
}

TEST(ProblemFlags, SizesMayHaveADefault) {
  EXPECT_EQ(parse_gemm("gemm --k 8", 512).gemm.m, 512);
  EXPECT_EQ(parse_gemm("gemm --k 8", 512).gemm.k, 8);
  EXPECT_EQ(parse_gemm("gemm --k 0", 512).gemm.k, 0);
}

TEST(ProblemFlags, SizesMayBeZero) {
  const auto request = parse_gemm("gemm --m 8 --n 8 --k 0 --beta 2");
  EXPECT_EQ(request.gemm.k, 0);
  EXPECT_EQ(gemm_flags_text(request), "--m 8 --n 8 --k 0 --dtype f16 --beta 2");
}

/// The text of flags and the flags of a text are inverse.
TEST(FlagsText, GivesTheProblemBack) {
  for (const char* line :
       {"--m 64 --n 32 --k 16 --dtype f16", "--m 64 --n 32 --k 16 --dtype s8 --layout tt",
        "--m 64 --n 33 --k 17 --a bf16 --b bf16 --d f32 --acc f32 --layout nt",
        "--m 64 --n 32 --k 16 --a f16 --b f16 --d f16 --acc f32 --c f32 --lda 24 --beta 2",
        "--m 5 --n 6 --k 7 --dtype f64 --ldd 9 --align-a 8 --alpha 0.5"}) {
    const auto request = parse_gemm(std::string("gemm ") + line);
    const auto text = gemm_flags_text(request);
    const auto again = parse_gemm("gemm " + text);
    EXPECT_EQ(again.gemm, request.gemm) << text;
    EXPECT_EQ(again.alpha, request.alpha) << text;
    EXPECT_EQ(again.beta, request.beta) << text;
  }
}

TEST(FlagsText, IsAsShortAsCanBe) {
  EXPECT_EQ(
      gemm_flags_text(parse_gemm("gemm --m 64 --n 32 --k 16 --dtype bf16 --layout nn --lda 16")),
      "--m 64 --n 32 --k 16 --dtype bf16");
}

TEST(CaseOf, HasTheStoredProblem) {
  for (const char* line :
       {"--m 64 --n 32 --k 16 --dtype f16", "--m 63 --n 31 --k 15 --dtype f16 --layout tn",
        "--m 63 --n 31 --k 15 --dtype bf16 --lda 16 --ldd 40",
        "--m 64 --n 64 --k 64 --dtype f16 --align-a 4 --align-d 2",
        "--m 64 --n 64 --k 64 --dtype f32 --beta 1 --align-c 8 --ldc 65",
        "--m 7 --n 7 --k 7 --dtype s8 --layout nt --ldb 12"}) {
    const auto problem = to_problem(parse_gemm(std::string("gemm ") + line).gemm);
    EXPECT_EQ(case_of(problem).problem.canonical(), problem.canonical()) << line;
  }
}

TEST(NextSteps, FindWhatTheRunFound) {
  const auto request = parse_gemm("gemm --m 64 --n 32 --k 16");
  Context context;
  context.flags.database = "my results.db";
  context.flags.template_path = "mine:theirs";
  context.flags.device = "emulated:h200";
  const auto text = next_steps(problem_case(request), context);
  const std::string flags =
      " gemm --m 64 --n 32 --k 16 --dtype f16 --db 'my results.db' --device emulated:h200 "
      "--template-path mine:theirs\n";
  for (const char* verb : {"show", "verify", "inspect", "run"}) {
    EXPECT_THAT(text, HasSubstr(std::string("  kiln ") + verb + flags));
  }
  EXPECT_THAT(text, HasSubstr("open({.database = \"my results.db\", .template_path = {\"mine\", "
                              "\"theirs\"}, .device = \"emulated:h200\"})"));
}

TEST(CppSnippet, SetsWhatTheShortFormDoesNot) {
  EXPECT_EQ(
      cpp_snippet(problem_case(parse_gemm("gemm --m 64 --n 32 --k 16 --dtype f16 --layout nt"))),
      "auto library = kiln::Library::open();\n"
      "auto problem = kiln::Gemm::of(kiln::DType::f16, 64, 32, 16, kiln::Storage::n, "
      "kiln::Storage::t);\n"
      "library.get(problem).launch(stream, {.a = a, .b = b, .d = d});\n");
  const auto padded = cpp_snippet(
      problem_case(parse_gemm("gemm --m 64 --n 32 --k 16 --dtype bf16 --d f32 --lda 24 --beta 1")));
  EXPECT_NE(padded.find("problem.d = kiln::DType::f32;\n"), std::string::npos);
  EXPECT_NE(padded.find("problem.lda = 24;\n"), std::string::npos);
  EXPECT_NE(padded.find("problem.reads_c = true;\n"), std::string::npos);
}

}  // namespace
}  // namespace kiln::tools
