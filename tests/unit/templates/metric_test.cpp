// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The `metric` lines of operations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "templates/operation/judge.hpp"
#include "templates/operation/operation.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/softmax_operation.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::kSoftmaxOperation;
using test::softmax_problem;
using ::testing::AllOf;
using ::testing::HasSubstr;

Operation with_lines(const std::string& lines) {
  std::string source(kSoftmaxOperation);
  const auto at = source.find("//@ flops");
  source.insert(at, lines);
  return Operation::parse("soft.cu", source);
}

std::string metric_error(const std::string& lines) {
  return error_text(ErrorKind::template_, [&] { (void)with_lines(lines); });
}

TEST(Metric, IsComputedFromSizesAndFigures) {
  const Operation operation = with_lines(
      "//@ metric points_per_s = rows * cols / time_s   // matrix elements\n"
      "//@ metric points_per_j = rows * cols / energy_j\n"
      "//@ metric share = rows / 2.0\n");
  ASSERT_EQ(operation.metrics.size(), 3U);
  const Problem problem = softmax_problem(3, 10);
  const RunFigures figures{1000.0, 0.5};
  EXPECT_EQ(operation.metrics[0].name, "points_per_s");
  EXPECT_EQ(operation.metrics[0].comment, "matrix elements");
  EXPECT_DOUBLE_EQ(operation.metric(operation.metrics[0], problem, figures).value(), 30e6);
  EXPECT_DOUBLE_EQ(operation.metric(operation.metrics[1], problem, figures).value(), 60.0);
  EXPECT_DOUBLE_EQ(operation.metric(operation.metrics[2], problem, figures).value(), 1.5);
  EXPECT_FALSE(operation.metric(operation.metrics[1], problem, {1000.0, 0.0}));
  EXPECT_FALSE(operation.metric(operation.metrics[0], problem, {0.0, 0.0})) << "a division by zero";
}

TEST(Metric, MistakesAreShownWhereTheyAre) {
  EXPECT_THAT(metric_error("//@ metric points_per_s\n"), HasSubstr("write a metric as"));
  EXPECT_THAT(metric_error("//@ metric rate = rowz / time_s\n"),
              AllOf(HasSubstr("rowz"), HasSubstr("soft.cu:")));
  EXPECT_THAT(metric_error("//@ metric rows = rows / time_s\n"), HasSubstr("already used"));
  EXPECT_THAT(metric_error("//@ metric time_s = 1\n"), HasSubstr("already used"));
  EXPECT_THAT(metric_error("//@ metric a = 1 / time_s\n//@ metric a = 2 / time_s\n"),
              HasSubstr("two metrics \"a\""));
  EXPECT_THAT(metric_error("//@ trait power_w 0 1\n//@ metric a = 1 / time_s\n"),
              HasSubstr("declares another \"power_w\""));
}

TEST(Metric, NoVerdictDependsOnIt) {
  EXPECT_EQ(judge_digest(with_lines("//@ metric points_per_s = rows / time_s\n")),
            judge_digest(with_lines("")));
}

}  // namespace
}  // namespace kiln
