// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Whatever the source, adopting it answers or says why not, and what it answers has the source as
// it was.

#include <gtest/gtest.h>

#include <string>

#include "kiln/error.hpp"
#include "templates/front_matter/front_matter_lines.hpp"
#include "tests/fuzz/mutator.hpp"
#include "tests/unit/tools/adopt_samples.hpp"
#include "tools/adopt/adopt.hpp"
#include "tools/adopt/lexer.hpp"

namespace kiln::tools {
namespace {

TEST(FuzzAdopt, AnswersOrSaysWhyNot) {
  test::Mutator mutator({test::kVectorAddSource, test::kConvolutionSource, test::kStencilSource,
                         test::kComplexSource, test::kSumSource},
                        {"__global__ ",
                         "void ",
                         "{",
                         "}",
                         "(",
                         ")",
                         "[",
                         "]",
                         "<",
                         ">",
                         ">>",
                         "<<<",
                         "template <",
                         "int ",
                         "float2* ",
                         "const ",
                         "blockIdx.x",
                         "blockDim.",
                         "threadIdx.",
                         " * ",
                         " < ",
                         " = ",
                         ";",
                         ",",
                         "\n#if 0\n",
                         "\n#else\n",
                         "\n#endif\n",
                         "\n#define ",
                         "/*",
                         "*/",
                         "//",
                         "\"",
                         "R\"(",
                         "'",
                         "\\\n",
                         "static_cast<",
                         "namespace ",
                         "extern \"C\" ",
                         "n",
                         "block_size_x",
                         "tile_size_x",
                         "::",
                         "(*",
                         "typedef ",
                         "using a = ",
                         "struct ",
                         "enum { ",
                         "constexpr int ",
                         "auto [",
                         "decltype(",
                         "__constant__ ",
                         "alignas(",
                         "\n#if !defined(",
                         "\n#ifdef kernel_tuner\n",
                         "<%",
                         "\n%:",
                         "<:",
                         "texture<",
                         "__mul24(",
                         " << 7",
                         "this_grid().sync()",
                         "case "},
                        6);
  int adopted = 0;
  constexpr int kRounds = 6000;
  for (int i = 0; i < kRounds; ++i) {
    const std::string text = mutator.next();
    SCOPED_TRACE(text);
    try {
      const Adoption adoption = adopt("fuzz.cu", text, {});
      ++adopted;
      ASSERT_TRUE(adoption.adopted.text.ends_with(text));
      ASSERT_FALSE(adoption_summary(adoption, "").empty());
      // The statements are those that a reader of front matter finds.
      const std::string front =
          adoption.adopted.text.substr(0, adoption.adopted.text.size() - text.size());
      ASSERT_TRUE(has_front_matter(front));
    } catch (const Error& error) {
      ASSERT_TRUE(error.kind() == ErrorKind::usage || error.kind() == ErrorKind::template_);
      ASSERT_EQ(std::string(error.what()).rfind("fuzz.cu:", 0), 0U) << error.what();
    }
  }
  EXPECT_GT(adopted, kRounds / 10);
  EXPECT_LT(adopted, kRounds * 9 / 10);
}

TEST(FuzzAdopt, TokensCoverTheirText) {
  test::Mutator mutator({test::kConvolutionSource, test::kComplexSource},
                        {"\"", "'", "R\"(", ")\"", "/*", "*/", "\\", "\n#", "0x1'0", "1e+", "<<<"},
                        7);
  for (int i = 0; i < 4000; ++i) {
    const std::string text = mutator.next();
    std::size_t end = 0;
    for (const auto& token : read_code(text).tokens) {
      ASSERT_GE(token.offset, end) << text;
      ASSERT_FALSE(token.text.empty()) << text;
      end = token.offset + token.text.size();
      ASSERT_LE(end, text.size()) << text;
    }
  }
}

}  // namespace
}  // namespace kiln::tools
