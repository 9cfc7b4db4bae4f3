// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kiln/error.hpp"
#include "tests/unit/tuner/session_fixture.hpp"
#include "tuner/gemm/setup.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/setup.hpp"

namespace kiln::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(VerificationCases, TheTunedProblemComesFirstAndAsItIs) {
  Gemm gemm = Gemm::of(DType::bf16, 640, 320, 160, Storage::t, Storage::n);
  gemm.lda = 648;
  gemm.reads_c = true;
  const auto cases = verification_cases(gemm, 2.0, -0.5);
  EXPECT_EQ(cases.front().gemm, normalised(gemm));
  for (const auto& one : cases) {
    EXPECT_EQ(one.alpha, 2.0);
    EXPECT_EQ(one.beta, -0.5);
  }
}

TEST(VerificationCases, CoverASingleElementOddSizesAndWholeVectors) {
  const auto cases = verification_cases(Gemm::of(DType::f16, 512, 512, 512), 1.0, 0.0);
  ASSERT_EQ(cases.size(), 5U);
  EXPECT_EQ(cases[1].gemm.m * cases[1].gemm.n * cases[1].gemm.k, 1);
  EXPECT_TRUE(cases[2].gemm.m % 2 == 1 && cases[2].gemm.n % 2 == 1 && cases[2].gemm.k % 2 == 1);
  const Gemm& vectors = cases[4].gemm;
  EXPECT_TRUE(vectors.m % 8 == 0 && vectors.n % 8 == 0 && vectors.k % 8 == 0);
  EXPECT_TRUE(vectors.m % 16 != 0 && vectors.n % 16 != 0 && vectors.k % 16 != 0);
}

TEST(VerificationCases, TheBriefSetStillHasOddSizesAndWholeVectors) {
  const Gemm gemm = Gemm::of(DType::f16, 512, 512, 512);
  const auto all = verification_cases(gemm, 1.0, 0.0);
  const auto brief = verification_cases(gemm, 1.0, 0.0, Thoroughness::brief);
  ASSERT_EQ(brief.size(), 4U);
  EXPECT_EQ(brief[2].gemm, all[2].gemm);
  EXPECT_EQ(brief[3].gemm, all[4].gemm);
}

TEST(DeepCases, TakeARingOfEveryUsualSizeRoundSeveralTimes) {
  constexpr std::int64_t kMost = 1 << 24;
  const Gemm large = Gemm::of(DType::f16, 4096, 4096, 4096);
  const auto cases = deep_cases(large, 2.0, -0.5, kMost);
  ASSERT_GE(cases.size(), 4U);
  const Gemm& first = cases[0].gemm;
  EXPECT_GE(first.k, 8 * 4 * 64) << "four stages of 64, eight times";
  EXPECT_TRUE(first.k % 8 == 0 && first.k % 16 != 0) << "whole vectors, and a ragged last tile";
  EXPECT_EQ(cases[1].gemm.k % 1024, 0);
  EXPECT_EQ(cases[1].gemm.m, first.m);
  for (const auto& one : cases) {
    EXPECT_LE(one.gemm.m * one.gemm.n * one.gemm.k, kMost);
    EXPECT_EQ(one.alpha, 2.0);
    EXPECT_EQ(one.beta, -0.5);
    EXPECT_EQ(to_problem(one.gemm).traits, to_problem(large).traits);
  }
  // Half the bytes of f32, and so twice the depth.
  EXPECT_LT(deep_cases(Gemm::of(DType::f32, 4096, 4096, 4096), 1, 0, kMost)[0].gemm.k, first.k);
}

TEST(DeepCases, AreNeedlessForAProblemThatIsDeepAndIsRun) {
  constexpr std::int64_t kMost = 1 << 24;
  const Gemm thin = Gemm::of(DType::f16, 64, 64, 4000);
  EXPECT_TRUE(deep_cases(thin, 1, 0, kMost).empty());
  EXPECT_TRUE(deep_cases(Gemm::of(DType::f16, 4096, 4096, 4096), 1, 0, 0).empty());
  EXPECT_FALSE(deep_cases(Gemm::of(DType::f16, 64, 64, 512), 1, 0, kMost).empty());
}

/// Any element type, layout, alignment and padding.
Gemm any_gemm() {
  Gemm gemm = Gemm::of(static_cast<DType>(*rc::gen::inRange(0, 10)), *rc::gen::inRange(1, 400),
                       *rc::gen::inRange(1, 400), *rc::gen::inRange(1, 400),
                       static_cast<Storage>(*rc::gen::inRange(0, 2)),
                       static_cast<Storage>(*rc::gen::inRange(0, 2)));
  gemm.reads_c = *rc::gen::arbitrary<bool>();
  for (int* alignment :
       {&gemm.alignment_a, &gemm.alignment_b, &gemm.alignment_c, &gemm.alignment_d}) {
    *alignment = 1 << *rc::gen::inRange(0, 9);
  }
  const Gemm tight = normalised(gemm);
  gemm.lda = tight.lda + *rc::gen::inRange(0, 40);
  gemm.ldb = tight.ldb + *rc::gen::inRange(0, 40);
  gemm.ldc = tight.ldc + *rc::gen::inRange(0, 40);
  gemm.ldd = tight.ldd + *rc::gen::inRange(0, 40);
  return gemm;
}

RC_GTEST_PROP(VerificationCases, AreOfTheSameKindAndPadded, ()) {
  const Gemm gemm = any_gemm();
  const Problem tuned = to_problem(gemm);
  for (const auto& one : verification_cases(gemm, 1.0, 0.0)) {
    const Problem problem = to_problem(one.gemm);
    RC_ASSERT(problem.kind_text() == tuned.kind_text());
    RC_ASSERT(problem.traits == tuned.traits);
    RC_ASSERT(one.gemm == normalised(one.gemm));
    if (problem.sizes == tuned.sizes) continue;
    RC_ASSERT(one.gemm.ldd > one.gemm.n);
    RC_ASSERT(one.gemm.lda > (gemm.storage_a == Storage::n ? one.gemm.k : one.gemm.m));
    RC_ASSERT(one.gemm.ldb > (gemm.storage_b == Storage::n ? one.gemm.n : one.gemm.k));
  }
}

class SetupTest : public ::testing::Test {
 protected:
  EvaluationSetup make(const Gemm& gemm, FakeCompiler& compiler) {
    TuneRequest request;
    request.tuned = problem_case({gemm});
    request.seed = 17;
    request.policy.samples = 5;
    return make_setup(request, compiler, fake_device_info());
  }
  /// What was compiled.
  std::vector<CompileRequest> requests;
  FakeCompiler recording{[this](const CompileRequest& request) {
    requests.push_back(request);
    return FakeCompilation{};
  }};
};

TEST_F(SetupTest, SupportKernelsAreNamedAsTheyAreDeclared) {
  const auto setup = make(Gemm::of(DType::f16, 512, 512, 512), recording);
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(setup.support.names, requests[0].plain_names);
  for (const auto& name : setup.support.names) {
    EXPECT_THAT(requests[0].source, HasSubstr(name + "("));
  }
  EXPECT_THAT(setup.support.names, Contains("kiln_compare_detail"));
  EXPECT_EQ(requests[0].arch, "sm_90a");
  EXPECT_EQ(setup.seed, 17U);
  EXPECT_EQ(setup.policy.samples, 5);
}

TEST_F(SetupTest, TheReferenceKeepsItsResultInFloat64) {
  Gemm gemm = Gemm::of(DType::f16, 512, 256, 128, Storage::t, Storage::n);
  gemm.c = DType::f32;
  gemm.reads_c = true;
  const auto setup = make(gemm, recording);
  ASSERT_EQ(setup.reference.names.size(), 1U);
  EXPECT_THAT(setup.reference.names[0], HasSubstr("gemm_naive<"));
  EXPECT_THAT(setup.reference.names[0], HasSubstr("__half, __half, float, double, double"));
  ASSERT_EQ(setup.reference_geometry.size(), setup.cases.size());
  EXPECT_NE(setup.reference_geometry[0].grid, setup.reference_geometry[1].grid);
}

TEST_F(SetupTest, EveryElementTypeHasAReference) {
  for (const auto type : {DType::f16, DType::bf16, DType::tf32, DType::f32, DType::f64, DType::e4m3,
                          DType::e5m2, DType::s8, DType::u8}) {
    EXPECT_NO_THROW((void)make(Gemm::of(type, 64, 64, 64), recording)) << to_string(type);
  }
}

TEST_F(SetupTest, AFailureShowsTheLogAndTheNextStep) {
  FakeCompiler failing([](const CompileRequest&) {
    FakeCompilation compilation;
    compilation.ok = false;
    compilation.log = "cuda_fp16.h: not found";
    return compilation;
  });
  try {
    (void)make(Gemm::of(DType::f16, 64, 64, 64), failing);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::compiler);
    EXPECT_THAT(error.what(), HasSubstr("cuda_fp16.h: not found"));
    EXPECT_THAT(error.what(), HasSubstr("kiln doctor"));
  }
}

}  // namespace
}  // namespace kiln::testing
