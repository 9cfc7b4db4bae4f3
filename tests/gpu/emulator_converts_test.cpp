// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Conversions in all roundings, NaN, infinities and what does not fit included: identical.
#include "tests/gpu/emulator_elements.hpp"

namespace kiln::testing {
namespace {

using Converts = ElementTest;

const std::vector<std::string> kToInteger{"rni", "rzi", "rmi", "rpi"};
const std::vector<std::string> kRoundings{"rn", "rz", "rm", "rp"};

/// `to`.FROM with every rounding to an integer.
std::vector<ElementOp> to_integer(const std::string& to, const std::string& from) {
  return each("cvt.{}." + to + "." + from + " %0, %1;", kToInteger);
}

TEST_F(Converts, FloatsToIntegers) {
  compare(
      {Kind::i32,
       {Kind::f32},
       joined({to_integer("s32", "f32"), to_integer("u32", "f32"), to_integer("s16", "f32"),
               to_integer("u8", "f32"), to_integer("s8", "f32"),
               each("cvt.{}.f32 %0, %1;", {"rni.ftz.s32", "rzi.ftz.sat.u32", "rpi.sat.s16"})})});
  compare({Kind::i64, {Kind::f32}, joined({to_integer("s64", "f32"), to_integer("u64", "f32")})});
}

TEST_F(Converts, DoublesToIntegers) {
  compare({Kind::i64, {Kind::f64}, joined({to_integer("s64", "f64"), to_integer("u64", "f64")})});
  compare({Kind::i32, {Kind::f64}, each("cvt.{}.f64 %0, %1;", {"rni.s32", "rzi.u32", "rmi.s16"})});
}

TEST_F(Converts, HalvesToIntegers) {
  compare({Kind::i32,
           {Kind::f16},
           each("cvt.{}.f16 %0, %1;", {"rni.s32", "rzi.u32", "rmi.s32", "rpi.s16", "rzi.u8"})});
  compare({Kind::i32, {Kind::bf16}, each("cvt.{}.bf16 %0, %1;", {"rni.s32", "rzi.u32"})});
}

TEST_F(Converts, IntegersToFloats) {
  compare({Kind::f32, {Kind::i32}, each("cvt.{}.f32.s32 %0, %1;", kRoundings)});
  compare({Kind::f32, {Kind::i32}, each("cvt.{}.f32.u32 %0, %1;", kRoundings)});
  compare({Kind::f32, {Kind::i64}, each("cvt.{}.f32.s64 %0, %1;", kRoundings)});
  compare({Kind::f64, {Kind::i64}, each("cvt.{}.f64.u64 %0, %1;", kRoundings)});
  compare({Kind::f64, {Kind::i32}, each("cvt.{}.f64.s32 %0, %1;", {"rn"})});
  compare({Kind::f16, {Kind::i32}, each("cvt.{}.f16.s32 %0, %1;", kRoundings)});
  compare({Kind::bf16, {Kind::i32}, each("cvt.{}.bf16.s32 %0, %1;", {"rn", "rz"})});
}

TEST_F(Converts, FloatsToHalves) {
  compare({Kind::f16,
           {Kind::f32},
           each("cvt.{}.f16.f32 %0, %1;",
                {"rn", "rz", "rm", "rp", "rn.ftz", "rn.sat", "rn.relu", "rz.relu"})});
  compare({Kind::bf16,
           {Kind::f32},
           each("cvt.{}.bf16.f32 %0, %1;", {"rn", "rz", "rn.relu", "rz.relu"})});
  compare({Kind::f16x2,
           {Kind::f32, Kind::f32},
           each("cvt.{}.f16x2.f32 %0, %1, %2;", {"rn", "rz", "rn.relu"})});
  compare({Kind::bf16x2,
           {Kind::f32, Kind::f32},
           each("cvt.{}.bf16x2.f32 %0, %1, %2;", {"rn", "rz", "rn.relu"})});
}

TEST_F(Converts, HalvesToFloats) {
  compare({Kind::f32, {Kind::f16}, each("cvt{}.f32.f16 %0, %1;", {"", ".ftz", ".sat"})});
  compare({Kind::f32, {Kind::bf16}, each("cvt{}.f32.bf16 %0, %1;", {""})});
  compare({Kind::f64, {Kind::f16}, each("cvt{}.f64.f16 %0, %1;", {""})});
  compare({Kind::f16, {Kind::f64}, each("cvt.{}.f16.f64 %0, %1;", kRoundings)});
}

TEST_F(Converts, FloatsToTf32) {
  compare({Kind::i32,
           {Kind::f32},
           each("cvt.{}.tf32.f32 %0, %1;", {"rna", "rn", "rz", "rn.relu", "rz.relu"})});
}

TEST_F(Converts, BetweenFloatsAndDoubles) {
  compare({Kind::f32, {Kind::f64}, each("cvt.{}.f32.f64 %0, %1;", kRoundings)});
  compare({Kind::f32, {Kind::f64}, each("cvt.{}.f32.f64 %0, %1;", {"rn.ftz", "rn.sat"})});
  compare({Kind::f64, {Kind::f32}, each("cvt{}.f64.f32 %0, %1;", {"", ".ftz"})});
}

TEST_F(Converts, FloatsToWholeFloats) {
  compare({Kind::f32, {Kind::f32}, each("cvt.{}.f32.f32 %0, %1;", kToInteger)});
  compare({Kind::f32, {Kind::f32}, each("cvt.{}.f32.f32 %0, %1;", {"sat", "rzi.ftz", "rni.sat"})});
  compare({Kind::f64, {Kind::f64}, each("cvt.{}.f64.f64 %0, %1;", kToInteger)});
  compare({Kind::f16, {Kind::f16}, each("cvt.{}.f16.f16 %0, %1;", {"rni", "rzi", "rmi", "sat"})});
}

TEST_F(Converts, ToEightBits) {
  compare({Kind::i16,
           {Kind::f32, Kind::f32},
           each("cvt.rn.satfinite.{}.f32 %0, %1, %2;", {"e4m3x2", "e5m2x2", "relu.e4m3x2"})});
  compare({Kind::i16,
           {Kind::f16x2},
           each("cvt.rn.satfinite.{}.f16x2 %0, %1;", {"e4m3x2", "e5m2x2", "relu.e5m2x2"})});
}

TEST_F(Converts, FromEightBits) {
  compare({Kind::f16x2,
           {Kind::i16},
           each("cvt.rn.{} %0, %1;", {"f16x2.e4m3x2", "f16x2.e5m2x2", "relu.f16x2.e4m3x2"})});
}

}  // namespace
}  // namespace kiln::testing
