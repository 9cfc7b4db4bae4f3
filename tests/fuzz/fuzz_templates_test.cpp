// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Whatever the text, a parser answers or throws an Error(template_) that points into the text.

#include <gtest/gtest.h>

#include <string>

#include "kiln/error.hpp"
#include "templates/catalog.hpp"
#include "templates/kernel_template.hpp"
#include "templates/launch/launch_planner.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/operation/operation.hpp"
#include "templates/render/header_inliner.hpp"
#include "tests/fuzz/mutator.hpp"
#include "tests/unit/templates/softmax_operation.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using test::Mutator;

TEST(FuzzExpression, AnswersOrPointsAtTheFault) {
  NameTable names;
  for (const auto* name : {"tile_m", "tile_n", "m", "device.sm", "type.f16"}) names.intern(name);
  Mutator mutator(
      {"ceil_div(m, tile_m) * ceil_div(m, tile_n)",
       "tile_m % tile_n == 0 && (tile_m >= 16 || device.sm >= 80)",
       "min(tile_m, max(1, tile_n / 2), log2(m)) ? abs(-3) : 0x7f % gcd(m, 12)",
       "!is_pow2(tile_m) != (round_up(m, tile_m) <= 9223372036854775807)", "((((1))))", "- - -1"},
      {"(",    ")",      ",",       "?",    ":",   "&&", "||",
       "!",    "-",      "%",       "/",    " 0 ", "0x", "min(",
       "gcd(", "tile_m", "device.", "true", "==",  "<",  "9223372036854775807",
       "((((("},
      1);
  const std::vector<std::int64_t> values{128, 0, 4096, 90, -1};
  int parsed = 0;
  constexpr int kRounds = 100000;
  for (int i = 0; i < kRounds; ++i) {
    const std::string text = mutator.next();
    try {
      const auto expression = Expression::parse(text, names, {"fuzz", 1, 1});
      ++parsed;
      for (const int slot : expression.names_used()) ASSERT_LT(slot, names.size());
      // Its own text means the same.
      const auto again = Expression::parse(expression.text(), names, {"fuzz", 1, 1});
      ASSERT_EQ(expression.evaluate(values), again.evaluate(values)) << text;
    } catch (const Error& error) {
      test::expect_place_in(error, ErrorKind::template_, "fuzz", text);
    }
    if (HasFatalFailure()) FAIL() << "input: " << text;
  }
  EXPECT_GT(parsed, kRounds / 100);
  EXPECT_LT(parsed, kRounds * 9 / 10);
}

const std::vector<std::string> kFrontMatterWords{"//@ ",       "\n//@ ",
                                                 "\n",         "tune ",
                                                 "let ",       "require ",
                                                 "types ",     "prefer ",
                                                 "priority ",  "config",
                                                 "at launch",  "struct X {  //@ at launch\n",
                                                 "};\n",       "int x;  //@ ",
                                                 "  //@ ",     "(",
                                                 ")",          " + ",
                                                 " ? ",        " : ",
                                                 "launch ",    "grid ",
                                                 "smem ",      "cluster ",
                                                 " = ",        "*",
                                                 "|",          ",",
                                                 "//",         "::",
                                                 "a=",         "f16",
                                                 "tile_m",     "tile_n",
                                                 "m",          "64",
                                                 "a_type",     "type.bf16",
                                                 "2147483648", "\r",
                                                 "\t"};

TEST(FuzzFrontMatter, AnswersOrPointsAtTheFault) {
  Mutator mutator({std::string(test::kTinyTemplate)}, kFrontMatterWords, 2);
  const auto problem = to_problem(Gemm::of(DType::f16, 100, 70, 64));
  const auto limits = limits_of_arch("90a").value();
  int parsed = 0;
  constexpr int kRounds = 4000;
  for (int i = 0; i < kRounds; ++i) {
    const std::string text = mutator.next();
    try {
      const auto made = KernelTemplate::parse("fuzz.cu", text);
      ++parsed;
      if (made.why_unsupported(problem, limits)) continue;
      const auto config = made.space(problem, limits).default_config();
      // Values out of range are found here, and reported with the launch's line.
      if (config) (void)LaunchPlanner(made, problem, limits).geometry(*config);
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::template_) << error.what() << "\ninput: " << text;
      ASSERT_EQ(std::string(error.what()).rfind("fuzz.cu:", 0), 0U) << error.what();
    }
  }
  EXPECT_GT(parsed, kRounds / 10);
  EXPECT_LT(parsed, kRounds * 9 / 10);
}

TEST(FuzzFrontMatter, PlacesLieInTheText) {
  std::vector<std::string> corpus;
  for (const auto& each : Catalog::builtin().templates()) {
    // The code below the front matter would only dilute the mutations.
    const auto& source = each.source();
    corpus.push_back(source.substr(0, source.find("\n\n", source.find("//@ launch"))));
  }
  Mutator mutator(corpus, kFrontMatterWords, 3);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = mutator.next();
    try {
      (void)KernelTemplate::parse("fuzz.cu", text);
    } catch (const Error& error) {
      test::expect_place_in(error, ErrorKind::template_, "fuzz.cu", text);
    }
    if (HasFatalFailure()) FAIL() << "input: " << text;
  }
}

TEST(FuzzOperation, AnswersOrPointsAtTheFault) {
  Mutator mutator(
      {std::string(test::kSoftmaxOperation)},
      {"//@ ",       "\n//@ ",     "\n",       "let ",      "scalar ",     "right ",  "ragged ",
       "operand ",   "reference ", "fill ",    "sorted ",   "integers ",   "when ",   "args ",
       "grid ",      "bound ",     " of ",     "within ",   "exact",       "rows",    "cols=",
       "halves",     "x",          "y",        ".f64",      "m.",          "{",       "}",
       "(",          ")",          "(float) ", ",",         ";",           ":",       " = ",
       "<",          ">",          "f32",      "s4",        "1e-5",        "1e999",   "-1",
       "2147483648", "//",         "\r",       "workspace", "magnitude",   "? 1 : 0", "checker ",
       "ld ",        "align ",     "wrong",    ".before",   "independent "},
      5);
  const auto problem = test::softmax_problem(7, 33);
  int parsed = 0;
  constexpr int kRounds = 10000;
  for (int i = 0; i < kRounds; ++i) {
    const std::string text = mutator.next();
    try {
      const auto operation = Operation::parse("fuzz.cu", text);
      ++parsed;
      (void)operation.flops(problem);
      (void)operation.bytes(problem);
      try {
        operation.check(problem);
        ASSERT_EQ(operation.whole_values(problem).size(),
                  static_cast<std::size_t>(operation.names().size()));
      } catch (const Error& error) {
        ASSERT_EQ(error.kind(), ErrorKind::usage) << error.what() << "\ninput: " << text;
      }
    } catch (const Error& error) {
      test::expect_place_in(error, ErrorKind::template_, "fuzz.cu", text);
    }
    if (HasFatalFailure()) FAIL() << "input: " << text;
  }
  EXPECT_GT(parsed, kRounds / 50);
  EXPECT_LT(parsed, kRounds * 9 / 10);
}

TEST(FuzzArgumentList, AnswersOrPointsAtTheFault) {
  const auto operation = Operation::parse("fuzz.cu", test::kSoftmaxOperation);
  Mutator mutator(
      {"x.f64, {y.f64, y.magnitude}, i, m, rows, (long long) cols, scale, skipped",
       "x, y, workspace + 4 * rows, {rows, {scale, (double) (cols + 1)}}",
       "x, {y, m.before}, wrong, first_wrong, cols"},
      {"(", ")", "{",    "}",     ",",         " + ",  "workspace", "(float) ", "(flot) ", ".f64",
       ".", "x", "rows", "scale", "{{{{{{{{{", "true", "? 1 :",     "-",        "min(",    "4.5"},
      6);
  int parsed = 0;
  constexpr int kRounds = 20000;
  for (int i = 0; i < kRounds; ++i) {
    const std::string text = "//@ args " + mutator.next();
    try {
      const auto lines = read_front_matter("fuzz.cu", text, {"args"});
      if (lines.size() != 1 || lines[0].key != "args") continue;
      const auto owner = static_cast<ArgumentsOf>(i % 3);
      const auto list = parse_argument_list(lines[0], operation, operation.names(), owner);
      ++parsed;
      // Its own text means the same.
      const auto line =
          read_front_matter("fuzz.cu", "//@ args " + argument_text(list, operation), {"args"});
      const auto again = parse_argument_list(line.at(0), operation, operation.names(), owner);
      ASSERT_EQ(argument_text(again, operation), argument_text(list, operation)) << text;
    } catch (const Error& error) {
      test::expect_place_in(error, ErrorKind::template_, "fuzz.cu", text);
    }
    if (HasFatalFailure()) FAIL() << "input: " << text;
  }
  EXPECT_GT(parsed, kRounds / 200);
  EXPECT_LT(parsed, kRounds * 9 / 10);
}

TEST(FuzzHeaderInliner, AnswersOrPointsAtTheFault) {
  const FileSet headers{{"a.cuh", "#pragma once\n#include \"b.cuh\"\nint a;\n"},
                        {"b.cuh", "#pragma once\n#include <mma.h>\n"}};
  Mutator mutator({"#include \"a.cuh\"\n#if !defined(KILN_RENDERED)\n#include <x.h>\n#else\n"
                   "int e;\n#endif\n/* #include \"c.cuh\"\n*/ int k;\n"},
                  {"#include \"b.cuh\"\n", "#if X\n", "#endif\n", "#else\n", "#elif Y\n", "/*",
                   "*/", "\"", "<", ">", "\\", "\n", "#", "#ifndef KILN_RENDERED\n", "//"},
                  4);
  int answered = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = mutator.next();
    try {
      HeaderInliner inliner(headers, HeaderInliner::Mode::rendered);
      inliner.add("fuzz.cu", text);
      ++answered;
      EXPECT_LE(inliner.inlined().size(), 2U);
    } catch (const Error& error) {
      test::expect_place_in(error, ErrorKind::template_, "fuzz.cu", text);
    }
    if (HasFatalFailure()) FAIL() << "input: " << text;
  }
  EXPECT_GT(answered, 1000);
}

}  // namespace
}  // namespace kiln
