// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/render/code_scanner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln {
namespace {

using ::testing::ElementsAre;

TEST(CodeScanner, FindsTheFieldsOfAStructInTheirOrder) {
  const auto found = find_struct(R"(struct Other { int x; };
// struct Config { int commented_out; };
const char* text = "struct Config { int quoted; };";
struct Config {
  int warps, unroll = 2;  // two of them
  /* int gone; */
  static constexpr int kept_out = 3;
  unsigned char bytes[4];
  int sum() const { int local = 1; return local; }
  using Type = float;
  int last{7};
};)",
                                 "Config");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->line, 4);
  EXPECT_THAT(found->fields, ElementsAre("warps", "unroll", "bytes", "last"));
  EXPECT_FALSE(find_struct("struct Config;", "Config"));
}

TEST(CodeScanner, FindsKernelsWithTheParametersOfTheirTemplates) {
  const auto kernels = find_kernels(R"(
#define GLOBAL __global__ void no(int)
#define MORE \
  __global__ void nor(int)
template <class T> struct Box { T value; };
template <Config C, class A, class B = Box<Box<int>>, int kSize = (3 > 2), int... kMore>
__global__ void __launch_bounds__(C.threads, 2)
    first(const Args args) {
  if (args.m < 3 && args.n > 4) return;
}
namespace mine {
extern "C" __global__ void second(Args) {}
template <>
__global__ void third<int>(Args);
}
)");
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].name, "first");
  EXPECT_EQ(kernels[0].line, 8);
  EXPECT_EQ(kernels[0].parameters, 5U);
  EXPECT_EQ(kernels[0].defaults, 2U);
  EXPECT_TRUE(kernels[0].is_variadic);
  EXPECT_EQ(kernels[1].name, "second");
  EXPECT_EQ(kernels[1].parameters, 0U);
}

TEST(CodeScanner, EndsWithWhatDoesNotEnd) {
  for (const char* text : {"struct Config {", "template <", "__global__", "__global__ void f", "\"",
                           "/*", "__global__ void __launch_bounds__(", "struct Config { int a"}) {
    static_cast<void>(find_struct(text, "Config"));
    static_cast<void>(find_kernels(text));
  }
}

}  // namespace
}  // namespace kiln
