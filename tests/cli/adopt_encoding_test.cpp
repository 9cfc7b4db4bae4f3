// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Editors begin files with a byte order mark: `kiln adopt` leaves it out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(AdoptEncoding, AByteOrderMarkIsLeftOut) {
  const Sandbox sandbox;
  const std::string source =
      "__global__ void k(float* y, int n) {\n  int i = blockIdx.x * 128 + threadIdx.x;\n"
      "  if (i < n) y[i] = 0;\n}\n";
  sandbox.write("marked.cu", "\xEF\xBB\xBF" + source);
  const auto run = sandbox.run({"adopt", "marked.cu"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("\n__global__ void k("));
  EXPECT_THAT(run.out, Not(HasSubstr("\xEF\xBB\xBF")));
  sandbox.write("wide.cu", std::string("\xFF\xFE_\0_\0", 6));
  const auto wide = sandbox.run({"adopt", "wide.cu"});
  EXPECT_EQ(wide.exit_code, 2);
  EXPECT_THAT(wide.err, AllOf(HasSubstr("wide.cu:1:1: "), HasSubstr("UTF-16")));
}

}  // namespace
}  // namespace kiln::cli
