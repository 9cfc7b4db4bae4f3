// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "templates/operation/gemm_problem.hpp"
#include "tests/unit/templates/expect_error.hpp"

namespace kiln {
namespace {

using test::error_text;
using ::testing::HasSubstr;

std::string why_refused(const Gemm& gemm) {
  return error_text(ErrorKind::usage, [&] { (void)normalised(gemm); });
}

TEST(NormalisedGemm, FillsTightLeadingDimensions) {
  const auto as_written = normalised(Gemm::of(DType::f16, 3, 5, 7));
  EXPECT_EQ(as_written.lda, 7);
  EXPECT_EQ(as_written.ldb, 5);
  EXPECT_EQ(as_written.ldc, 5);
  EXPECT_EQ(as_written.ldd, 5);
  const auto transposed = normalised(Gemm::of(DType::f16, 3, 5, 7, Storage::t, Storage::t));
  EXPECT_EQ(transposed.lda, 3);
  EXPECT_EQ(transposed.ldb, 7);
  EXPECT_EQ(normalised(transposed), transposed);
}

TEST(NormalisedGemm, RefusesWhatCannotBe) {
  const auto good = Gemm::of(DType::f16, 8, 8, 8);
  auto gemm = good;
  gemm.m = -1;
  EXPECT_THAT(why_refused(gemm), HasSubstr("m = -1 is not in the range 0 to 2147483647"));
  gemm = good;
  gemm.k = std::int64_t{1} << 31;
  EXPECT_THAT(why_refused(gemm), HasSubstr("k = 2147483648"));
  gemm = good;
  gemm.lda = 7;
  EXPECT_THAT(why_refused(gemm), HasSubstr("lda = 7"));
  gemm = good;
  gemm.ldb = -8;
  EXPECT_THAT(why_refused(gemm), HasSubstr("ldb = -8"));
  gemm = good;
  gemm.ldd = std::int64_t{1} << 60;
  EXPECT_THAT(why_refused(gemm), HasSubstr("2^63"));
  gemm = good;
  gemm.alignment_a = 12;
  EXPECT_THAT(why_refused(gemm), HasSubstr("alignment_a = 12"));
  gemm = good;
  gemm.alignment_d = 8192;
  EXPECT_THAT(why_refused(gemm), HasSubstr("alignment_d"));
  gemm = good;
  gemm.m = gemm.n = gemm.k = 2147483647;
  EXPECT_NO_THROW((void)normalised(gemm));
}

TEST(NormalisedGemm, PackedRowsFillWholeBytes) {
  auto gemm = Gemm::of(DType::s4, 5, 7, 9, Storage::n, Storage::t);
  EXPECT_EQ(gemm.d, DType::s32);
  EXPECT_EQ(normalised(gemm).lda, 10);
  EXPECT_EQ(normalised(Gemm::of(DType::b1_xor, 5, 7, 9)).ldb, 8);
  gemm.lda = 32 + 8;
  EXPECT_EQ(to_problem(gemm).trait("align_a"), 4) << "20 bytes";
  gemm.lda = 11;
  EXPECT_THAT(why_refused(gemm), HasSubstr("lda = 11 is not a multiple of 2 (one byte holds 2 "));
  gemm.lda = 0;
  gemm.d = DType::u4;
  EXPECT_THAT(why_refused(gemm), HasSubstr("d = u4: only A and B can have packed values"));
}

TEST(NormalisedGemm, SizesMayBeZero) {
  for (const auto& [m, n, k] : {std::array{0, 5, 7}, {3, 0, 7}, {3, 5, 0}, {0, 0, 0}}) {
    for (const char* letters : {"nn", "nt", "tn", "tt"}) {
      const auto [a, b] = parse_layout(letters).value();
      auto gemm = Gemm::of(DType::f16, m, n, k, a, b);
      gemm.reads_c = true;
      const auto normal = normalised(gemm);
      EXPECT_EQ(normal.lda, a == Storage::n ? k : m);
      EXPECT_EQ(normal.ldb, b == Storage::n ? n : k);
      EXPECT_EQ(normalised(normal), normal);
      EXPECT_EQ(to_problem(gemm).size("k"), k);
      EXPECT_EQ(to_problem(gemm).trait("align_c"), n == 0 ? 16 : 2);
      gemm.lda = 11;  // a row of no elements may have a place for some
      EXPECT_EQ(normalised(gemm).lda, 11);
    }
  }
}

TEST(Work, DependsOnTheSizesThatAreZero) {
  const auto work = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return work_of(to_problem(Gemm::of(DType::f16, m, n, k)));
  };
  EXPECT_EQ(work(1, 1, 1), Work::all);
  EXPECT_EQ(work(1, 1, 0), Work::trivial);
  EXPECT_EQ(work(0, 1, 1), Work::none);
  EXPECT_EQ(work(1, 0, 1), Work::none);
  EXPECT_EQ(work(0, 1, 0), Work::none);
  EXPECT_EQ(why_nothing_to_tune(to_problem(Gemm::of(DType::f16, 1, 1, 1))), "");
  EXPECT_THAT(why_nothing_to_tune(to_problem(Gemm::of(DType::f16, 1, 1, 0))),
              HasSubstr("D = beta * C"));
  EXPECT_THAT(why_nothing_to_tune(to_problem(Gemm::of(DType::f16, 0, 1, 0))),
              HasSubstr("D has no elements"));
}

// A cast, or bytes of a file, can produce an invalid enumerator.
TEST(NormalisedGemm, RefusesWhatIsNoEnumerator) {
  const auto good = Gemm::of(DType::f16, 8, 8, 8);
  EXPECT_THAT(why_refused(Gemm::of(DType(77), 8, 8, 8)), HasSubstr("a = DType(77)"));
  for (DType Gemm::*const slot : {&Gemm::a, &Gemm::b, &Gemm::c, &Gemm::d, &Gemm::acc}) {
    auto gemm = good;
    gemm.reads_c = true;
    gemm.*slot = DType(99);
    EXPECT_THAT(why_refused(gemm), HasSubstr("= DType(99) is not an element type"));
    gemm.*slot = DType::s64;
    EXPECT_THAT(why_refused(gemm), HasSubstr("= s64: gemm does not support this type, only f16"));
  }
  auto gemm = good;
  gemm.c = DType(200);
  EXPECT_NO_THROW((void)normalised(gemm)) << "C plays no part";
  gemm.storage_a = Storage(9);
  EXPECT_THAT(why_refused(gemm), HasSubstr("storage_a = Storage(9)"));
  gemm = good;
  gemm.storage_b = Storage(2);
  EXPECT_THAT(why_refused(gemm), HasSubstr("storage_b = Storage(2)"));
}

TEST(NormalisedGemm, ElementsLieOnTheirOwnSize) {
  auto gemm = Gemm::of(DType::f32, 8, 8, 8);
  gemm.alignment_a = 1;
  EXPECT_EQ(normalised(gemm).alignment_a, 4);
}

TEST(NormalisedGemm, AnUnreadCTellsNothingApart) {
  auto gemm = Gemm::of(DType::f16, 8, 8, 8);
  auto other = gemm;
  other.c = DType::f32;
  other.ldc = 1000;
  other.alignment_c = 1;
  EXPECT_EQ(normalised(gemm), normalised(other));
  gemm.reads_c = other.reads_c = true;
  EXPECT_NE(normalised(gemm), normalised(other));
}

TEST(GemmProblem, AlignmentCombinesAddressAndRows) {
  const auto align_a = [](std::int64_t lda, int address, DType type = DType::f16) {
    auto gemm = Gemm::of(type, 64, 64, 64);
    gemm.lda = lda;
    gemm.alignment_a = address;
    return to_problem(gemm).trait("align_a");
  };
  EXPECT_EQ(align_a(64, 256), 16);
  EXPECT_EQ(align_a(64, 4), 4);
  EXPECT_EQ(align_a(65, 256), 2);
  EXPECT_EQ(align_a(66, 256), 4);
  EXPECT_EQ(align_a(68, 256), 8);
  EXPECT_EQ(align_a(72, 256), 16);
  EXPECT_EQ(align_a(65, 256, DType::f64), 8);
  EXPECT_EQ(align_a(65, 256, DType::s8), 1);
}

TEST(Layout, LettersBothWays) {
  const std::pair nt{Storage::n, Storage::t};
  EXPECT_EQ(parse_layout("nt"), nt);
  EXPECT_EQ(parse_layout("n"), std::nullopt);
  EXPECT_EQ(parse_layout("nx"), std::nullopt);
  EXPECT_EQ(parse_layout("ntn"), std::nullopt);
  for (const auto* letters : {"nn", "nt", "tn", "tt"}) {
    const auto layout = parse_layout(letters);
    ASSERT_TRUE(layout);
    EXPECT_EQ(layout_text(layout->first, layout->second), letters);
  }
}

}  // namespace
}  // namespace kiln
