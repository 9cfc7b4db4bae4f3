// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Floating-point instructions, lane by lane: identical where PTX defines the result, else within
// the bounds that PTX states.
#include "tests/gpu/emulator_elements.hpp"

namespace kiln::testing {
namespace {

using Floats = ElementTest;

const std::vector<std::string> kFloatRoundings{"rn", "rz", "rm", "rp"};
const std::vector<std::string> kModified{"rn.ftz", "rz.ftz", "rn.sat", "rp.sat", "rn.ftz.sat"};

TEST_F(Floats, Arithmetic32) {
  compare(
      {Kind::f32,
       {Kind::f32, Kind::f32},
       joined({each("add.{}.f32 %0, %1, %2;", kFloatRoundings),
               each("sub.{}.f32 %0, %1, %2;", kFloatRoundings),
               each("mul.{}.f32 %0, %1, %2;", kFloatRoundings),
               each("add.{}.f32 %0, %1, %2;", kModified), each("sub.{}.f32 %0, %1, %2;", kModified),
               each("mul.{}.f32 %0, %1, %2;", kModified),
               each("add.{}.f32 %0, %1, %2;", {"", "ftz", "sat"}),
               each("mul.{}.f32 %0, %1, %2;", {"", "ftz", "sat"})})});
}

TEST_F(Floats, FusedMultiplyAdd32) {
  compare({Kind::f32,
           {Kind::f32, Kind::f32, Kind::f32},
           joined({each("fma.{}.f32 %0, %1, %2, %3;", kFloatRoundings),
                   each("fma.{}.f32 %0, %1, %2, %3;", kModified),
                   // Where only a product decides what .ftz flushes.
                   each("fma.{}.f32 %0, %1, %2, 0f80000000;", kModified)})});
}

TEST_F(Floats, DivisionsAndRoots32) {
  compare(
      {Kind::f32,
       {Kind::f32, Kind::f32},
       joined({each("div.{}.f32 %0, %1, %2;", kFloatRoundings),
               each("rcp.{}.f32 %0, %1;", kFloatRoundings),
               each("sqrt.{}.f32 %0, %1;", kFloatRoundings),
               each("div.{}.ftz.f32 %0, %1, %2;", {"rn"}), each("rcp.{}.ftz.f32 %0, %1;", {"rn"}),
               each("sqrt.{}.ftz.f32 %0, %1;", {"rn"})})});
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
           joined({each("add.{}.f64 %0, %1, %2;", kFloatRoundings),
                   each("mul.{}.f64 %0, %1, %2;", kFloatRoundings),
                   each("fma.{}.f64 %0, %1, %2, %3;", kFloatRoundings),
                   each("div.{}.f64 %0, %1, %2;", kFloatRoundings),
                   each("rcp.{}.f64 %0, %1;", kFloatRoundings),
                   each("sqrt.{}.f64 %0, %1;", kFloatRoundings),
                   each("{} %0, %1, %2;", {"min.f64", "max.f64", "copysign.f64", "sub.f64"}),
                   each("{} %0, %1;", {"abs.f64", "neg.f64"})})});
}

TEST_F(Floats, ArithmeticOfHalves) {
  compare(
      {Kind::f16,
       {Kind::f16, Kind::f16, Kind::f16},
       joined({each("{} %0, %1, %2;", {"add.f16", "add.ftz.f16", "add.sat.f16", "sub.f16",
                                       "mul.f16", "mul.ftz.sat.f16", "min.f16", "max.f16",
                                       "min.NaN.f16", "max.ftz.f16", "max.xorsign.abs.f16"}),
               each("fma.{}.f16 %0, %1, %2, %3;", {"rn", "rn.ftz", "rn.sat", "rn.relu", "rn.oob"}),
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
                   each("fma.{}.bf16 %0, %1, %2, %3;", {"rn", "rn.relu", "rn.oob.relu"}),
                   each("{} %0, %1;", {"neg.bf16", "abs.bf16"})})});
  compare(
      {Kind::bf16x2,
       {Kind::bf16x2, Kind::bf16x2, Kind::bf16x2},
       joined({each("{} %0, %1, %2;", {"add.bf16x2", "mul.bf16x2", "min.NaN.bf16x2", "max.bf16x2"}),
               each("fma.{}.bf16x2 %0, %1, %2, %3;", {"rn", "rn.relu"})})});
}

// Bounds that the PTX ISA states with each instruction, and half a unit in the last place more for
// our own rounding; where it states none (rcp and rsqrt of f64), what both are known to keep. NaN
// for what is out of range on both.
constexpr double kUlp = 0x1p-23;     // of f32, relative: 2^-24 to 2^-23
constexpr double kLeast = 0x1p-126;  // where .ftz may round to zero or not
constexpr double kSubnormal = 0x1p-148;

TEST_F(Floats, ApproximateFunctions32) {
  compare(
      {Kind::f32,
       {Kind::f32, Kind::f32},
       joined({each("{} %0, %1;", {"rcp.approx.f32", "rcp.approx.ftz.f32"}, 1.5 * kUlp, kSubnormal),
               each("{} %0, %1;", {"sqrt.approx.f32", "sqrt.approx.ftz.f32"}, 1.5 * kUlp),
               // 2^-22.9.
               each("{} %0, %1;", {"rsqrt.approx.f32", "rsqrt.approx.ftz.f32"}, 1.6 * kUlp),
               each("{} %0, %1;", {"ex2.approx.f32"}, 3 * kUlp, kSubnormal),
               each("{} %0, %1;", {"ex2.approx.ftz.f32"}, 3 * kUlp, kLeast),
               // Absolute near 1, relative elsewhere.
               each("{} %0, %1;", {"lg2.approx.f32", "lg2.approx.ftz.f32"}, 2 * kUlp, 2e-7),
               each("{} %0, %1;", {"tanh.approx.f32"}, 0x1p-11 + 0.5 * kUlp),
               each("{} %0, %1, %2;", {"div.full.f32"}, 2.5 * kUlp, kSubnormal),
               each("{} %0, %1, %2;", {"div.full.ftz.f32"}, 2.5 * kUlp, kLeast)})});
  // Within the range for which PTX bounds them by 2^-20.5.
  compare({Kind::f32,
           {Kind::f32},
           each(".reg .f32 x;\nmin.f32 x, %1, 0f40C00000;\nmax.f32 x, x, 0fC0C00000;\n{} %0, x;",
                {"sin.approx.f32", "cos.approx.f32", "sin.approx.ftz.f32"}, 0.0, 7.1e-7)});
}

TEST_F(Floats, ApproximateFunctionsOfHalves) {
  // 2^-9.9 of the result, and 2^-10.987 whatever the result.
  compare({Kind::f16,
           {Kind::f16},
           joined({each("{} %0, %1;", {"ex2.approx.f16"}, 1.05e-3 + 0x1p-11, 0x1p-24),
                   each("{} %0, %1;", {"tanh.approx.f16"}, 0.0, 4.93e-4 + 0x1p-12)})});
  compare({Kind::bf16,
           {Kind::bf16},
           joined({each("{} %0, %1;", {"ex2.approx.ftz.bf16"}, 0x1p-7 + 0x1p-8, kLeast),
                   each("{} %0, %1;", {"tanh.approx.bf16"}, 0.0, 0x1p-8 + 0x1p-9)})});
  compare({Kind::f64,
           {Kind::f64},
           each("{} %0, %1;", {"rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64"}, 2e-6)});
}

// PTX allows a compiler to fuse a product and a sum without a rounding; one on either keeps them
// apart.
TEST_F(Floats, AProductAndASumThatARoundingKeepsApart) {
  compare({Kind::f32,
           {Kind::f32, Kind::f32, Kind::f32},
           {{".reg .f32 x;\nmul.rn.f32 x, %1, %2;\nadd.rn.f32 %0, x, %3;"},
            {".reg .f32 x;\nmul.f32 x, %1, %2;\nadd.rn.f32 %0, x, %3;"}}});
}

}  // namespace
}  // namespace kiln::testing
