// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a launch passes to the device, and what it refuses.
#include <gmock/gmock.h>

#include <atomic>
#include <limits>
#include <thread>
#include <vector>

#include "common/gemm_args.cuh"
#include "templates/operation/gemm_problem.hpp"
#include "tests/support/host_element.hpp"
#include "tests/unit/runtime/library_fixture.hpp"

namespace kiln::testing {
namespace {

using ::testing::HasSubstr;

class KernelLaunchTest : public LibraryFixture {
 protected:
  /// Memory that is aligned like device memory.
  struct alignas(256) Buffer {
    std::array<float, 1024> data{};
  };

  static Gemm reading_c(DType type) {
    Gemm gemm = Gemm::of(type, 4, 4, 4);
    gemm.reads_c = true;
    return gemm;
  }

  static std::string refusal(const Kernel& kernel, const GemmOperands& operands) {
    try {
      kernel.launch(nullptr, operands);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "launched";
  }

  Buffer a_, b_, c_, d_;
  GemmOperands operands_{a_.data.data(), b_.data.data(), nullptr, d_.data.data(), 1.0, 0.0};
};

TEST_F(KernelLaunchTest, ComputesTheProductWithAlphaAndBeta) {
  Gemm gemm = Gemm::of(DType::f32, 2, 3, 2);
  gemm.reads_c = true;
  gemm.ldd = 4;
  const Library library = open();
  const Kernel kernel = library.get(gemm);
  a_.data = {1, 2, 3, 4};
  b_.data = {1, 0, 2, 0, 1, 3};
  c_.data = {1, 1, 1, 1, 1, 1};
  operands_.c = c_.data.data();
  operands_.alpha = 2.0;
  operands_.beta = 10.0;
  kernel.launch(nullptr, operands_);
  EXPECT_THAT(std::vector<float>(d_.data.begin(), d_.data.begin() + 8),
              ::testing::ElementsAre(12, 14, 26, 0, 16, 18, 46, 0) /* A*B: 1 2 8, 3 4 18 */);
}

TEST_F(KernelLaunchTest, TheWorkspaceIsTheCallersOrTheStreams) {
  const Gemm gemm = Gemm::of(DType::f32, 4, 4, 256);
  const ParamSpace space =
      Catalog::builtin().at("gemm_simt").space(to_problem(gemm), fake_device_info().limits);
  store_trial(gemm, "gemm_simt", space.narrowed({{"splits", {2}}}).default_config().value(),
              1000.0);
  const Library library = open();
  const Kernel kernel = library.get(gemm);
  ASSERT_GT(kernel.workspace_bytes(), 0U);
  Buffer own;
  const std::size_t before = device_->live_allocations();
  operands_.workspace = own.data.data();
  kernel.launch(nullptr, operands_);
  EXPECT_EQ(device_->live_allocations(), before) << "captured without a launch before";
  operands_.workspace = &own.data[4];
  EXPECT_THAT(refusal(kernel, operands_), HasSubstr("workspace = "));
  operands_.workspace = nullptr;
  for (int i = 0; i < 2; ++i) kernel.launch(nullptr, operands_);
  EXPECT_EQ(device_->live_allocations(), before + 1) << "one for the stream";
}

TEST_F(KernelLaunchTest, UsesTheStreamItIsGiven) {
  const Library library = open();
  const Kernel kernel = library.get(Gemm::of(DType::f32, 4, 4, 4));
  int stream = 0;
  kernel.launch(&stream, operands_);
  EXPECT_EQ(device_->last_stream(), &stream);
  kernel.launch(nullptr, operands_);
  EXPECT_EQ(device_->last_stream(), nullptr);
}

TEST_F(KernelLaunchTest, RefusesNullAndMisalignedOperands) {
  const Library library = open();
  const Kernel kernel = library.get(Gemm::of(DType::f32, 4, 4, 4));
  GemmOperands bad = operands_;
  bad.b = nullptr;
  EXPECT_THAT(refusal(kernel, bad), HasSubstr("B is null"));
  bad = operands_;
  bad.a = a_.data.data() + 1;
  EXPECT_THAT(refusal(kernel, bad), HasSubstr("multiple of 16 bytes"));
  EXPECT_THAT(refusal(kernel, bad), HasSubstr("alignment_a"));
  bad = operands_;
  bad.d = nullptr;
  EXPECT_THAT(refusal(kernel, bad), HasSubstr("D is null"));
}

TEST_F(KernelLaunchTest, TakesOperandsAsAlignedAsPromised) {
  Gemm gemm = Gemm::of(DType::f32, 4, 4, 4);
  gemm.alignment_a = 4;
  const Library library = open();
  const Kernel kernel = library.get(gemm);
  operands_.a = a_.data.data() + 1;
  EXPECT_EQ(refusal(kernel, operands_), "launched");
}

TEST_F(KernelLaunchTest, RefusesBetaWhereCIsNotRead) {
  const Library library = open();
  const Kernel kernel = library.get(Gemm::of(DType::f32, 4, 4, 4));
  operands_.beta = 1.0;
  operands_.c = c_.data.data();
  EXPECT_THAT(refusal(kernel, operands_), HasSubstr("reads_c"));
}

TEST_F(KernelLaunchTest, RefusesOperandsThatAnExpressionCannotUse) {
  const Library library = open();
  Gemm gemm = Gemm::of(DType::f32, 4, 4, 4);
  gemm.epilogue = Epilogue("relu(acc * alpha + bias[n]) + other[m,n] * scale:f64[]");
  const Kernel kernel = library.get(gemm);
  EXPECT_THAT(refusal(kernel, operands_), HasSubstr("bias, operand 0 of the epilogue, is null"));
  operands_.epilogue[0] = {c_.data.data()};
  EXPECT_THAT(refusal(kernel, operands_), HasSubstr("other, operand 1"));
  operands_.epilogue[1] = {c_.data.data(), 3};
  operands_.epilogue[2] = {c_.data.data()};
  EXPECT_THAT(refusal(kernel, operands_),
              HasSubstr("other.ld = 3 is not valid: each row has 4 elements"));
  operands_.epilogue[1].ld = 4;
  operands_.epilogue[0].ld = 4;
  EXPECT_THAT(refusal(kernel, operands_),
              HasSubstr("bias.ld = 4 is not valid: only operands like x[m,n]"));
  operands_.epilogue[0].ld = 0;
  operands_.epilogue[2].data = c_.data.data() + 1;
  EXPECT_THAT(refusal(kernel, operands_), HasSubstr("scale"));
  EXPECT_THAT(refusal(kernel, operands_), HasSubstr("is not a multiple of 8 bytes"));
  operands_.epilogue[2].data = c_.data.data();
  operands_.alpha = 3.0;
  EXPECT_EQ(refusal(kernel, operands_), "launched");
  operands_.beta = 1.0;
  EXPECT_THAT(refusal(kernel, operands_), HasSubstr("does not use beta. Next: pass beta = 0"));
}

TEST_F(KernelLaunchTest, WhatAmaxRecordsInIsAnOperandOfItsOwnType) {
  const Library library = open();
  Gemm gemm = Gemm::of(DType::f16, 4, 4, 4);
  gemm.epilogue = Epilogue("amax(acc, peak[])");
  const Kernel kernel = library.get(gemm);
  EXPECT_THAT(refusal(kernel, operands_), HasSubstr("peak, operand 0"));
  operands_.epilogue[0] = {reinterpret_cast<std::byte*>(c_.data.data()) + 2};
  EXPECT_THAT(refusal(kernel, operands_), HasSubstr("4 bytes"));
}

TEST_F(KernelLaunchTest, AnExpressionThatNamesCNeedsIt) {
  const Library library = open();
  Gemm gemm = Gemm::of(DType::f32, 4, 4, 4);
  gemm.epilogue = Epilogue("acc + c");
  const Kernel kernel = library.get(gemm);
  EXPECT_THAT(refusal(kernel, operands_), HasSubstr("C is null"));
  operands_.c = c_.data.data();
  EXPECT_EQ(refusal(kernel, operands_), "launched");
}

TEST_F(KernelLaunchTest, RefusesFactorsThatTheAccumulatorCannotHold) {
  const Library library = open();
  const Kernel kernel = library.get(reading_c(DType::f32));
  operands_.c = c_.data.data();
  operands_.alpha = 3.4e38;
  EXPECT_EQ(refusal(kernel, operands_), "launched");
  operands_.alpha = -1e300;
  EXPECT_THAT(refusal(kernel, operands_), HasSubstr("alpha = -1e+300"));
  operands_.alpha = std::numeric_limits<double>::infinity();
  operands_.beta = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal(kernel, operands_), "launched") << "f32 has such values";
  operands_.beta = 1e39;
  EXPECT_THAT(refusal(kernel, operands_), HasSubstr("beta = 1e+39"));
}

TEST_F(KernelLaunchTest, IntegerAccumulatorsTakeWholeFactors) {
  const Library library = open();
  const Kernel kernel = library.get(reading_c(DType::s8));
  operands_.c = c_.data.data();
  operands_.alpha = 2147483647.0;
  operands_.beta = -3.0;
  EXPECT_EQ(refusal(kernel, operands_), "launched");
  operands_.beta = 0.5;
  EXPECT_THAT(refusal(kernel, operands_),
              AllOf(HasSubstr("beta = 0.5"), HasSubstr("whole number")));
  operands_.beta = 2147483648.0;
  EXPECT_THAT(refusal(kernel, operands_), HasSubstr("beta"));
  operands_.beta = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal(kernel, operands_), HasSubstr("beta = nan"));
}

TEST_F(KernelLaunchTest, BetaZeroNeedsNoC) {
  const Library library = open();
  const Kernel kernel = library.get(reading_c(DType::f32));
  EXPECT_EQ(refusal(kernel, operands_), "launched");
  operands_.beta = 0.5;
  EXPECT_THAT(refusal(kernel, operands_), HasSubstr("C is null"));
}

TEST_F(KernelLaunchTest, WithoutAProductDIsTheScaledC) {
  Gemm gemm = Gemm::of(DType::f32, 2, 3, 0);
  gemm.reads_c = true;
  const Library library = open();
  const Kernel kernel = library.get(gemm);
  c_.data = {1, 2, 3, 4, 5, 6};
  d_.data.fill(-7.0F);
  const float none = std::numeric_limits<float>::infinity();
  kernel.launch(nullptr, {nullptr, nullptr, c_.data.data(), d_.data.data(), none, 2.0});
  EXPECT_THAT(std::vector<float>(d_.data.begin(), d_.data.begin() + 7),
              ::testing::ElementsAre(2, 4, 6, 8, 10, 12, -7))
      << "whatever alpha is";
  kernel.launch(nullptr, {nullptr, nullptr, nullptr, d_.data.data(), 3.0, 0.0});
  EXPECT_EQ(d_.data[5], 0.0F);
  EXPECT_EQ(d_.data[6], -7.0F);
  EXPECT_EQ(device_->launches(), 2U);
  EXPECT_THAT(refusal(kernel, {nullptr, nullptr, c_.data.data(), nullptr, 1.0, 1.0}),
              HasSubstr("D is null"));
  EXPECT_THAT(refusal(kernel, {nullptr, nullptr, nullptr, d_.data.data(), 1.0, 1.0}),
              HasSubstr("C is null"));
}

TEST_F(KernelLaunchTest, WithoutElementsOfDNothingHappens) {
  const Library library = open();
  for (const auto& [m, n] : {std::pair{0, 4}, {4, 0}, {0, 0}}) {
    const Kernel kernel = library.get(Gemm::of(DType::f32, m, n, 4));
    EXPECT_EQ(refusal(kernel, {}), "launched");
    EXPECT_EQ(kernel.match(), Match::exact);
    EXPECT_EQ(kernel.template_name(), "");
    EXPECT_EQ(kernel.config(), "");
    EXPECT_EQ(kernel.workspace_bytes(), 0U);
    EXPECT_THAT(refusal(kernel, {nullptr, nullptr, nullptr, nullptr, 1e300, 0.0}),
                HasSubstr("alpha = 1e+300"));
    EXPECT_THAT(refusal(kernel, {nullptr, nullptr, nullptr, nullptr, 1.0, 1.0}),
                HasSubstr("reads_c"));
  }
  EXPECT_EQ(device_->launches(), 0U);
  EXPECT_EQ(library.counters().compiles, 0U);
}

TEST_F(KernelLaunchTest, DeviceRefusalIsADeviceError) {
  decide_ = [](const CompileRequest&) {
    FakeCompilation result;
    result.cubin.behaviour = kBehaveLaunchFailed;
    return result;
  };
  const Library library = open();
  const Kernel kernel = library.get(Gemm::of(DType::f32, 4, 4, 4));
  try {
    kernel.launch(nullptr, operands_);
    FAIL() << "launched";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_THAT(error.what(), HasSubstr(std::string(kernel.template_name())));
  }
}

TEST_F(KernelLaunchTest, LeadingDimensionsBelongToTheKernelNotToTheEntry) {
  const Library library = open();
  Gemm wide = Gemm::of(DType::f32, 2, 4, 4);
  wide.ldd = 8;
  const Kernel tight_kernel = library.get(Gemm::of(DType::f32, 2, 4, 4));
  const Kernel wide_kernel = library.get(wide);
  EXPECT_EQ(library.counters().compiles, 1U) << "the same problem";
  a_.data.fill(1.0F);
  b_.data.fill(1.0F);
  d_.data.fill(-1.0F);
  wide_kernel.launch(nullptr, operands_);
  EXPECT_EQ(d_.data[4], -1.0F);
  EXPECT_EQ(d_.data[8], 4.0F);
  tight_kernel.launch(nullptr, operands_);
  EXPECT_EQ(d_.data[4], 4.0F);
}

TEST_F(KernelLaunchTest, ThreadsShareALibrary) {
  const Library library = open();
  constexpr int kThreads = 6;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Buffer a, b, d;
      a.data.fill(1.0F);
      b.data.fill(1.0F);
      for (int i = 1; i <= 40; ++i) {
        const int k = 1 + (i + t) % 20;
        const Kernel kernel = library.get(Gemm::of(DType::f32, 3, 5, k));
        d.data.fill(0.0F);
        kernel.launch(nullptr, {a.data.data(), b.data.data(), nullptr, d.data.data()});
        if (d.data[14] != static_cast<float>(k)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(device_->launches(), 40U * kThreads);
}

}  // namespace
}  // namespace kiln::testing
