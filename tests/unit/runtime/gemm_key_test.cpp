// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/library/gemm_key.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <set>

#include "kiln/error.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/operation/problem.hpp"

namespace kiln::detail {
namespace {

/// Mostly valid problems whose fields come from few values, so that equal ones are common.
Gemm some_gemm() {
  const auto size = [] { return *rc::gen::element<std::int64_t>(0, 1, 2, 7, 16, 24, 4096, -1); };
  const auto type = [] {
    return *rc::gen::element(DType::f16, DType::f32, DType::f64, DType::s8, DType::s32);
  };
  const auto operand = [&] {
    return *rc::gen::inRange(0, 3) == 0 ? *rc::gen::element(DType::s4, DType::b1) : type();
  };
  const auto ld = [] { return *rc::gen::element<std::int64_t>(0, 0, 8, 24, 25, 4096, 4100); };
  const auto alignment = [] { return *rc::gen::element(1, 2, 16, 16, 256, 3, 8192); };
  const auto storage = [] { return *rc::gen::element(Storage::n, Storage::t); };
  Gemm gemm;
  gemm.m = size(), gemm.n = size(), gemm.k = size();
  gemm.a = operand(), gemm.b = operand(), gemm.c = type(), gemm.d = type(), gemm.acc = type();
  gemm.storage_a = storage(), gemm.storage_b = storage();
  gemm.lda = ld(), gemm.ldb = ld(), gemm.ldc = ld(), gemm.ldd = ld();
  gemm.alignment_a = alignment(), gemm.alignment_b = alignment();
  gemm.alignment_c = alignment(), gemm.alignment_d = alignment();
  gemm.reads_c = *rc::gen::arbitrary<bool>();
  return gemm;
}

/// Changes one field, so that near misses are common.
Gemm nudged(Gemm gemm) {
  const Gemm other = some_gemm();
  switch (*rc::gen::inRange(0, 12)) {
    case 0:
      gemm.m = other.m;
      break;
    case 1:
      gemm.k = other.k;
      break;
    case 2:
      gemm.a = other.a;
      break;
    case 3:
      gemm.c = other.c;
      break;
    case 4:
      gemm.acc = other.acc;
      break;
    case 5:
      gemm.storage_b = other.storage_b;
      break;
    case 6:
      gemm.lda = other.lda;
      break;
    case 7:
      gemm.ldc = other.ldc;
      break;
    case 8:
      gemm.alignment_b = other.alignment_b;
      break;
    case 9:
      gemm.alignment_c = other.alignment_c;
      break;
    case 10:
      gemm.reads_c = other.reads_c;
      break;
    default:
      break;
  }
  return gemm;
}

bool sound(const Gemm& gemm) {
  try {
    static_cast<void>(normalised(gemm));
    return true;
  } catch (const Error&) {
    return false;
  }
}

RC_GTEST_PROP(GemmKeyTest, ValidExactlyWhenNormalisationAccepts, ()) {
  Gemm gemm = some_gemm();
  switch (*rc::gen::inRange(0, 16)) {
    case 0:
      gemm.a = DType(77);
      break;
    case 1:
      gemm.c = DType(14);
      break;
    case 2:
      gemm.acc = DType(255);
      break;
    case 3:
      gemm.storage_a = Storage(9);
      break;
    case 5:
      gemm.d = DType::u4;
      break;
    case 4:
      gemm.storage_b = Storage(2);
      break;
    default:
      break;
  }
  RC_ASSERT(make_request(gemm).valid == sound(gemm));
}

RC_GTEST_PROP(GemmKeyTest, KeysAreEqualExactlyWhenProblemsAre, ()) {
  const Gemm left = some_gemm();
  const Gemm right = nudged(left);
  RC_PRE(sound(left) && sound(right));
  const bool same_problem = to_problem(left) == to_problem(right);
  RC_ASSERT((make_request(left).key == make_request(right).key) == same_problem);
}

RC_GTEST_PROP(GemmKeyTest, FillsLeadingDimensionsLikeNormalisation, ()) {
  const Gemm gemm = some_gemm();
  RC_PRE(sound(gemm));
  const Gemm normal = normalised(gemm);
  const LeadingDimensions ld = make_request(gemm).ld;
  RC_ASSERT(ld.a == normal.lda);
  RC_ASSERT(ld.b == normal.ldb);
  RC_ASSERT(ld.c == normal.ldc);
  RC_ASSERT(ld.d == normal.ldd);
}

TEST(GemmKeyTest, EveryTypeOfEveryOperandHasAPlaceOfItsOwn) {
  std::set<std::array<std::uint64_t, 3>> keys;
  std::size_t valid = 0;
  Gemm gemm = Gemm::of(DType::f16, 64, 64, 64);
  gemm.reads_c = true;
  const Gemm usual = gemm;
  for (DType Gemm::*operand : {&Gemm::a, &Gemm::b, &Gemm::c, &Gemm::d, &Gemm::acc}) {
    for (std::size_t i = 0; i < kDTypeNames.size(); ++i) {
      gemm = usual;
      gemm.*operand = static_cast<DType>(i);
      const GemmRequest request = make_request(gemm);
      if (!request.valid || gemm == usual) continue;
      ++valid;
      keys.insert(request.key.words);
    }
  }
  EXPECT_EQ(keys.size(), valid);
  EXPECT_GT(valid, std::size_t{32}) << "of 14 types, most may be in most places";
  // The last place does not reach into the epilogue's half.
  EXPECT_LT(std::uint64_t{kDTypeNames.size()} << 4 * kKeyTypeBits, std::uint64_t{1} << 32);
}

TEST(GemmKeyTest, LargestSizesHaveKeysOfTheirOwn) {
  Gemm gemm = Gemm::of(DType::f16, 2147483647, 2147483647, 2147483647);
  const GemmRequest largest = make_request(gemm);
  EXPECT_TRUE(largest.valid);
  gemm.n -= 1;
  EXPECT_FALSE(make_request(gemm).key == largest.key);
  gemm.n += 2;
  EXPECT_FALSE(make_request(gemm).valid);
}

}  // namespace
}  // namespace kiln::detail
