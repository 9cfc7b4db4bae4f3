// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a launch of a declared operation passes to the device, and what it refuses.
#include <gmock/gmock.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/unit/runtime/operation_fixture.hpp"

namespace kiln::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OperationLaunch : public OperationFixture {
 protected:
  static std::string refusal(const OperationKernel& kernel, const Arguments& arguments) {
    return error_of(ErrorKind::usage, [&] { kernel.launch(nullptr, arguments); });
  }
  std::vector<float> results(std::size_t count) const {
    return {y_.data.begin(), y_.data.begin() + static_cast<std::ptrdiff_t>(count)};
  }
};

TEST_F(OperationLaunch, GivesOperandsAndScalarsByPosition) {
  const Library library = open_with_kernels();
  const OperationKernel kernel = library.get(row_sums(2, 3, 1));
  x_.data = {1, 2, 3, 4, 5, 6};
  bias_.data = {100, 200};
  kernel.launch(nullptr, {.operands = {&x_, &bias_, &y_}});
  EXPECT_THAT(results(3), ElementsAre(111, 224.5, 0)) << "declared: 1.5 and 2";
  kernel.launch(nullptr, {.operands = {&x_, &bias_, &y_}, .scalars = {2.0}});
  EXPECT_THAT(results(2), ElementsAre(114, 232));
  kernel.launch(nullptr, {.operands = {&x_, &bias_, &y_}, .scalars = {2.0, -10.0}});
  EXPECT_THAT(results(2), ElementsAre(102, 220));
  const std::vector<double> doubles{2.0, -10.0};
  kernel.launch(nullptr,
                {.operands = {&x_, &bias_, &y_}, .scalars = {doubles.data(), doubles.size()}});
  EXPECT_THAT(results(2), ElementsAre(102, 220)) << "from an array of numbers";
  EXPECT_EQ(device_->launches(), 8U);
  EXPECT_EQ(kernel.template_name(), "row_sums_twice");
  EXPECT_EQ(kernel.workspace_bytes(), 8U);
}

TEST_F(OperationLaunch, PositionsAreFoundByName) {
  const Library library = open_with_kernels();
  const OperationKernel kernel = library.get(row_sums(2, 3, 1));
  EXPECT_EQ(kernel.operand_count(), 3U);
  EXPECT_EQ(kernel.scalar_count(), 2U);
  EXPECT_EQ(kernel.operand_index("y"), 2U);
  Arguments arguments = kernel.arguments();
  EXPECT_THAT(arguments.scalars, ElementsAre(1.5, 2.0));
  EXPECT_THAT(arguments.operands, ElementsAre(nullptr, nullptr, nullptr));
  arguments.operands[kernel.operand_index("x")] = &x_;
  arguments.operands[kernel.operand_index("bias")] = &bias_;
  arguments.operands[kernel.operand_index("y")] = &y_;
  arguments.scalars[kernel.scalar_index("steps")] = 7.0;
  kernel.launch(nullptr, arguments);
  EXPECT_THAT(results(2), ElementsAre(7, 7));
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)kernel.operand_index("biass"); }),
              AllOf(HasSubstr("row_sums has no operand \"biass\""), HasSubstr("\"bias\"?")));
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)kernel.scalar_index("x"); }),
              HasSubstr("row_sums has no scalar \"x\""));
}

TEST_F(OperationLaunch, KnowsTheBytesOfOperands) {
  const Library library = open_with_kernels();
  const OperationKernel kernel = library.get(row_sums(7, 5, 0, DType::f16));
  EXPECT_EQ(kernel.operand_bytes(0), 70U);
  EXPECT_EQ(kernel.operand_bytes(1), 0U) << "it takes no part";
  EXPECT_EQ(kernel.operand_bytes(2), 28U);
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)kernel.operand_bytes(3); }),
              HasSubstr("3 operands"));
}

TEST_F(OperationLaunch, WhatTakesNoPartIsNullForKernels) {
  const Library library = open_with_kernels();
  const OperationKernel kernel = library.get(row_sums(1, 1));
  x_.data = {4};
  bias_.data = {1000};
  kernel.launch(nullptr, {.operands = {&x_, nullptr, &y_}});
  EXPECT_EQ(y_.data[0], 8.0F);
  y_.data[0] = 0.0F;
  kernel.launch(nullptr, {.operands = {&x_, bias_.data.data() + 1, &y_}});
  EXPECT_EQ(y_.data[0], 8.0F) << "nor is it looked at";
}

TEST_F(OperationLaunch, RefusesOperandsThatKernelsCouldNotUse) {
  const Library library = open_with_kernels();
  const OperationKernel kernel = library.get(row_sums(2, 3, 1));
  EXPECT_THAT(
      refusal(kernel, {}),
      HasSubstr(
          "launch of row_sums: the launch passes 0 operands, but the operation has 3: x, bias, y"));
  EXPECT_THAT(refusal(kernel, {.operands = {&x_, &bias_, &y_, &y_}}), HasSubstr("4 operands"));
  EXPECT_THAT(refusal(kernel, {.operands = {&x_, nullptr, &y_}}),
              HasSubstr("bias, operand 1, is null"));
  EXPECT_THAT(refusal(kernel, {.operands = {x_.data.data() + 1, &bias_, &y_}}),
              HasSubstr("16 bytes"));
  EXPECT_EQ(device_->launches(), 0U);
  EXPECT_EQ(refusal(kernel, {.operands = {x_.data.data() + 4, &bias_, &y_}}), "no error");
  const std::vector<const void*> many(kMostOperands + 1);
  EXPECT_THAT(error_of(ErrorKind::usage,
                       [&] {
                         (void)Arguments{{many.data(), many.size()}};
                       }),
              HasSubstr("33 values"));
}

/// Rows that may lie apart, of an operand that starts anywhere.
constexpr std::string_view kRowPitch = R"(//@ operation  row_pitch
//@ purpose    Sums of rows that lie apart
//@ size       rows 1..65536
//@ size       cols 1..4096
//@ size       ldx = cols
//@ type       x f32
//@ type       y f32
//@ operand    x in: rows, cols; ld ldx; align 4
//@ operand    y out: rows
//@ right      y bound 8 of f32
//@ ragged     rows=3 cols=5 ldx=6
//@ flops      rows * cols
//@ reference  row_pitch_reference
//@   grid     rows
//@   block    1

void row_pitch_reference();
)";
constexpr std::string_view kRowPitchTemplate = R"(//@ template   row_pitch_one
//@ purpose    One launch
//@ operation  row_pitch
//@ launch     row_sums_first<x>
//@   grid     rows
//@   block    32
//@   args     x, y, rows, cols

template <class X>
__global__ void row_sums_first(const X* x, float* sums, int rows, int cols) {}
)";

TEST_F(OperationLaunch, OperandsAreAsLargeAndAsAlignedAsDeclared) {
  std::ofstream(template_path_.front() + "/row_pitch.cu") << kRowPitch;
  std::ofstream(template_path_.front() + "/row_pitch_one.cu") << kRowPitchTemplate;
  catalog_ = Catalog::with_directories(template_path_);
  const Library library = open_with_kernels();
  OperationProblem problem{
      "row_pitch", {{"rows", 2}, {"cols", 3}}, {{"x", DType::f32}, {"y", DType::f32}}};
  const OperationKernel tight = library.get(problem);
  EXPECT_EQ(tight.operand_bytes(0), 24U);
  const auto reads = library.counters().database_reads;
  (void)library.get(problem);
  EXPECT_EQ(library.counters().database_reads, reads) << "known as it was asked for";
  problem.sizes.push_back({"ldx", 10});
  EXPECT_EQ(library.get(problem).operand_bytes(0), 52U) << "it ends with the last element";
  problem.sizes.back().value = 2;
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)library.get(problem); }),
              HasSubstr("only 2 (ldx)"));
  EXPECT_EQ(refusal(tight, {.operands = {x_.data.data() + 1, &y_}}), "no error");
  EXPECT_THAT(refusal(tight, {.operands = {reinterpret_cast<std::byte*>(&x_) + 2, &y_}}),
              AllOf(HasSubstr("4 bytes"), HasSubstr("this operand")));
  EXPECT_THAT(refusal(tight, {.operands = {&x_, y_.data.data() + 1}}),
              HasSubstr("is not a multiple of 16 bytes. Kiln requires this alignment for every"));
}

TEST_F(OperationLaunch, RefusesScalarsThatTheirTypesDoNotHave) {
  const Library library = open_with_kernels();
  const OperationKernel kernel = library.get(row_sums(2, 3));
  const auto with = [&](ShortList<Scalar, kMostScalars> scalars) {
    return refusal(kernel, {.operands = {&x_, nullptr, &y_}, .scalars = scalars});
  };
  EXPECT_THAT(with({1e300}), AllOf(HasSubstr("the scalar scale: 1e+300 "), HasSubstr("-3.40")));
  EXPECT_THAT(with({1.0, 0.5}), AllOf(HasSubstr("the scalar steps: 0.5 "), HasSubstr("integer")));
  EXPECT_THAT(with({1.0, 2147483648U}),
              AllOf(HasSubstr("steps: 2147483648 "), HasSubstr("-2147483648 to 2147483647"),
                    HasSubstr("s32")));
  EXPECT_THAT(with({1.0, std::numeric_limits<double>::quiet_NaN()}),
              HasSubstr("steps: nan is not"));
  EXPECT_THAT(with({1.0, 2.0, 3.0}),
              HasSubstr("the launch passes 3 scalars, but the operation has 2"));
  EXPECT_EQ(with({std::numeric_limits<double>::infinity(), -2147483648.0}), "no error");
}

TEST_F(OperationLaunch, RangesOfScalarsAreThoseOfTheirTypes) {
  const auto rule = [](NumberType type) { return detail::rule_of({"s", type, 1, ""}); };
  EXPECT_EQ(rule(NumberType::u32).value, 1);
  EXPECT_EQ(rule(NumberType::u32).range.most, 4294967295.0);
  EXPECT_EQ(rule(NumberType::u32).range.least, 0.0);
  EXPECT_TRUE(rule(NumberType::s64).range.has(-0x1p63));
  EXPECT_FALSE(rule(NumberType::s64).range.has(0x1p63));
  EXPECT_TRUE(rule(NumberType::u64).range.has(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_FALSE(rule(NumberType::u64).range.has(0x1p64));
  EXPECT_TRUE(rule(NumberType::u64).range.whole);
  EXPECT_FALSE(rule(NumberType::f64).range.whole);
  EXPECT_EQ(rule(NumberType::f64).range.most, std::numeric_limits<double>::max());
}

TEST_F(OperationLaunch, WithoutElementsOfResultsNothingHappens) {
  const Library library = open_with_kernels();
  const OperationKernel kernel = library.get(row_sums(0, 3, 1));
  EXPECT_EQ(refusal(kernel, {.operands = {nullptr, nullptr, nullptr}}), "no error");
  EXPECT_THAT(refusal(kernel, {}), HasSubstr("0 operands"));
  EXPECT_THAT(refusal(kernel, {.operands = {nullptr, nullptr, nullptr}, .scalars = {1e300}}),
              HasSubstr("scale"));
  EXPECT_EQ(kernel.match(), Match::exact);
  EXPECT_THAT(std::string(kernel.match_reason()), HasSubstr("every output has 0 elements"));
  EXPECT_EQ(kernel.template_name(), "");
  EXPECT_EQ(device_->launches(), 0U);
  EXPECT_EQ(library.counters().compiles, 0U);
}

TEST_F(OperationLaunch, AnInputWithoutElementsMayBeNull) {
  const Library library = open_with_kernels();
  const OperationKernel kernel = library.get(row_sums(2, 0));
  kernel.launch(nullptr, {.operands = {nullptr, nullptr, &y_}});
  EXPECT_THAT(results(2), ElementsAre(2, 2)) << "the sum of nothing";
}

TEST_F(OperationLaunch, TheWorkspaceIsTheCallersOrTheStreams) {
  const Library library = open_with_kernels();
  const OperationKernel kernel = library.get(row_sums(1, 2));
  x_.data = {1, 2};
  Buffer own;
  const std::size_t before = device_->live_allocations();
  kernel.launch(nullptr, {.operands = {&x_, nullptr, &y_}, .workspace = &own});
  EXPECT_EQ(own.data[0], 3.0F);
  EXPECT_EQ(device_->live_allocations(), before);
  own.data[0] = 0.0F;
  int stream = 0;
  for (int i = 0; i < 2; ++i) kernel.launch(&stream, {.operands = {&x_, nullptr, &y_}});
  EXPECT_EQ(device_->last_stream(), &stream);
  EXPECT_EQ(own.data[0], 0.0F);
  EXPECT_EQ(device_->live_allocations(), before + 1) << "one for the stream";
  EXPECT_THAT(refusal(kernel, {.operands = {&x_, nullptr, &y_}, .workspace = &own.data[4]}),
              HasSubstr("workspace"));
}

TEST_F(OperationLaunch, DeviceRefusalIsADeviceError) {
  decide_ = [](const CompileRequest&) {
    FakeCompilation result;
    result.cubin.behaviour = kBehaveLaunchFailed;
    return result;
  };
  const Library library = open_with_kernels();
  const OperationKernel kernel = library.get(row_sums(1, 2));
  EXPECT_THAT(error_of(ErrorKind::device,
                       [&] {
                         kernel.launch(nullptr, {.operands = {&x_, nullptr, &y_}});
                       }),
              HasSubstr("launching row_sums_twice [block_size=128]"));
}

TEST_F(OperationLaunch, ThreadsShareALibrary) {
  const Library library = open_with_kernels();
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        Buffer x, y;
        x.data.fill(1.0F);
        for (int i = 0; i < 40; ++i) {
          const int cols = 1 + (i + t) % 8;
          const OperationKernel kernel = library.get(row_sums(2, cols));
          kernel.launch(&x, {.operands = {&x, nullptr, &y}, .scalars = {1.0, 0.0}});
          if (y.data[1] != static_cast<float>(cols)) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(library.counters().compiles, 1U);
}

}  // namespace
}  // namespace kiln::testing
