// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Results of which many are right, judged by the operation's own checker; and problems that are
// compared in parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "tests/support/typed_kernel.hpp"
#include "tests/unit/tuner/declared_verifier_fixture.hpp"
#include "tuner/case_parts.hpp"

namespace kiln::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Count = unsigned long long;

/// Where the greatest of every row is: of several equal ones any.
constexpr std::string_view kGreatest = R"(//@ operation  greatest
//@ purpose    A place of the greatest number of each row
//@ size       rows 1..65536
//@ size       cols 1..4096
//@ type       x f32
//@ type       place s32
//@ operand    x in: rows, cols; fill integers 0 2
//@ operand    place out: rows
//@ right      place checker
//@ deterministic 0
//@ independent rows
//@ ragged     rows=1 cols=1
//@ ragged     rows=7 cols=33
//@ flops      rows * cols
//@ checker    greatest_checker<x>
//@   grid     rows
//@   block    32
//@   args     x, place, rows, cols, wrong, first_wrong

void greatest_checker();
)";

/// Sorts in place.
constexpr std::string_view kSorted = R"(//@ operation  sorted
//@ purpose    The same numbers, ascending
//@ size       n 1..4096
//@ type       y f32
//@ operand    y inout: n
//@ right      y checker
//@ ragged     n=7
//@ flops      n
//@ checker    sorted_checker
//@   grid     1
//@   block    1
//@   args     y.f64, y.before, n, wrong

void sorted_checker();
)";

class DeclaredCheckerTest : public DeclaredVerifierTest {
 protected:
  DeclaredCheckerTest() {
    register_typed<const float*, const int*, int, int, Count*, Count*>(
        device_, "greatest_checker<float>",
        [this](const FakeLaunch&, const float* x, const int* place, int rows, int cols,
               Count* wrong, Count* first_wrong) {
          checked_ += rows;
          for (int row = 0; row < rows; ++row) {
            const float* const from = x + row * cols;
            const bool is_inside = place[row] >= 0 && place[row] < cols;
            if (is_inside && from[place[row]] == *std::max_element(from, from + cols)) continue;
            ++*wrong;
            *first_wrong = std::min(*first_wrong, static_cast<Count>(row));
          }
        });
    plant_greatest("greatest_first", [](const float* row, int cols, int) {
      return static_cast<int>(std::max_element(row, row + cols) - row);
    });
    register_typed<const double*, const float*, int, Count*>(
        device_, "sorted_checker",
        [](const FakeLaunch&, const double* y, const float* before, int n, Count* wrong) {
          std::multiset<double> numbers(before, before + n);
          for (int i = 0; i < n; ++i) {
            const auto found = numbers.find(y[i]);
            const bool ascends = i == 0 || y[i - 1] <= y[i];
            if (found == numbers.end() || !ascends) ++*wrong;
            if (found != numbers.end()) numbers.erase(found);
          }
        });
    register_typed<float*, int>(device_, "sorted_right",
                                [](const FakeLaunch&, float* y, int n) { std::sort(y, y + n); });
  }

  /// `find(row, cols, number of the row)` says where.
  template <class Find>
  void plant_greatest(const std::string& name, Find find) {
    register_typed<const float*, int*, int, int>(
        device_, name, [find](const FakeLaunch&, const float* x, int* place, int rows, int cols) {
          for (int row = 0; row < rows; ++row) place[row] = find(x + row * cols, cols, row);
        });
  }

  int checked_ = 0;  ///< rows that the checker has seen
};

TEST_F(DeclaredCheckerTest, AnyOfSeveralRightResultsPasses) {
  prepare(kGreatest, {{"rows", 20}, {"cols", 12}});
  expect_right("greatest_first");
  EXPECT_GT(checked_, 0);
  plant_greatest("greatest_last", [](const float* row, int cols, int) {
    int place = 0;
    for (int i = 0; i < cols; ++i) place = row[i] >= row[place] ? i : place;
    return place;
  });
  expect_right("greatest_last");
}

TEST_F(DeclaredCheckerTest, WhatIsWrongIsCountedAndShown) {
  prepare(kGreatest, {{"rows", 20}, {"cols", 12}});
  plant_greatest("greatest_none", [](const float* row, int cols, int number) {
    const auto place = std::max_element(row, row + cols) - row;
    return number > 4 ? cols + 2 : static_cast<int>(place);
  });
  expect_found("greatest_none",
               AllOf(HasSubstr("rows=7 cols=33 (normal data): element 5: 35, which "
                               "greatest_checker rejects; 2 elements wrong")),
               "greatest_first");
}

TEST_F(DeclaredCheckerTest, ComplexElementThatIsRefusedIsShownWithBothParts) {
  constexpr std::string_view kTurned = R"(//@ operation  turned
//@ purpose    Numbers of any argument and the same modulus
//@ size       n 1..4096
//@ type       x f64
//@ type       y cf64
//@ operand    x in: n; fill integers 1 2
//@ operand    y out: n
//@ right      y checker
//@ ragged     n=7
//@ flops      n
//@ checker    turned_checker
//@   grid     1
//@   block    1
//@   args     x, y, n, wrong, first_wrong

void turned_checker();
)";
  using Complex = std::array<double, 2>;
  register_typed<const double*, const Complex*, int, Count*, Count*>(
      device_, "turned_checker",
      [](const FakeLaunch&, const double* x, const Complex* y, int n, Count* wrong,
         Count* first_wrong) {
        for (int i = 0; i < n; ++i) {
          if (std::hypot(y[i][0], y[i][1]) == std::abs(x[i])) continue;
          ++*wrong;
          *first_wrong = std::min(*first_wrong, static_cast<Count>(i));
        }
      });
  const auto plant = [&](const std::string& name, int from) {
    register_typed<const double*, Complex*, int>(
        device_, name, [from](const FakeLaunch&, const double* x, Complex* y, int n) {
          for (int i = 0; i < n; ++i) y[i] = i < from ? Complex{0, x[i]} : Complex{i + 30.0, -4};
        });
  };
  plant("turned_right", 4096);
  plant("turned_partly", 5);
  prepare(kTurned, {{"n", 20}});
  expect_right("turned_right");
  expect_found("turned_partly",
               HasSubstr("n=7 (normal data): element 5: (35, -4), which turned_checker rejects; 2 "
                         "elements wrong"),
               "turned_right");
}

TEST_F(DeclaredCheckerTest, WhatWasThereBeforeIsKnown) {
  prepare(kSorted, {{"n", 20}});
  expect_right("sorted_right");
  register_typed<float*, int>(device_, "sorted_with_a_copy",
                              [](const FakeLaunch&, float* y, int n) {
                                std::sort(y, y + n);
                                y[0] = y[1];
                              });
  expect_found("sorted_with_a_copy",
               HasSubstr("n=7 (normal data): sorted_checker rejects the result; 1 element wrong"),
               "sorted_right");
}

TEST_F(DeclaredCheckerTest, ACheckerThatDoesNotRunIsAnError) {
  device_.register_kernel(
      "greatest_checker<float>", [](const FakeLaunch&) {}, FakeParameters{});
  prepare(kGreatest, {{"rows", 20}, {"cols", 12}});
  try {
    (void)judge("greatest_first");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_THAT(error.what(), HasSubstr("the checker greatest_checker does not run"));
  }
}

/// Too much for a reference to compute all of it.
std::string of_much_work(std::string_view source, const std::string& name) {
  const std::string text(source);
  const auto begin = text.find("//@ operation  ") + 15;
  return variant_of(variant_of(text, text.substr(begin, text.find('\n') - begin), name),
                    "flops      rows * cols", "flops      rows * cols * 4294967296");
}

TEST_F(DeclaredCheckerTest, HugeProblemsAreCheckedInPart) {
  prepare(of_much_work(kGreatest, "greatest_of_many"), {{"rows", 4096}, {"cols", 4}});
  const Verification found = judge("greatest_first");
  EXPECT_TRUE(found.passed) << found.evidence;
  EXPECT_THAT(found.evidence, HasSubstr(" 8 of 4096 rows"));
  EXPECT_EQ(checked_, 2 * (1 + 7 + 8)) << "of two runs, which may differ; ragged cases are whole";
  plant_greatest("greatest_not_of_last", [](const float* row, int cols, int number) {
    return number == 4095 ? -1 : static_cast<int>(std::max_element(row, row + cols) - row);
  });
  const Verification missed = judge("greatest_not_of_last");
  EXPECT_FALSE(missed.passed);
  EXPECT_THAT(missed.evidence,
              HasSubstr("rows=4096 cols=4 (normal data): element 4095: -1, which"));
}

TEST_F(DeclaredCheckerTest, AReferenceIsGivenTheRowsOfAPart) {
  const std::string text = variant_of(of_much_work(kScaleRows, "scale_many"), "//@ flops",
                                      "//@ independent rows\n//@ flops");
  prepare(text, {{"rows", 4096}, {"cols", 4}});
  const Verification found = judge("scale_right");
  EXPECT_TRUE(found.passed) << found.evidence;
  EXPECT_THAT(found.evidence, HasSubstr(" 8 of 4096 rows"));
  register_typed<const float*, float*, int, int, float>(
      device_, "scale_all_but_last",
      [](const FakeLaunch&, const float* x, float* y, int rows, int cols, float scale) {
        for (int i = 0; i < rows * cols; ++i) y[i] = x[i] * scale;
        if (rows == 4096) y[4095 * cols + 2] += 1.0F;
      });
  const Verification missed = judge("scale_all_but_last");
  EXPECT_THAT(missed.evidence,
              AllOf(HasSubstr("(integers): row 4095 column 2"), HasSubstr("1 element wrong")));
}

/// Doubles in place, by a reference in its own type, and says where the greatest number was.
constexpr std::string_view kDoubled = R"(//@ operation  doubled
//@ purpose    Twice the numbers, and a place of the greatest of each row
//@ size       rows 1..65536
//@ size       cols 1..4096
//@ size       ldy = cols
//@ type       y f32
//@ type       place s32
//@ operand    y inout: rows, cols; ld ldy; fill integers 0 2
//@ operand    place out: rows
//@ right      y exact
//@ right      place checker
//@ independent rows
//@ ragged     rows=3 cols=5 ldy=7
//@ flops      rows * cols * 4294967296
//@ reference  doubled_reference
//@   grid     1
//@   block    1
//@   args     y, rows, cols, ldy
//@ checker    doubled_checker
//@   grid     1
//@   block    1
//@   args     y.before, y, place, rows, cols, ldy, wrong, first_wrong

void doubled_reference();
void doubled_checker();
)";

TEST_F(DeclaredCheckerTest, ReferenceAndCheckerShareAnOperation) {
  register_typed<float*, int, int, int>(
      device_, "doubled_reference", [](const FakeLaunch&, float* y, int rows, int cols, int ldy) {
        for (int row = 0; row < rows; ++row) {
          for (int col = 0; col < cols; ++col) y[row * ldy + col] *= 2.0F;
        }
      });
  register_typed<const float*, const float*, const int*, int, int, int, Count*, Count*>(
      device_, "doubled_checker",
      [](const FakeLaunch&, const float* before, const float* y, const int* place, int rows,
         int cols, int ldy, Count* wrong, Count* first_wrong) {
        for (int row = 0; row < rows; ++row) {
          const float* const from = before + row * ldy;
          const bool is_inside = place[row] >= 0 && place[row] < cols;
          if (is_inside && from[place[row]] == *std::max_element(from, from + cols) &&
              y[row * ldy + place[row]] == 2.0F * from[place[row]]) {
            continue;
          }
          ++*wrong;
          *first_wrong = std::min(*first_wrong, static_cast<Count>(row));
        }
      });
  const auto plant = [&](const std::string& name, int row_of_y, int row_of_place) {
    register_typed<float*, int*, int, int, int>(
        device_, name, [=](const FakeLaunch&, float* y, int* place, int rows, int cols, int ldy) {
          for (int row = 0; row < rows; ++row) {
            float* const from = y + row * ldy;
            place[row] = static_cast<int>(std::max_element(from, from + cols) - from);
            if (row == row_of_place) place[row] = -7;
            for (int col = 0; col < cols; ++col) from[col] *= 2.0F;
            if (row == row_of_y) from[cols - 1] += 1.0F;
          }
        });
  };
  plant("doubled_right", -1, -1);
  plant("doubled_but_last", 4095, -1);
  plant("doubled_without_a_place", -1, 4095);
  const Operation& operation = planted_operation(kDoubled);
  prepare(kDoubled, operation.with_defaults({{"rows", 4096}, {"cols", 4}, {"ldy", 6}}));
  const Verification found = judge("doubled_right");
  EXPECT_TRUE(found.passed) << found.evidence;
  EXPECT_THAT(found.evidence, HasSubstr(" 8 of 4096 rows"));
  EXPECT_THAT(judge("doubled_but_last").evidence, HasSubstr("y, row 4095 column 3"));
  EXPECT_THAT(judge("doubled_without_a_place").evidence,
              HasSubstr("place, element 4095: -7, which doubled_checker rejects"));
}

CaseParts parts_of(const std::string& flops, std::int64_t rows, std::int64_t most_products) {
  const Operation& operation = planted_operation(variant_of(
      variant_of(kGreatest, "greatest\n", "greatest_" + std::to_string(flops.size()) + "\n"),
      "flops      rows * cols", "flops      " + flops));
  return plan_parts(
      operation, declared_case(operation, problem_of(operation, {{"rows", rows}, {"cols", 4}}), {}),
      most_products);
}

TEST(CaseParts, AreOfProblemsThatCostTooMuch) {
  EXPECT_EQ(parts_of("rows * cols", 65536, 0).length, 0) << "2^18 are nothing";
  const CaseParts parts = parts_of("rows * cols", 65536, 1 << 20);
  EXPECT_EQ(parts.length, 1638) << "2^16 of 5 x 2^16 elements: a fifth of the rows, in eight parts";
  EXPECT_EQ(describe(parts), "Kiln compared only 13104 of 65536 rows");
  EXPECT_EQ(parts.extent, 65536);
  EXPECT_EQ(parts_of("rows * cols * 4294967296", 8, 0).length, 0) << "as many as there are parts";
  EXPECT_EQ(parts_of("rows * cols * 4294967296", 9, 0).length, 1);
  const Operation& wide = planted_operation(variant_of(
      variant_of(of_much_work(kGreatest, "greatest_wide"), "rows 1..65536", "rows 64..65536"),
      "ragged     rows=1 cols=1\n//@ ragged     rows=7", "ragged     rows=64"));
  EXPECT_EQ(
      plan_parts(wide, declared_case(wide, problem_of(wide, {{"rows", 4096}, {"cols", 4}}), {}), 0)
          .length,
      64)
      << "no less than the size may be";
  EXPECT_EQ(plan_parts(planted_operation(kScaleRows), {}, 1).length, 0) << "nothing is independent";
}

TEST(CaseParts, LieApartAndReachBothEnds) {
  const CaseParts parts{"rows", 1000, 17, {1}};
  std::set<std::vector<std::int64_t>> drawn;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto starts = part_starts(parts, seed);
    ASSERT_EQ(starts.size(), 8U);
    EXPECT_EQ(starts.front(), 0);
    EXPECT_EQ(starts.back(), 983);
    for (std::size_t i = 1; i < starts.size(); ++i) EXPECT_GE(starts[i] - starts[i - 1], 17);
    drawn.insert(starts);
    EXPECT_EQ(part_starts(parts, seed), starts);
  }
  EXPECT_GT(drawn.size(), 90U);
  EXPECT_EQ(part_starts({}, 3), std::vector<std::int64_t>{0}) << "the whole case";
}

TEST(CaseParts, OperandsHaveTheirShares) {
  const CaseParts parts{"rows", 100, 5, {3, 1, 0}};
  const MatrixShape matrix{300, 4, 6, DType::f16};
  const OperandPart rows = operand_part(parts, 0, matrix, 10);
  EXPECT_EQ(rows.row, 30);
  EXPECT_EQ(rows.shape.rows, 15);
  EXPECT_EQ(rows.shape.ld, 6);
  EXPECT_EQ(rows.offset, 30 * 6 * 2);
  const OperandPart vector = operand_part(parts, 1, {1, 100, 100, DType::f64}, 10);
  EXPECT_EQ(vector.col, 10);
  EXPECT_EQ(vector.shape.cols, 5);
  EXPECT_EQ(vector.offset, 80);
  const OperandPart whole = operand_part(parts, 2, matrix, 10);
  EXPECT_EQ(whole.shape.rows, 300);
  EXPECT_EQ(whole.offset, 0);
}

}  // namespace
}  // namespace kiln::testing
