// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Operands whose rows lie apart: gaps that must not be read or written, and addresses that promise
// less than usual.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/typed_kernel.hpp"
#include "tests/unit/tuner/declared_verifier_fixture.hpp"

namespace kiln::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// y = 2 x and z += x: y has a result in float64, which lies tight, and z one in place.
constexpr std::string_view kPitched = R"(//@ operation  pitched
//@ purpose    Twice every element, and a sum in place
//@ size       rows 1..4096
//@ size       cols 1..4096
//@ size       ldx = cols
//@ size       ldy = cols
//@ type       x f32
//@ type       y f32
//@ type       z f32
//@ trait      align_x 16 4
//@ operand    x in: rows, cols; ld ldx; align align_x
//@ operand    y out: rows, cols; ld ldy
//@ operand    z inout: rows, cols; ld ldx
//@ right      y exact
//@ right      z exact
//@ integers   1000
//@ ragged     rows=3 cols=5 ldx=7 ldy=9
//@ ragged     rows=4 cols=8
//@ flops      rows * cols
//@ reference  pitched_reference
//@   grid     1
//@   block    1
//@   args     x, y.f64, z, rows, cols, ldx

void pitched_reference();
)";

struct Pitched {
  const float* x;
  float *y, *z;
  int rows, cols, ldx, ldy;
  void compute() const {
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) {
        y[row * ldy + col] = 2.0F * x[row * ldx + col];
        z[row * ldx + col] += x[row * ldx + col];
      }
    }
  }
};

class DeclaredLayoutTest : public DeclaredVerifierTest {
 protected:
  DeclaredLayoutTest() {
    register_typed<const float*, double*, float*, int, int, int>(
        device_, "pitched_reference",
        [](const FakeLaunch&, const float* x, double* y, float* z, int rows, int cols, int ldx) {
          for (int row = 0; row < rows; ++row) {
            for (int col = 0; col < cols; ++col) {
              y[row * cols + col] = 2.0 * static_cast<double>(x[row * ldx + col]);
              z[row * ldx + col] += x[row * ldx + col];
            }
          }
        });
    plant("pitched_right", [](const Pitched&) {});
  }

  /// A kernel that is right, and then does something else.
  template <class Damage>
  void plant(const std::string& name, Damage damage) {
    register_typed<const float*, float*, float*, int, int, int, int>(
        device_, name,
        [damage](const FakeLaunch&, const float* x, float* y, float* z, int rows, int cols, int ldx,
                 int ldy) {
          const Pitched args{x, y, z, rows, cols, ldx, ldy};
          args.compute();
          damage(args);
        });
  }

  void prepare_pitched(std::vector<NamedValue> sizes, std::int64_t align_x = 16) {
    const Operation& operation = planted_operation(kPitched);
    prepare(kPitched, operation.with_defaults(std::move(sizes)), {{"align_x", align_x}});
  }
};

TEST_F(DeclaredLayoutTest, RightKernelsPass) {
  prepare_pitched({{"rows", 6}, {"cols", 9}, {"ldx", 12}, {"ldy", 10}});
  expect_right("pitched_right");
  prepare_pitched({{"rows", 6}, {"cols", 9}}, 4);
  expect_right("pitched_right");
}

TEST_F(DeclaredLayoutTest, WritesBetweenRowsAreFound) {
  prepare_pitched({{"rows", 6}, {"cols", 9}});
  plant("pitched_into_gap_of_z", [](const Pitched& args) {
    if (args.ldx > args.cols) args.z[args.ldx + args.cols] = 7.0F;
  });
  expect_found("pitched_into_gap_of_z",
               AllOf(HasSubstr("rows=3 cols=5 ldx=7 ldy=9 (integers)"),
                     HasSubstr("wrote into the padding of z in 1 element, first at row 1")),
               "pitched_right");
  plant("pitched_into_gap_of_y", [](const Pitched& args) {
    if (args.ldy > args.cols) args.y[2 * args.ldy - 1] = 7.0F;
  });
  expect_found("pitched_into_gap_of_y",
               HasSubstr("wrote 4 bytes into the padding of y, first at row 1 column 8"),
               "pitched_right");
}

TEST_F(DeclaredLayoutTest, GapsAreNotNumbers) {
  prepare_pitched({{"rows", 6}, {"cols", 9}});
  plant("pitched_reads_gap", [](const Pitched& args) {
    if (args.ldx > args.cols) args.y[0] += 0.0F * args.x[args.cols];
  });
  expect_found("pitched_reads_gap",
               AllOf(HasSubstr("y, row 0 column 0: nan"), HasSubstr("1 element wrong")),
               "pitched_right");
}

TEST_F(DeclaredLayoutTest, WhatTakesRowsForTightIsFoundWhereTheTunedOnesAre) {
  prepare_pitched({{"rows", 6}, {"cols", 9}});
  plant("pitched_tight", [](const Pitched& args) {
    for (int i = 0; i < args.rows * args.cols; ++i) args.y[i] = 2.0F * args.x[i];
  });
  expect_found("pitched_tight", HasSubstr("rows=3 cols=5 ldx=7 ldy=9 (integers): y, row"),
               "pitched_right");
}

TEST_F(DeclaredLayoutTest, AddressesPromiseNoMoreThanIsDeclared) {
  const Operation& operation = planted_operation(kPitched);
  const auto alignment_of = [&](std::int64_t align_x) {
    const Problem problem =
        problem_of(operation, operation.with_defaults({{"rows", 2}, {"cols", 3}, {"ldx", 5}}),
                   {{"align_x", align_x}});
    return declared_case(operation, problem, {}).operands[0].shape.alignment;
  };
  EXPECT_EQ(alignment_of(16), 256) << "what allocators give";
  EXPECT_EQ(alignment_of(4), 4);
  std::uintptr_t bits = 0;
  plant("pitched_looks",
        [&](const Pitched& args) { bits |= reinterpret_cast<std::uintptr_t>(args.x); });
  prepare_pitched({{"rows", 6}, {"cols", 9}}, 4);
  expect_right("pitched_looks");
  EXPECT_EQ(bits % 8, 4U) << "a kernel that relies on more is caught";
}

}  // namespace
}  // namespace kiln::testing
