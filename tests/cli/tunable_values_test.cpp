// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Tunables with names, booleans and decimal numbers, and a size that is a macro: from the template
// to the database and back.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/sandbox.hpp"
#include "tests/cli/user_template.hpp"

namespace kiln::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kDoubled = R"(//@ operation  doubled
//@ purpose    Twice each number
//@ size       rows 1..65536
//@ size       width 1..8192
//@ type       x f32
//@ type       y f32
//@ operand    x in: rows, width
//@ operand    y out: rows, width
//@ right      y within 1e-5 1e-6
//@ ragged     rows=3 width=5
//@ ragged     rows=9 width=130
//@ flops      rows * width
//@ reference  doubled_reference
//@   grid     rows
//@   block    32
//@   args     x.f64, y.f64, width

__global__ void doubled_reference(const double* x, double* y, int width) {
  const long long row = blockIdx.x * static_cast<long long>(width);
  for (int i = threadIdx.x; i < width; i += 32) y[row + i] = x[row + i] * 2.0;
}
)";

const std::string kValued = R"(//@ template   valued
//@ purpose    A macro of each kind
//@ operation  doubled
//@ tune       block = 32..128 x2 default 64
//@ tune       layout = linear strided*
//@ tune       order = RowsFirst ColumnsFirst*
//@ tune       unroll = false true*
//@ tune       ratio = 0.25 0.5*
//@ require    layout == linear or block in (32, 64)
//@ require    ratio * block >= 16
//@ require    32 <= block <= device.max_threads
//@ launch     valued
//@   grid     rows
//@   block    block
//@   args     x, y, width

enum Order { RowsFirst, ColumnsFirst };

extern "C" __global__ void valued(const float* x, float* y, int width) {
  const long long row = blockIdx.x * static_cast<long long>(width);
  const float factor = float(ratio) * 4.0f;
  const float rest = 2.0f - factor;
#if unroll
  if constexpr (unroll && order == ColumnsFirst) __syncthreads();
#endif
#if layout == linear
  const int share = (width + block - 1) / block;
  const int end = min(width, (static_cast<int>(threadIdx.x) + 1) * share);
  for (int i = threadIdx.x * share; i < end; ++i) y[row + i] = x[row + i] * (factor + rest);
#elif layout == strided
  for (int i = threadIdx.x; i < width; i += block) y[row + i] = x[row + i] * (factor + rest);
#else
#error "neither"
#endif
}
)";

const std::string kWide = R"(//@ template   wide
//@ purpose    The width is a macro
//@ operation  doubled
//@ tune       W = 128
//@ tune       block = 64 128*
//@ require    W == width   // the kernel is compiled for this width
//@ launch     wide
//@   grid     ceil_div(rows, 4)
//@   block    block
//@   args     x, y, rows

__global__ void wide(const float* x, float* y, int rows) {
  const int end = min(static_cast<int>(blockIdx.x) * 4 + 4, rows);
  for (int row = blockIdx.x * 4; row < end; ++row) {
    for (int i = threadIdx.x; i < W; i += block) y[row * W + i] = x[row * W + i] * 2.0f;
  }
}
)";

const Words kEmulated{"--template-path", ".", "--device", "emulated:h100"};

TEST(TunableValues, AreVerifiedTunedStoredAndFound) {
  const Sandbox sandbox;
  sandbox.write("doubled.cu", kDoubled);
  sandbox.write("valued.cu", kValued);
  const Words problem{"doubled", "--rows", "8", "--width", "100"};
  const auto verified =
      sandbox.run(with(with(with({"verify"}, problem), kEmulated),
                       {"--template", "valued", "--set", "layout=linear,unroll=true,ratio=.25"}));
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  const auto tuned = sandbox.run(
      with(with(with({"tune"}, problem), kEmulated),
           {"--set", "layout=linear,strided,unroll=true,order=ColumnsFirst,ratio=0.25", "--json"}));
  ASSERT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  EXPECT_THAT(tuned.out, AllOf(HasSubstr("\"order\": \"ColumnsFirst\""),
                               HasSubstr("\"ratio\": 0.25"), HasSubstr("\"unroll\": true")));

  const auto shown = sandbox.run(with(with({"show"}, problem), kEmulated));
  EXPECT_THAT(shown.out, HasSubstr("order=ColumnsFirst ratio=0.25 unroll=true"));
  EXPECT_THAT(sandbox.run({"export", "--database"}).out,
              HasSubstr("\"order\":\"ColumnsFirst\",\"ratio\":0.25,\"unroll\":true}"));
}

TEST(TunableValues, ThatATunableDoesNotHaveAreNamed) {
  const Sandbox sandbox;
  sandbox.write("doubled.cu", kDoubled);
  sandbox.write("valued.cu", kValued);
  const Words words{"verify", "doubled", "--rows", "8", "--width", "100", "--template", "valued"};
  const auto run = [&](const std::string& set) {
    return sandbox.run(with(with(words, kEmulated), {"--set", set})).err;
  };
  EXPECT_THAT(run("layout=lineal"), AllOf(HasSubstr("lineal"), HasSubstr("linear strided")));
  EXPECT_THAT(run("ratio=0.3"), AllOf(HasSubstr("0.3"), HasSubstr("0.25 0.5")));
  EXPECT_THAT(run("unroll=1"), HasSubstr("false true"));
  EXPECT_THAT(run("ratio=0.2.5"), HasSubstr("neither a number nor a name"));
}

TEST(SizesAsMacros, AreVerifiedAtRaggedSizesThatKeepThem) {
  const Sandbox sandbox;
  sandbox.write("doubled.cu", kDoubled);
  sandbox.write("wide.cu", kWide);
  const Words problem{"doubled", "--rows", "8", "--width", "128"};
  const auto verified = sandbox.run(with(with({"verify"}, problem), kEmulated));
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  EXPECT_THAT(verified.out,
              AllOf(HasSubstr("8 x 128, 3 x 128, 9 x 128"), Not(HasSubstr("warning"))));
  const auto tuned = sandbox.run(with(with({"tune"}, problem), kEmulated));
  EXPECT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  EXPECT_THAT(tuned.out, AllOf(HasSubstr("W=128"), Not(HasSubstr("ragged"))));

  sandbox.write("wide.cu", replaced(kWide, ", rows);\n", ", 8);\n"));
  const auto wrong = sandbox.run(with(with({"verify"}, problem), kEmulated));
  EXPECT_EQ(wrong.exit_code, 1) << "only other numbers of rows show this: " << wrong.out;
}

TEST(SizesAsMacros, OtherSizesAreRefusedWithWhatToDo) {
  const Sandbox sandbox;
  sandbox.write("doubled.cu", kDoubled);
  sandbox.write("wide.cu", kWide);
  const auto run =
      sandbox.run(with({"verify", "doubled", "--rows", "8", "--width", "512"}, kEmulated));
  EXPECT_NE(run.exit_code, 0);
  EXPECT_THAT(run.err, HasSubstr("Next: add 512 to the values of W in the template, or choose a "
                                 "problem with width = 128"));
}

}  // namespace
}  // namespace kiln::cli
