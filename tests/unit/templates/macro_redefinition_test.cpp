// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/check/macro_redefinition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "tests/unit/templates/expect_error.hpp"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::vector<std::string> kMacros{"tile", "block_size_x"};

struct Found {
  int line = 0;
  bool certain = false;
  friend bool operator==(const Found&, const Found&) = default;
};

std::vector<Found> found(std::string_view source) {
  std::vector<Found> places;
  for (const auto& each : find_redefinitions(source, kMacros)) {
    places.push_back({each.line, each.certain});
  }
  return places;
}

TEST(MacroRedefinition, IsFoundWhereverItIsCompiled) {
  using Places = std::vector<Found>;
  const Places sure{{1, true}};
  EXPECT_EQ(found("#define tile 4\n"), sure);
  EXPECT_EQ(found("  #  define  tile 4"), sure);
  EXPECT_EQ(found("#undef tile\n"), sure);
  EXPECT_EQ(found("#define tiles 4\n#define use tile\n"), Places{});
  EXPECT_EQ(found("// #define tile 4\n/*\n#define tile 4\n*/\n"), Places{});
  EXPECT_EQ(found("const char* text = \"/*\";\n#define tile 4\n"), (Places{{2, true}}));
  EXPECT_EQ(found("/* a */ #define tile 4\n"), sure);
  EXPECT_EQ(found("#define /* a */ tile 4\n"), sure);
}

TEST(MacroRedefinition, IsFoundInEverySpellingOfADirective) {
  using Places = std::vector<Found>;
  EXPECT_EQ(found("%:define tile 4\n"), (Places{{1, true}}));
  EXPECT_EQ(found("#def\\\nine tile 4\n"), (Places{{2, true}}));
  EXPECT_EQ(found("const char* a = R\"(\n#define tile 4\n)\";\n"), Places{});
  // Trigraphs are none in C++20, and an error of the compiler.
  EXPECT_EQ(found("?\?=define tile 4\n"), Places{});
}

TEST(MacroRedefinition, TheMarkOfTheTunerStaysDefined) {
  using Places = std::vector<Found>;
  const std::string hidden = "#ifndef kernel_tuner\n#define tile 4\n#endif\n";
  EXPECT_EQ(found("#undef kernel_tuner\n" + hidden), (Places{{1, true}}));
  EXPECT_EQ(found("#undef KILN_RENDERED\n"), (Places{{1, true}}));
  EXPECT_EQ(found("#ifdef HOST\n#undef kernel_tuner\n#endif\n"), (Places{{2, false}}));
  EXPECT_EQ(found("#define kernel_tuner 1\n#undef kernel_tuners\n"), Places{});
  EXPECT_THAT(test::error_text(
                  ErrorKind::template_,
                  [&] { refuse_redefinitions("k.cu", "#undef kernel_tuner\n" + hidden, kMacros); }),
              AllOf(StartsWith("k.cu:1:8: Kiln defines \"kernel_tuner\""),
                    HasSubstr("Next: delete this line")));
}

TEST(MacroRedefinition, WhatBeingDefinedLeavesOutDoesNotCount) {
  EXPECT_TRUE(found("#ifndef kernel_tuner\n#define tile 4\n#endif\n").empty());
  EXPECT_TRUE(found("#ifndef tile\n#define tile 4\n#endif\n").empty());
  EXPECT_TRUE(found("#if !defined(tile)\n#define tile 4\n#endif\n").empty());
  EXPECT_TRUE(found("#if ! defined tile\n#define tile 4\n#endif\n").empty());
  EXPECT_TRUE(found("#ifdef tile\n#else\n#define tile 4\n#endif\n").empty());
  EXPECT_TRUE(found("#if 0\n#define tile 4\n#endif\n").empty());
  EXPECT_TRUE(found("#if 0\n#elifndef tile\n#define tile 4\n#endif\n").empty());
  EXPECT_TRUE(found("#if 1\n#elif HOST\n#define tile 4\n#endif\n").empty());
  EXPECT_TRUE(found("#ifndef tile\n#ifdef HOST\n#define tile 4\n#endif\n#endif\n").empty());
  EXPECT_EQ(found("#ifdef kernel_tuner\n#define tile 4\n#endif\n"),
            (std::vector<Found>{{2, true}}));
  EXPECT_EQ(found("#ifndef tile\n#endif\n#define tile 4\n"), (std::vector<Found>{{3, true}}));
}

TEST(MacroRedefinition, ConditionsOfTheCompilerMakeItUncertain) {
  const std::vector<Found> unsure{{2, false}};
  EXPECT_EQ(found("#ifdef HOST\n#define tile 4\n#endif\n"), unsure);
  EXPECT_EQ(found("#if __CUDA_ARCH__ >= 800\n#define tile 4\n#endif\n"), unsure);
  EXPECT_EQ(found("#if defined(tile) && HOST\n#define tile 4\n#endif\n"), unsure);
  EXPECT_EQ(found("#ifdef HOST\n#else\n#define tile 4\n#endif\n"),
            (std::vector<Found>{{3, false}}));
}

TEST(MacroRedefinition, IsRefusedWithItsLineAndARemedy) {
  const auto text = test::error_text(ErrorKind::template_, [] {
    refuse_redefinitions("k.cu", "int a;\n  #define block_size_x 128\n", kMacros);
  });
  EXPECT_THAT(text,
              AllOf(StartsWith("k.cu:2:11: this line redefines the tuned macro \"block_size_x\""),
                    HasSubstr("#ifndef kernel_tuner"),
                    HasSubstr("\n    #define block_size_x 128\n            ^")));
  EXPECT_NO_THROW(refuse_redefinitions("k.cu", "#ifdef HOST\n#define tile 4\n#endif\n", kMacros));
}

TEST(MacroRedefinition, ATypoInTheGuardDoesNotHideIt) {
  EXPECT_EQ(found("#ifndef block_size\n#define block_size_x 4\n#endif\n"),
            (std::vector<Found>{{2, true}}));
  EXPECT_EQ(found("#ifndef HOST\n#define block_size_x 4\n#endif\n"),
            (std::vector<Found>{{2, false}}));
  const auto text = test::error_text(ErrorKind::template_, [] {
    refuse_redefinitions("k.cu", "#ifndef block_size\n#define block_size_x 4\n#endif\n", kMacros);
  });
  EXPECT_THAT(text, AllOf(StartsWith("k.cu:2:9: "),
                          HasSubstr("but it tests \"block_size\". Next: replace that "
                                    "#ifndef with #ifndef block_size_x")));
}

/// What is said of a file; "": nothing.
std::string refusal_of_tunable(std::string_view source) {
  try {
    refuse_redefinitions("k.cu", source, kMacros);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(TunableDeclaration, IsRefusedWithItsLineAndARemedy) {
  EXPECT_THAT(refusal_of_tunable("int a;\nconstexpr int tile = 128;\n"),
              AllOf(StartsWith("k.cu:2:15: a \"tune\" or \"let\" line declares \"tile\", so Kiln "
                               "defines a macro of this name"),
                    HasSubstr("between #ifndef kernel_tuner and #endif"),
                    HasSubstr("\n  constexpr int tile = 128;\n                ^")));
  EXPECT_THAT(refusal_of_tunable("template <class T,\n          int tile>\n__global__ void k();\n"),
              AllOf(StartsWith("k.cu:2:15: "), HasSubstr("instead of this template parameter"),
                    HasSubstr("launch KERNEL<tile>")));
}

TEST(TunableDeclaration, IsFoundInEveryForm) {
  for (const char* declaration : {"const int tile = 4;",
                                  "static const unsigned tile{4};",
                                  "int const tile = 4;",
                                  "size_t tile = 4;",
                                  "const std::uint32_t tile = 4;",
                                  "enum { tile = 4 };",
                                  "enum class Sizes : int { other, tile };",
                                  "enum { other = f(1, 2), tile };",
                                  "template <int tile> void f();",
                                  "template <class tile> void f();",
                                  "void f(int tile);",
                                  "void f(const float* __restrict__ tile);",
                                  "void f(float& tile);",
                                  "struct S { int tile; };",
                                  "struct tile {};",
                                  "using tile = int;",
                                  "for (auto tile : all) {}",
                                  "/* a */ int\n  tile;",
                                  "extern __shared__ float tile[];",
                                  "int tile(int x) { return x; }",
                                  "#endif /* a\n b */ int tile;"}) {
    EXPECT_THAT(refusal_of_tunable(declaration), HasSubstr("declares \"tile\"")) << declaration;
  }
}

TEST(TunableDeclaration, UsesAreNone) {
  for (const char* use : {"int a = tile;",
                          "int a[tile];",
                          "return tile;",
                          "f<int, tile>();",
                          "(int)tile;",
                          "enum { a = tile };",
                          "enum { a = f(1, tile) };",
                          "enum { a = S<1, tile, 2>::b };",
                          "template <int a = tile> void f();",
                          "sizeof(int) * tile;",
                          "x_t * tile;",
                          "x * tile;",
                          "struct S { int a : tile; };",
                          "MINE tile;",
                          "int tiles;",
                          "// int tile;",
                          "const char* text = \"int tile\";",
                          "#pragma unroll tile",
                          "#if tile > 2\n#endif",
                          "#ifndef kernel_tuner\nconstexpr int tile = 4;\n#endif",
                          "#ifndef tile\nconstexpr int tile = 4;\n#endif",
                          "#ifdef HOST\nconstexpr int tile = 4;\n#endif",
                          "#if 0 /* a\nb */\nint tile;\n#endif"}) {
    EXPECT_EQ(refusal_of_tunable(use), "") << use;
  }
}

}  // namespace
}  // namespace kiln
