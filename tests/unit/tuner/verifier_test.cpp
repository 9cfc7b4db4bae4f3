// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Faults that a template author might plant, each of which the verifier must find and name.
#include "tuner/verify/verifier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "kiln/error.hpp"
#include "tests/unit/tuner/planted_kernels.hpp"
#include "tuner/candidate.hpp"
#include "tuner/gemm/case.hpp"
#include "tuner/gemm/reference.hpp"
#include "tuner/verify/workload.hpp"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class VerifierTest : public ::testing::Test {
 protected:
  void prepare(const std::vector<GemmCase>& cases) {
    setup_ = testing::planted_setup(cases);
    verifier_ = std::make_unique<Verifier>(ledger_, kernels(), setup_);
  }
  SupportKernels& kernels() {
    if (!kernels_) kernels_ = std::make_unique<SupportKernels>(ledger_, setup_.support);
    return *kernels_;
  }
  Verification judge(const std::string& name, std::int64_t workspace_bytes = 0) {
    if (!verifier_) prepare(testing::planted_cases());
    EvaluationJob job = testing::planted_job(setup_, name);
    job.workspace_bytes.assign(setup_.cases.size(), workspace_bytes);
    if (workspace_bytes > 0) job.workspace_bytes[0] = workspace_bytes * 2;
    LoadedCandidate candidate(ledger_, job);
    EXPECT_TRUE(candidate.status().ok()) << candidate.status().message;
    const Verdict verdict = verifier_->judge(candidate.subject());
    EXPECT_TRUE(verdict.status.ok()) << verdict.status.message;
    return verdict.verification;
  }
  /// The fault must be found, named as described, and leave no trace for the next candidate.
  void expect_found(const std::string& name, const ::testing::Matcher<std::string>& evidence) {
    const Verification found = judge(name);
    EXPECT_FALSE(found.passed) << name;
    EXPECT_THAT(found.evidence, evidence) << name;
    const Verification next = judge("right");
    EXPECT_TRUE(next.passed) << "after " << name << ": " << next.evidence;
  }

  std::unique_ptr<testing::FakeDevice> device_ = testing::make_planted_device();
  MemoryLedger ledger_{*device_, 64 << 20};
  EvaluationSetup setup_ = testing::planted_setup(testing::planted_cases());
  std::unique_ptr<SupportKernels> kernels_;
  std::unique_ptr<Verifier> verifier_;
};

TEST_F(VerifierTest, ARightKernelPasses) {
  const Verification found = judge("right");
  EXPECT_TRUE(found.passed) << found.evidence;
  EXPECT_EQ(found.evidence, "");
  EXPECT_GT(found.worst_ratio, 0.0);
  EXPECT_LE(found.worst_ratio, 1.0);
}

TEST_F(VerifierTest, WrongElementsAreNamedWithValueAndExpectation) {
  expect_found("shifts_rows", AllOf(HasSubstr("m=17 n=13 k=23 (integers): row 1 column"),
                                    HasSubstr("expected"), HasSubstr("elements wrong")));
}

TEST_F(VerifierTest, ElementsThatWereNotWrittenAreNaN) {
  expect_found("skips_last_row", AllOf(HasSubstr("row 16 column 0"), HasSubstr("never written"),
                                       HasSubstr("13 elements wrong")));
}

TEST_F(VerifierTest, ScalarsMustBeApplied) {
  expect_found("forgets_beta", HasSubstr("(integers): row 0"));
  expect_found("forgets_alpha", HasSubstr("(integers): row 0"));
}

TEST_F(VerifierTest, ALostTailOfKIsFoundOnTheRaggedCase) {
  expect_found("drops_k_tail", HasSubstr("m=17 n=13 k=23 (integers)"));
}

TEST_F(VerifierTest, LeadingDimensionsMatter) {
  expect_found("uses_ld_of_d_for_c", HasSubstr("m=17 n=13 k=23 (integers): row 1"));
  expect_found("reads_padding", AllOf(HasSubstr("row 0 column 0"), HasSubstr("nan")));
}

TEST_F(VerifierTest, PrecisionLossThatIntegersHideIsFoundOnRandomData) {
  expect_found("slightly_off",
               AllOf(HasSubstr("(normal data): row 0"), HasSubstr("allowed error")));
}

TEST_F(VerifierTest, CMustNotBeReadWhenBetaIsZero) {
  expect_found("reads_c_always",
               AllOf(HasSubstr("m=24 n=20 k=40 (normal data): row 0 column 0"), HasSubstr("nan")));
}

TEST_F(VerifierTest, WritesOutsideAreFound) {
  expect_found("writes_padding", AllOf(HasSubstr("padding of D"), HasSubstr("row 2 column 13")));
  expect_found("writes_behind", HasSubstr("after D, first at offset 24 from the end of D"));
  expect_found("writes_before", HasSubstr("before D, first at offset -8 from the start of D"));
}

TEST_F(VerifierTest, ChangedInputsAreFound) {
  expect_found("changes_input", HasSubstr("changed input B in 1 element, first at row 1 column 1"));
}

TEST_F(VerifierTest, TheSecondRunWorksInPlaceWhereItMay) {
  Gemm gemm = Gemm::of(DType::f32, 9, 11, 13);
  gemm.reads_c = true;
  gemm.ldc = 16;
  gemm.ldd = 12;
  prepare({{gemm, 1.0, 2.0}});
  EXPECT_TRUE(judge("keeps_the_product_in_d").passed) << "rows of C and D are of other lengths";
  gemm.ldc = 12;
  gemm.alignment_d = 4;
  prepare({{gemm, 1.0, 2.0}});
  EXPECT_TRUE(judge("keeps_the_product_in_d").passed) << "D need not be aligned as C is";
  gemm.alignment_c = 4;
  prepare({{gemm, 1.0, 0.0}});
  EXPECT_FALSE(judge("keeps_the_product_in_d").passed) << "integers have a beta";
  prepare({{gemm, 1.0, 2.0}});
  EXPECT_TRUE(judge("right").passed);
  expect_found("keeps_the_product_in_d",
               HasSubstr("(integers): two runs gave different results (in the second run, C and D "
                         "were the same array)"));
  expect_found("writes_padding_in_place", HasSubstr("padding of D (in-place run) in 1 element"));
}

TEST_F(VerifierTest, AProblemWithoutAProductIsChecked) {
  Gemm gemm = Gemm::of(DType::f32, 9, 11, 0);
  gemm.reads_c = true;
  gemm.ldd = 16;
  prepare({{gemm, 1.5, 0.7}});
  const Verification found = judge("right");
  EXPECT_TRUE(found.passed) << found.evidence;
  expect_found("forgets_beta", HasSubstr("m=9 n=11 k=0 (integers): row 0"));
  expect_found("skips_last_row", HasSubstr("row 8"));
  gemm.reads_c = false;
  prepare({{gemm, 1.5, 0.0}});
  EXPECT_TRUE(judge("right").passed);
}

TEST_F(VerifierTest, RacesShowAsRunsThatDiffer) {
  expect_found("unstable",
               HasSubstr("two runs gave different results in 1 element, first at row 0 column 1"));
}

TEST_F(VerifierTest, WorkspaceEndsWhereTheTemplateSaid) {
  // The kernel writes m + 1 bytes: one too many for the ragged case's 17.
  const Verification overrun = judge("overruns_workspace", 17);
  EXPECT_FALSE(overrun.passed);
  EXPECT_THAT(overrun.evidence, HasSubstr("after the workspace, first at offset 0 "));
  EXPECT_TRUE(judge("overruns_workspace", 25).passed);
}

TEST_F(VerifierTest, EveryStorageAndTypePasses) {
  for (const DType type : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::s8}) {
    for (const Storage a : {Storage::n, Storage::t}) {
      for (const Storage b : {Storage::n, Storage::t}) {
        Gemm gemm = Gemm::of(type, 9, 11, 13, a, b);
        gemm.reads_c = true;
        prepare({{gemm, 1.0, 2.0}});
        const Verification found = judge("right");
        EXPECT_TRUE(found.passed) << to_string(type) << " " << found.evidence;
      }
    }
  }
}

TEST_F(VerifierTest, OnAnEmulatedDeviceAQuarterOfTheMemoryIsForWhatIsVerified) {
  const ProblemCase& one = setup_.cases.front();
  DeviceInfo info;
  info.most_products = std::int64_t{1} << 40;
  info.total_memory_bytes = 4 * static_cast<std::int64_t>(OperandSet::judged_bytes(one));
  EXPECT_TRUE(is_checkable(info, one));
  info.total_memory_bytes -= 4;
  EXPECT_FALSE(is_checkable(info, one));
  info.most_products = 0;  // a GPU, where what does not fit is refused
  EXPECT_TRUE(is_checkable(info, one));
}

TEST_F(VerifierTest, RefusesWhatDoesNotFitIntoMemory) {
  try {
    prepare({{Gemm::of(DType::f32, 2048, 2048, 2048), 1.0, 0.0}});
    FAIL() << "it fits";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("MiB"), HasSubstr("smaller problem")));
  }
}

TEST_F(VerifierTest, RefusesBetaWithoutC) {
  EXPECT_THROW(prepare({{Gemm::of(DType::f32, 8, 8, 8), 1.0, 1.0}}), Error);
}

TEST_F(VerifierTest, ReturnsAllItsMemory) {
  const std::size_t before = device_->live_allocations();
  {
    MemoryLedger ledger(*device_, 64 << 20);
    SupportKernels support(ledger, setup_.support);
    const Verifier verifier(ledger, support, setup_);
    EXPECT_GT(device_->live_allocations(), before);
  }
  EXPECT_EQ(device_->live_allocations(), before);
}

TEST(CheckedRows, AreAllRowsOfAnAffordableProblem) {
  const auto blocks = checked_rows(Gemm::of(DType::f16, 4096, 4096, 4096), DataKind::normal);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].first, 0);
  EXPECT_EQ(blocks[0].rows, 4096);
}

TEST(CheckedRows, OfAHugeProblemReachIntoEveryTileOf128Rows) {
  const Gemm gemm = Gemm::of(DType::bf16, 8192, 8192, 8192);
  for (const DataKind kind : {DataKind::integer, DataKind::normal}) {
    const auto blocks = checked_rows(gemm, kind);
    std::vector<bool> touched(8192 / 128, false);
    std::int64_t end = 0;
    for (const RowBlock& block : blocks) {
      EXPECT_GE(block.first, end) << "blocks overlap";
      end = block.first + block.rows;
      touched[static_cast<std::size_t>(block.first / 128)] = true;
      touched[static_cast<std::size_t>((end - 1) / 128)] = true;
    }
    EXPECT_LE(end, gemm.m);
    EXPECT_EQ(std::count(touched.begin(), touched.end(), false), 0);
  }
  EXPECT_EQ(checked_rows(gemm, DataKind::integer).front().first, 0);
  const RowBlock last = checked_rows(gemm, DataKind::normal).back();
  EXPECT_EQ(last.first + last.rows, gemm.m);
}

}  // namespace
}  // namespace kiln
