// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/unit/tuner/planted_operations.hpp"
#include "tuner/candidate.hpp"
#include "tuner/verify/verifier.hpp"

namespace kiln::testing {

/// Kernels of planted operations on a fake device, as the verifier judges them.
class DeclaredVerifierTest : public ::testing::Test {
 protected:
  DeclaredVerifierTest() { register_planted_operations(device_); }

  void prepare(const ProblemCase& tuned) {
    verifier_.reset();
    setup_ = declared_setup(tuned);
    kernels_ = std::make_unique<SupportKernels>(ledger_, setup_.support);
    verifier_ = std::make_unique<Verifier>(ledger_, *kernels_, setup_);
  }
  void prepare(std::string_view source, std::vector<NamedValue> sizes,
               std::vector<NamedValue> traits = {}, const std::vector<NamedScalar>& scalars = {}) {
    const Operation& operation = planted_operation(source);
    prepare(declared_case(operation, problem_of(operation, std::move(sizes), std::move(traits)),
                          scalars));
  }
  [[nodiscard]] Verdict judge(const EvaluationJob& job) {
    LoadedCandidate candidate(ledger_, job);
    EXPECT_TRUE(candidate.status().ok()) << candidate.status().message;
    return verifier_->judge(candidate.subject());
  }
  [[nodiscard]] Verification judge(const std::string& name) {
    const Verdict verdict = judge(declared_job(setup_, name));
    EXPECT_TRUE(verdict.status.ok()) << name << ": " << verdict.status.message;
    return verdict.verification;
  }
  void expect_right(const std::string& name) {
    const Verification found = judge(name);
    EXPECT_TRUE(found.passed) << name << ": " << found.evidence;
    EXPECT_EQ(found.evidence, "");
  }
  /// The fault must be found, named as described, and leave no trace for the next candidate.
  void expect_found(const std::string& name, const ::testing::Matcher<std::string>& evidence,
                    const std::string& right) {
    const Verification found = judge(name);
    EXPECT_FALSE(found.passed) << name;
    EXPECT_THAT(found.evidence, evidence) << name;
    expect_right(right);
  }

  FakeDevice device_;
  MemoryLedger ledger_{device_, 16 << 20};
  EvaluationSetup setup_;
  std::unique_ptr<SupportKernels> kernels_;
  std::unique_ptr<Verifier> verifier_;
};

/// The text with its first `from` replaced, which must be there.
inline std::string variant_of(std::string_view source, const std::string& from,
                              const std::string& to) {
  std::string text(source);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

}  // namespace kiln::testing
