// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/gemm/run_check.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "templates/operation/problem.hpp"
#include "tests/support/host_element.hpp"

namespace kiln::tools {
namespace {

TEST(HostElement, EveryTypeHoldsWhatIsStoredExactly) {
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i < kDTypeNames.size(); ++i) {
    const auto type = static_cast<DType>(i);
    if (!is_product_type(type)) continue;
    bool differ = false;
    double first = 0.0;
    for (int draw = 0; draw < 500; ++draw) {
      const double value = random_element(type, random);
      std::byte bytes[8] = {};
      store_exact(type, value, bytes);
      ASSERT_EQ(load_element(type, bytes), value) << kDTypeNames[i];
      if (draw == 0) first = value;
      differ = differ || value != first;
    }
    EXPECT_TRUE(differ) << kDTypeNames[i];
  }
}

TEST(HostElement, ReadsKnownPatterns) {
  const auto f16 = [](std::uint16_t bits) {
    return load_element(DType::f16, reinterpret_cast<const std::byte*>(&bits));
  };
  EXPECT_EQ(f16(0x3c00), 1.0);
  EXPECT_EQ(f16(0xc000), -2.0);
  EXPECT_EQ(f16(0x0001), std::ldexp(1.0, -24));  // the least subnormal
  EXPECT_EQ(f16(0x7bff), 65504.0);
  EXPECT_TRUE(std::isinf(f16(0x7c00)));
  EXPECT_TRUE(std::isnan(f16(0x7e00)));
  const std::uint8_t e4m3_largest = 0x7e;
  const std::uint8_t e4m3_nan = 0x7f;
  EXPECT_EQ(load_element(DType::e4m3, reinterpret_cast<const std::byte*>(&e4m3_largest)), 448.0);
  EXPECT_TRUE(std::isnan(load_element(DType::e4m3, reinterpret_cast<const std::byte*>(&e4m3_nan))));
}

// The first of packed values is in the lowest bits, and rows in memory are what is packed.
TEST(HostMatrix, ReadsPackedValues) {
  const auto filled = [](DType type, Storage storage) {
    HostMatrix matrix(type, 2, 16, storage, 16);
    for (std::size_t i = 0; i < matrix.bytes().size(); ++i) {
      matrix.bytes()[i] = static_cast<std::byte>(0x1f + i);
    }
    return matrix;
  };
  const HostMatrix s4 = filled(DType::s4, Storage::n);
  EXPECT_EQ(s4.at(0, 0), -1.0);
  EXPECT_EQ(s4.at(0, 1), 1.0);
  EXPECT_EQ(s4.at(1, 2), -8.0);
  const HostMatrix u4 = filled(DType::u4, Storage::n);
  EXPECT_EQ(u4.at(0, 0), 15.0);
  EXPECT_EQ(u4.at(1, 1), 2.0);
  const HostMatrix b1 = filled(DType::b1, Storage::t);
  EXPECT_EQ(b1.at(4, 0), 1.0);
  EXPECT_EQ(b1.at(5, 0), 0.0);
  EXPECT_EQ(b1.at(5, 1), 1.0) << "0x21, the second row in memory";
}

/// A gemm with its result computed here, in the simplest way: float32 sums, rounded to D's type.
HostOperands solved(const GemmCase& request) {
  HostOperands operands(request);
  operands.a.fill_random(1);
  operands.b.fill_random(2);
  operands.c.fill_random(3);
  operands.d.poison();
  for (std::int64_t row = 0; row < request.gemm.m; ++row) {
    for (std::int64_t column = 0; column < request.gemm.n; ++column) {
      float sum = 0.0F;
      for (std::int64_t depth = 0; depth < request.gemm.k; ++depth) {
        sum += static_cast<float>(operands.a.at(row, depth) * operands.b.at(depth, column));
      }
      const double result =
          request.alpha * static_cast<double>(sum) + request.beta * operands.c.at(row, column);
      testing::store_element(request.gemm.d, operands.d.bytes().data(),
                             row * request.gemm.ldd + column, result);
    }
  }
  return operands;
}

GemmCase small_request() {
  Gemm gemm = Gemm::of(DType::f32, 9, 7, 33, Storage::t, Storage::n);
  gemm.reads_c = true;
  gemm.lda = 12;
  gemm.ldb = 8;
  gemm.ldc = 9;
  gemm.ldd = 10;
  return {gemm, 0.5, 2.0};
}

TEST(RunCheck, AcceptsARightResult) {
  const auto request = small_request();
  const auto check = check_result(request, solved(request), 1000, 1);
  EXPECT_EQ(check.checked, 63);
  EXPECT_EQ(check.wrong, 0) << check.evidence;
  EXPECT_LE(check.worst_ratio, 1.0);
}

TEST(RunCheck, WithoutAProductDIsTheScaledC) {
  auto request = small_request();
  request.gemm.k = 0;
  request.gemm.lda = request.gemm.ldb = 0;
  request.gemm = normalised(request.gemm);
  auto operands = solved(request);
  EXPECT_EQ(check_result(request, operands, 1000, 1).wrong, 0);
  operands.d.poison();
  EXPECT_EQ(check_result(request, operands, 1000, 1).wrong, 63);
  request.gemm.n = 0;
  EXPECT_EQ(check_result(request, HostOperands(request), 1000, 1).checked, 0);
}

TEST(RunCheck, FindsOneWrongElement) {
  const auto request = small_request();
  auto operands = solved(request);
  const auto at = static_cast<std::size_t>((4 * request.gemm.ldd + 5) * 4);
  const double right = load_element(DType::f32, operands.d.bytes().data() + at);
  store_exact(DType::f32, right + 0.01, operands.d.bytes().data() + at);
  const auto check = check_result(request, operands, 1000, 1);
  EXPECT_EQ(check.wrong, 1);
  EXPECT_GT(check.worst_ratio, 1.0);
  EXPECT_EQ(check.evidence.find("row 4 column 5: "), 0u) << check.evidence;
}

TEST(RunCheck, FindsAPeakThatWasNotRecorded) {
  auto request = small_request();
  request.gemm.reads_c = false;
  request.gemm.epilogue = Epilogue("amax(acc*alpha,peak[m])");
  request.gemm = normalised(request.gemm);
  request.beta = 0.0;
  auto operands = solved(request);
  for (std::int64_t row = 0; row < request.gemm.m; ++row) {
    double peak = 0.0;
    for (std::int64_t column = 0; column < request.gemm.n; ++column) {
      peak = std::fmax(peak, std::fabs(operands.d.at(row, column)));
    }
    store_exact(DType::f32, peak, operands.epilogue[0].bytes().data() + row * 4);
  }
  EXPECT_EQ(check_result(request, operands, 1000, 1).wrong, 0);
  EXPECT_EQ(check_result(request, operands, 20, 1).wrong, 0);
  store_exact(DType::f32, 0.0, operands.epilogue[0].bytes().data() + 8);
  const auto check = check_result(request, operands, 1000, 1);
  EXPECT_EQ(check.wrong, 1);
  EXPECT_EQ(check.evidence.find("peak, element 2: amax recorded nothing, expected "), 0u)
      << check.evidence;
}

TEST(RunCheck, FindsWhatWasNeverWritten) {
  const auto request = small_request();
  auto operands = solved(request);
  operands.d.poison();
  const auto check = check_result(request, operands, 20, 1);
  EXPECT_EQ(check.checked, 20);
  EXPECT_EQ(check.wrong, 20);
  EXPECT_TRUE(std::isinf(check.worst_ratio));
}

GemmCase f16_request(std::int64_t k, double alpha) {
  return {normalised(Gemm::of(DType::f16, 16, 12, k)), alpha, 0.0};
}

TEST(RunCheck, AResultBeyondTheTypesRangeIsInfinite) {
  const auto request = f16_request(4096, 1000.0);
  const auto operands = solved(request);
  int infinities = 0;
  for (std::int64_t row = 0; row < 16; ++row) {
    for (std::int64_t column = 0; column < 12; ++column) {
      infinities += std::isinf(operands.d.at(row, column)) ? 1 : 0;
    }
  }
  ASSERT_GT(infinities, 10);
  ASSERT_LT(infinities, 182);
  const auto check = check_result(request, operands, 1000, 1);
  EXPECT_EQ(check.wrong, 0) << check.evidence;
  EXPECT_LE(check.worst_ratio, 1.0);
}

TEST(RunCheck, AResultBelowTheTypesNormalRangeMayLoseDigits) {
  for (const double alpha : {1e-6, 1e-8}) {
    const auto request = f16_request(64, alpha);
    const auto check = check_result(request, solved(request), 1000, 1);
    EXPECT_EQ(check.wrong, 0) << check.evidence;
    EXPECT_LE(check.worst_ratio, 1.0);
  }
}

TEST(RunCheck, IntegersAreComparedExactly) {
  const GemmCase request{normalised(Gemm::of(DType::s8, 5, 6, 30)), 1.0, 0.0};
  auto operands = solved(request);
  EXPECT_EQ(check_result(request, operands, 1000, 1).wrong, 0);
  operands.d.bytes()[0] ^= std::byte{1};
  EXPECT_EQ(check_result(request, operands, 1000, 1).wrong, 1);
}

}  // namespace
}  // namespace kiln::tools
