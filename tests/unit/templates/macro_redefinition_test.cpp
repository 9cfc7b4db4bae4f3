// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/macro_redefinition.hpp"

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
}

TEST(MacroRedefinition, WhatBeingDefinedLeavesOutDoesNotCount) {
  EXPECT_TRUE(found("#ifndef kernel_tuner\n#define tile 4\n#endif\n").empty());
  EXPECT_TRUE(found("#ifndef tile\n#define tile 4\n#endif\n").empty());
  EXPECT_TRUE(found("#if !defined(tile)\n#define tile 4\n#endif\n").empty());
  EXPECT_TRUE(found("#if ! defined tile\n#define tile 4\n#endif\n").empty());
  EXPECT_TRUE(found("#ifdef tile\n#else\n#define tile 4\n#endif\n").empty());
  EXPECT_TRUE(found("#if 0\n#define tile 4\n#endif\n").empty());
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
  EXPECT_THAT(text, AllOf(StartsWith("k.cu:2:11: \"block_size_x\" is tuned"),
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
                          HasSubstr("the #ifndef above asks for \"block_size\". Next: write "
                                    "#ifndef block_size_x")));
}

}  // namespace
}  // namespace kiln
