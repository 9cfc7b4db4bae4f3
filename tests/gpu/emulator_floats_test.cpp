// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Floating-point instructions, lane by lane: identical where PTX defines the result, else within
// the bounds that PTX states.
#include "tests/gpu/emulator_elements.hpp"

namespace kiln::testing {
namespace {

using Floats = ElementTest;

std::vector<ElementOp> joined(std::vector<std::vector<ElementOp>> parts) {
  std::vector<ElementOp> all;
  for (auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

const std::vector<std::string> kRoundings{"rn", "rz", "rm", "rp"};
const std::vector<std::string> kModified{"rn.ftz", "rz.ftz", "rn.sat", "rp.sat", "rn.ftz.sat"};

TEST_F(Floats, Arithmetic32) {
  compare(
      {Kind::f32,
       {Kind::f32, Kind::f32},
       joined(
           {each("add.{}.f32 %0, %1, %2;", kRoundings), each("sub.{}.f32 %0, %1, %2;", kRoundings),
            each("mul.{}.f32 %0, %1, %2;", kRoundings), each("add.{}.f32 %0, %1, %2;", kModified),
            each("sub.{}.f32 %0, %1, %2;", kModified), each("mul.{}.f32 %0, %1, %2;", kModified),
            each("add.{}.f32 %0, %1, %2;", {"", "ftz", "sat"}),
            each("mul.{}.f32 %0, %1, %2;", {"", "ftz", "sat"})})});
}

TEST_F(Floats, FusedMultiplyAdd32) {
  compare({Kind::f32,
           {Kind::f32, Kind::f32, Kind::f32},
           joined({each("fma.{}.f32 %0, %1, %2, %3;", kRoundings),
                   each("fma.{}.f32 %0, %1, %2, %3;", kModified),
                   // Where a product alone decides what .ftz flushes.
                   each("fma.{}.f32 %0, %1, %2, 0f80000000;", kModified)})});
}

TEST_F(Floats, DivisionsAndRoots32) {
  compare(
      {Kind::f32,
       {Kind::f32, Kind::f32},
       joined({each("div.{}.f32 %0, %1, %2;", kRoundings), each("rcp.{}.f32 %0, %1;", kRoundings),
               each("sqrt.{}.f32 %0, %1;", kRoundings), each("div.{}.ftz.f32 %0, %1, %2;", {"rn"}),
               each("rcp.{}.ftz.f32 %0, %1;", {"rn"}), each("sqrt.{}.ftz.f32 %0, %1;", {"rn"})})});
}

TEST_F(Floats, SignsAndOrder32) {
  compare(
      {Kind::f32,
       {Kind::f32, Kind::f32},
       joined({each("min.{}.f32 %0, %1, %2;", {"", "ftz", "NaN", "xorsign.abs", "NaN.xorsign.abs"}),
               each("max.{}.f32 %0, %1, %2;", {"", "ftz", "NaN", "xorsign.abs", "ftz.NaN"}),
               each("{} %0, %1;", {"abs.f32", "neg.f32", "abs.ftz.f32", "neg.ftz.f32"}),
               each("{} %0, %1, %2;", {"copysign.f32"})})});
  compare({Kind::i32,
           {Kind::f32, Kind::f32},
           joined({each("set.{}.u32.f32 %0, %1, %2;",
                        {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu",
                         "geu", "num", "nan", "lt.ftz"}),
                   each(".reg .pred p;\ntestp.{}.f32 p, %1;\nselp.b32 %0, 1, 0, p;",
                        {"finite", "infinite", "number", "notanumber", "normal", "subnormal"})})});
}

TEST_F(Floats, Arithmetic64) {
  compare({Kind::f64,
           {Kind::f64, Kind::f64, Kind::f64},
           joined({each("add.{}.f64 %0, %1, %2;", kRoundings),
                   each("mul.{}.f64 %0, %1, %2;", kRoundings),
                   each("fma.{}.f64 %0, %1, %2, %3;", kRoundings),
                   each("div.{}.f64 %0, %1, %2;", kRoundings),
                   each("rcp.{}.f64 %0, %1;", kRoundings), each("sqrt.{}.f64 %0, %1;", kRoundings),
                   each("{} %0, %1, %2;", {"min.f64", "max.f64", "copysign.f64", "sub.f64"}),
                   each("{} %0, %1;", {"abs.f64", "neg.f64"})})});
}

TEST_F(Floats, ArithmeticOfHalves) {
  compare({Kind::f16,
           {Kind::f16, Kind::f16, Kind::f16},
           joined({each("{} %0, %1, %2;", {"add.f16", "add.ftz.f16", "add.sat.f16", "sub.f16",
                                           "mul.f16", "mul.ftz.sat.f16", "min.f16", "max.f16",
                                           "min.NaN.f16", "max.ftz.f16", "max.xorsign.abs.f16"}),
                   each("fma.{}.f16 %0, %1, %2, %3;", {"rn", "rn.ftz", "rn.sat", "rn.relu"}),
                   each(".reg .b16 z;\nmov.b16 z, 0x8000;\nfma.{}.f16 %0, %1, %2, z;",
                        {"rn.ftz", "rn.ftz.sat"}),
                   each("{} %0, %1;", {"neg.f16", "abs.f16", "abs.ftz.f16"})})});
  compare(
      {Kind::f16x2,
       {Kind::f16x2, Kind::f16x2, Kind::f16x2},
       joined({each("{} %0, %1, %2;", {"add.f16x2", "add.rn.f16x2", "sub.sat.f16x2", "mul.f16x2",
                                       "mul.ftz.f16x2", "min.f16x2", "max.NaN.f16x2"}),
               each("fma.{}.f16x2 %0, %1, %2, %3;", {"rn", "rn.ftz", "rn.sat", "rn.relu"}),
               each("{} %0, %1;", {"neg.f16x2", "abs.f16x2"})})});
}

TEST_F(Floats, ArithmeticOfBf16) {
  compare({Kind::bf16,
           {Kind::bf16, Kind::bf16, Kind::bf16},
           joined({each("{} %0, %1, %2;", {"add.bf16", "sub.bf16", "mul.bf16", "add.rn.bf16",
                                           "min.bf16", "max.NaN.bf16"}),
                   each("fma.{}.bf16 %0, %1, %2, %3;", {"rn", "rn.relu"}),
                   each("{} %0, %1;", {"neg.bf16", "abs.bf16"})})});
  compare(
      {Kind::bf16x2,
       {Kind::bf16x2, Kind::bf16x2, Kind::bf16x2},
       joined({each("{} %0, %1, %2;", {"add.bf16x2", "mul.bf16x2", "min.NaN.bf16x2", "max.bf16x2"}),
               each("fma.{}.bf16x2 %0, %1, %2, %3;", {"rn", "rn.relu"})})});
}

// Bounds of the PTX ISA, over the full range where it states one, and an ulp more for our own
// rounding; NaN for what is out of range on both.
TEST_F(Floats, ApproximateFunctions32) {
  constexpr double kUlp = 1.2e-7;
  constexpr double kLeast = 1.2e-38;
  constexpr double kSubnormal = 2.9e-45;
  compare(
      {Kind::f32,
       {Kind::f32, Kind::f32},
       joined({each("{} %0, %1;", {"rcp.approx.f32", "rcp.approx.ftz.f32"}, 2 * kUlp, kSubnormal),
               each("{} %0, %1;", {"sqrt.approx.f32", "sqrt.approx.ftz.f32"}, 2 * kUlp),
               each("{} %0, %1;", {"rsqrt.approx.f32", "rsqrt.approx.ftz.f32"}, 3 * kUlp),
               each("{} %0, %1;", {"ex2.approx.f32", "ex2.approx.ftz.f32"}, 3 * kUlp, kLeast),
               each("{} %0, %1;", {"lg2.approx.f32", "lg2.approx.ftz.f32"}, 2 * kUlp, 2e-7),
               each("{} %0, %1;", {"tanh.approx.f32"}, 1e-3),
               each("{} %0, %1, %2;", {"div.full.f32", "div.full.ftz.f32"}, 4 * kUlp, kLeast)})});
  // Within the range for which PTX bounds them.
  compare({Kind::f32,
           {Kind::f32},
           each(".reg .f32 x;\nmin.f32 x, %1, 0f40C00000;\nmax.f32 x, x, 0fC0C00000;\n{} %0, x;",
                {"sin.approx.f32", "cos.approx.f32", "sin.approx.ftz.f32"}, 0.0, 1e-6)});
}

TEST_F(Floats, ApproximateFunctionsOfHalves) {
  compare({Kind::f16,
           {Kind::f16},
           each("{} %0, %1;", {"ex2.approx.f16", "tanh.approx.f16"}, 2e-3, 1e-7)});
  compare({Kind::bf16,
           {Kind::bf16},
           each("{} %0, %1;", {"ex2.approx.ftz.bf16", "tanh.approx.bf16"}, 1.6e-2, 1.2e-38)});
  compare({Kind::f64,
           {Kind::f64},
           each("{} %0, %1;", {"rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64"}, 2e-6)});
}

// Not an instruction but a pair: PTX allows a compiler to fuse those without a rounding. The
// emulator does not, so results may differ by the rounding of the product.
TEST_F(Floats, AProductAndASumThatMayBeFused) {
  compare({Kind::f32,
           {Kind::f32, Kind::f32, Kind::f32},
           {{".reg .f32 x;\nmul.rn.f32 x, %1, %2;\nadd.rn.f32 %0, x, %3;"},
            {".reg .f32 x;\nmul.f32 x, %1, %2;\nadd.rn.f32 %0, x, %3;"}}});
}

}  // namespace
}  // namespace kiln::testing
