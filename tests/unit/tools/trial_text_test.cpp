// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/output/trial_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "templates/operation/gemm_problem.hpp"

namespace kiln::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string facts_of(const Trial& trial, const std::string& unchecked = "") {
  FactSheet sheet;
  add_trial_facts(sheet, trial, unchecked);
  return sheet.text();
}

Trial predicted_trial() {
  Trial trial;
  trial.key.problem = to_problem(Gemm::of(DType::f32, 8, 8, 8));
  trial.key.template_name = "t";
  trial.provenance = Provenance::modelled;
  trial.verification = Verification{true, 0.5, ""};
  trial.timing = Timing{{100.0}, 100.0};
  return trial;
}

TEST(TrialText, OnlyExactResultsHaveNoErrors) {
  EXPECT_EQ(error_text(0.0), "no errors");
  EXPECT_EQ(error_text(1e-9), "largest error below 0.01 of the allowed error");
  EXPECT_EQ(error_text(0.976), "largest error 0.98 of the allowed error");
}

TEST(TrialText, EnergyIsShownWhereItWasMeasured) {
  Trial trial = predicted_trial();
  trial.provenance = Provenance::measured;
  EXPECT_THAT(facts_of(trial), Not(HasSubstr("energy")));
  const Objective energy = Objective::read("energy").value();
  EXPECT_EQ(objective_value_text(energy, trial), "");
  trial.timing->energy_j = 0.0456;
  trial.timing->energy_spread_j = 0.0001;
  trial.timing->power_w = 456.0;
  EXPECT_THAT(facts_of(trial), HasSubstr("45.60 mJ +- 100.0 uJ per run, 456.0 W"));
  EXPECT_EQ(objective_value_text(energy, trial), "45.60 mJ");
  EXPECT_EQ(objective_value_text(Objective::read("energy_delay").value(), trial), "4.560 nJ s");
  EXPECT_EQ(objective_value_text(Objective::read("time_ns / 8").value(), trial), "12.5");
}

TEST(TrialText, WhatTheChecksOfADeviceDidNotSeeIsNotCalledVerified) {
  Trial trial = predicted_trial();
  const std::string unchecked = facts_of(trial, "the budget ended before the checks ended");
  EXPECT_THAT(
      unchecked,
      HasSubstr(
          "verified  results only, largest error 0.50 of the allowed error. Kiln did not check for "
          "races, missing waits and similar faults: the budget ended before the checks ended\n"));
  EXPECT_THAT(unchecked, Not(HasSubstr("yes")));
  EXPECT_THAT(facts_of(trial), HasSubstr("similar faults\n"));
  trial.verification->checked = true;
  EXPECT_THAT(facts_of(trial), HasSubstr("yes, largest error 0.50"));
  trial.verification->checked = false;
  trial.provenance = Provenance::measured;
  EXPECT_THAT(facts_of(trial), HasSubstr("yes, largest error 0.50")) << "a GPU has no checks";
}

}  // namespace
}  // namespace kiln::tools
