// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Operands that a kernel of the operation's file makes: what it is given, and what it must not do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "tests/support/typed_kernel.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/tuner/declared_verifier_fixture.hpp"
#include "tests/unit/tuner/planted_operations.hpp"

namespace kiln::testing {
namespace {

using test::error_text;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// y = x * slope, where a kernel makes slope from x.
constexpr std::string_view kSlopes = R"(//@ operation  slopes
//@ purpose    Numbers times what was made of them
//@ size       n 1..4096
//@ type       x f32
//@ type       slope f32
//@ type       y f32
//@ scalar     step f32 = 2
//@ operand    x in: n
//@ operand    slope in: n; fill kernel slopes_of
//@ operand    y out: n
//@ right      y bound 4 of f32
//@ integers   8
//@ ragged     n=5
//@ flops      n
//@ fill       slopes_of
//@   grid     1
//@   block    1
//@   args     x, slope, n, step, seed
//@ reference  slopes_reference
//@   grid     1
//@   block    1
//@   args     x, slope, y, n

__global__ void slopes_of(const float* x, float* slope, int n, float step, unsigned long long seed);
__global__ void slopes_reference(const float* x, const float* slope, float* y, int n);
)";

/// What the fill kernel was given, and what it did.
struct FillCall {
  int n;
  float step;
  unsigned long long seed;
  std::vector<float> before, made;
};

class DeclaredFill : public DeclaredVerifierTest {
 protected:
  DeclaredFill() {
    const auto multiply = [](const FakeLaunch&, const float* x, const float* slope, float* y,
                             int n) {
      for (int i = 0; i < n; ++i) y[i] = x[i] * slope[i];
    };
    register_typed<const float*, const float*, float*, int>(device_, "slopes_reference", multiply);
    const auto candidate = [&](const std::string& name, auto slope_of) {
      register_typed<const float*, float*, float*, int, float>(
          device_, name,
          [slope_of](const FakeLaunch&, const float* x, float* slope, float* y, int n, float) {
            for (int i = 0; i < n; ++i) y[i] = x[i] * slope_of(x, slope, i);
          });
    };
    candidate("slopes_right", [](const float*, const float* slope, int i) { return slope[i]; });
    candidate("slopes_from_x", [](const float* x, const float*, int i) { return x[i] + 1.0F; });
    candidate("slopes_changes", [](const float*, float* slope, int i) {
      const float value = slope[i];
      slope[i] = 0.0F;
      return value;
    });
    plant([](const FakeLaunch&, const float*, float*, int) {});
  }

  /// The fill kernel, and what it does beside its work.
  template <class More>
  void plant(More more) {
    register_typed<const float*, float*, int, float, unsigned long long>(
        device_, "slopes_of",
        [this, more](const FakeLaunch& launch, const float* x, float* slope, int n, float step,
                     unsigned long long seed) {
          FillCall call{n, step, seed, {slope, slope + n}, {}};
          for (int i = 0; i < n; ++i) slope[i] = x[i] + step;
          more(launch, x, slope, n);
          call.made.assign(slope, slope + n);
          calls_.push_back(std::move(call));
        });
  }
  void prepare_slopes() { prepare(kSlopes, {{"n", 8}}); }
  std::string complaint() {
    return error_text(ErrorKind::template_, [&] { prepare_slopes(); });
  }

  std::vector<FillCall> calls_;
};

TEST_F(DeclaredFill, EveryCaseGetsWhatTheKernelMakes) {
  prepare_slopes();
  expect_right("slopes_right");
  expect_found("slopes_from_x", HasSubstr("n=5 (integers): element"), "slopes_right");
  expect_found("slopes_changes", HasSubstr("changed input slope in"), "slopes_right");
}

TEST_F(DeclaredFill, TheKernelRunsWhenDataAreMadeAndNotForCandidates) {
  prepare_slopes();
  const std::size_t made = calls_.size();
  EXPECT_EQ(made, 8U) << "two cases, two kinds of data, and each a second time to compare";
  for (const FillCall& call : calls_) {
    EXPECT_TRUE(std::ranges::all_of(call.before, [](float value) { return value == 0.0F; }));
  }
  expect_right("slopes_right");
  expect_right("slopes_right");
  EXPECT_EQ(calls_.size(), made);
}

TEST_F(DeclaredFill, TheKernelGetsTheScalarsOfTheRuns) {
  prepare_slopes();
  const auto has = [&](int n, float step) {
    return std::ranges::any_of(
        calls_, [&](const FillCall& call) { return call.n == n && call.step == step; });
  };
  EXPECT_TRUE(has(8, 2.0F));
  EXPECT_FALSE(has(8, 1.5F));
  EXPECT_TRUE(has(5, 2.0F)) << "integers are exact with the stated scalars";
  EXPECT_TRUE(has(5, 1.5F)) << "ragged sizes have other scalars";
}

TEST_F(DeclaredFill, SeedsDifferFromDataSetToDataSet) {
  prepare_slopes();
  std::vector<unsigned long long> seeds;
  for (const FillCall& call : calls_) seeds.push_back(call.seed);
  std::ranges::sort(seeds);
  seeds.erase(std::ranges::unique(seeds).begin(), seeds.end());
  EXPECT_EQ(seeds.size(), 4U);
}

TEST_F(DeclaredFill, AKernelThatDiffersFromRunToRunIsRefused) {
  plant([this](const FakeLaunch&, const float*, float* slope, int n) {
    slope[n - 1] += static_cast<float>(calls_.size());
  });
  EXPECT_THAT(
      complaint(),
      AllOf(HasSubstr("planted.cu:15: the fill kernel slopes_of for n=8 (integers): two "
                      "runs gave different data for slope in 1 element, first at element 7"),
            HasSubstr("Next: correct this kernel")));
}

TEST_F(DeclaredFill, AKernelThatChangesAnotherInputIsRefused) {
  plant([](const FakeLaunch&, const float* x, float*, int) { const_cast<float*>(x)[1] = 77.0F; });
  EXPECT_THAT(complaint(), HasSubstr("it changed x, which it does not fill, in 1 element, first "
                                     "at element 1"));
}

TEST_F(DeclaredFill, AKernelThatWritesOutsideIsRefused) {
  plant([](const FakeLaunch&, const float*, float* slope, int n) { slope[n + 1] = 0.0F; });
  EXPECT_THAT(complaint(), HasSubstr("the kernel wrote 4 bytes after slope"));
}

}  // namespace
}  // namespace kiln::testing
