// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Integer instructions, lane by lane: the same on the GPU and on the emulated one.
#include "tests/gpu/emulator_elements.hpp"

namespace kiln::testing {
namespace {

using Integers = ElementTest;

TEST_F(Integers, Arithmetic32) {
  compare(
      {Kind::i32,
       {Kind::i32, Kind::i32},
       joined({each("{} %0, %1, %2;",
                    {"add.u32", "sub.s32", "add.sat.s32", "sub.sat.s32", "min.s32", "max.s32",
                     "min.u32", "max.u32", "mul.lo.u32", "mul.hi.u32", "mul.hi.s32", "mul24.lo.s32",
                     "mul24.hi.u32", "mul24.hi.s32", "and.b32", "or.b32", "xor.b32"}),
               each("{} %0, %1;", {"neg.s32", "abs.s32", "not.b32", "cnot.b32"})})});
}

TEST_F(Integers, MultiplyAdd32) {
  compare({Kind::i32,
           {Kind::i32, Kind::i32, Kind::i32},
           each("{} %0, %1, %2, %3;",
                {"mad.lo.u32", "mad.lo.s32", "mad.hi.u32", "mad.hi.s32", "mad.hi.sat.s32",
                 "mad24.lo.u32", "mad24.hi.s32", "sad.u32", "sad.s32", "dp4a.u32.u32",
                 "dp4a.s32.s32", "dp4a.u32.s32", "dp2a.lo.s32.u32", "dp2a.hi.u32.u32",
                 "vabsdiff4.u32.u32.u32", "vabsdiff4.u32.u32.u32.add"})});
}

TEST_F(Integers, DivisionAndRemainder32ZeroIncluded) {
  compare({Kind::i32,
           {Kind::i32, Kind::i32},
           each("{} %0, %1, %2;", {"div.s32", "div.u32", "rem.s32", "rem.u32"})});
}

TEST_F(Integers, DivisionAndRemainder64ZeroIncluded) {
  compare({Kind::i64,
           {Kind::i64, Kind::i64},
           each("{} %0, %1, %2;", {"div.s64", "div.u64", "rem.s64", "rem.u64"})});
}

TEST_F(Integers, DivisionAndRemainder16ZeroIncluded) {
  compare({Kind::i16,
           {Kind::i16, Kind::i16},
           each("{} %0, %1, %2;", {"div.s16", "div.u16", "rem.s16", "rem.u16"})});
}

TEST_F(Integers, FieldsAndPermutations) {
  compare(
      {Kind::i32,
       {Kind::i32, Kind::small, Kind::small},
       joined({each("{} %0, %1, %2, %3;", {"bfe.u32", "bfe.s32"}),
               each("bfi.b32 %0, %1, %2, %3, {};", {"0", "5", "31", "40"}),
               each("bmsk.{}.b32 %0, %2, %3;", {"clamp", "wrap"}),
               each("szext.{} %0, %1, %2;", {"clamp.u32", "clamp.s32", "wrap.u32", "wrap.s32"})})});
  compare(
      {Kind::i32,
       {Kind::i32, Kind::i32, Kind::i32},
       each("prmt.b32{} %0, %1, %2, %3;", {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"})});
}

TEST_F(Integers, Shifts32) {
  compare({Kind::i32,
           {Kind::i32, Kind::i32, Kind::small},
           joined({each("shf.{}.b32 %0, %1, %2, %3;", {"l.clamp", "l.wrap", "r.clamp", "r.wrap"}),
                   each("{} %0, %1, %3;", {"shl.b32", "shr.u32", "shr.s32", "shr.b32"})})});
}

TEST_F(Integers, Logic) {
  compare({Kind::i32,
           {Kind::i32, Kind::i32, Kind::i32},
           each("lop3.b32 %0, %1, %2, %3, {};",
                {"0x80", "0xfe", "0x96", "0xca", "0xe8", "0x1b", "0xf0", "0x7f"})});
  compare({Kind::i32,
           {Kind::i32},
           each("{} %0, %1;", {"popc.b32", "clz.b32", "brev.b32", "bfind.u32", "bfind.s32",
                               "bfind.shiftamt.u32", "bfind.shiftamt.s32"})});
}

TEST_F(Integers, Arithmetic64) {
  compare(
      {Kind::i64,
       {Kind::i64, Kind::i64, Kind::i64},
       joined({each("{} %0, %1, %2;",
                    {"add.u64", "sub.s64", "min.s64", "max.s64", "min.u64", "max.u64", "mul.lo.u64",
                     "mul.hi.u64", "mul.hi.s64", "and.b64", "xor.b64"}),
               each("{} %0, %1, %2, %3;",
                    {"mad.lo.u64", "mad.hi.u64", "mad.hi.s64", "sad.u64", "sad.s64"}),
               each("{} %0, %1;", {"neg.s64", "abs.s64", "not.b64", "cnot.b64", "brev.b64"})})});
  compare({Kind::i32,
           {Kind::i64},
           each("{} %0, %1;", {"popc.b64", "clz.b64", "bfind.u64", "bfind.s64"})});
  compare({Kind::i64,
           {Kind::i64, Kind::small},
           each("{} %0, %1, %2;", {"shl.b64", "shr.u64", "shr.s64"})});
}

TEST_F(Integers, WideProducts) {
  compare({Kind::i64,
           {Kind::i32, Kind::i32, Kind::i64},
           joined({each("mul.wide.{} %0, %1, %2;", {"u32", "s32"}),
                   each("mad.wide.{} %0, %1, %2, %3;", {"u32", "s32"})})});
  compare({Kind::i32,
           {Kind::i16, Kind::i16, Kind::i32},
           joined({each("mul.wide.{} %0, %1, %2;", {"u16", "s16"}),
                   each("mad.wide.{} %0, %1, %2, %3;", {"u16", "s16"})})});
}

TEST_F(Integers, Arithmetic16) {
  compare({Kind::i16,
           {Kind::i16, Kind::i16, Kind::i16},
           joined({each("{} %0, %1, %2;",
                        {"add.u16", "sub.s16", "mul.lo.u16", "mul.hi.u16", "mul.hi.s16", "min.s16",
                         "max.u16", "and.b16", "or.b16", "xor.b16"}),
                   each("mad.{} %0, %1, %2, %3;", {"lo.u16", "lo.s16", "hi.u16", "hi.s16"}),
                   each("{} %0, %1;", {"neg.s16", "abs.s16", "not.b16", "cnot.b16"})})});
  compare({Kind::i32,
           {Kind::i32, Kind::i32},
           each("{} %0, %1, %2;", {"add.u16x2", "add.s16x2", "min.u16x2", "max.s16x2",
                                   "min.relu.s16x2", "max.relu.s16x2", "min.relu.s32"})});
}

TEST_F(Integers, Carries) {
  compare({Kind::i64,
           {Kind::i32, Kind::i32, Kind::i32},
           each(".reg .b32 lo, hi;\n{}\nmov.b64 %0, {lo, hi};",
                {"add.cc.u32 lo, %1, %2;\naddc.u32 hi, %3, %2;",
                 "sub.cc.u32 lo, %1, %2;\nsubc.u32 hi, %3, %2;",
                 "add.cc.u32 lo, %1, %2;\naddc.cc.u32 lo, %3, %2;\naddc.u32 hi, %1, 0;",
                 "mad.lo.cc.u32 lo, %1, %2, %3;\nmadc.hi.u32 hi, %1, %2, %3;",
                 "mad.hi.cc.u32 lo, %1, %2, %3;\nmadc.lo.s32 hi, %1, %2, 0;",
                 "sub.cc.u32 lo, %1, %2;\nsubc.cc.u32 lo, %3, %1;\nsubc.u32 hi, 0, 0;",
                 "sub.cc.u32 lo, %1, %2;\naddc.u32 hi, %3, %1;",
                 "sub.cc.u32 lo, %1, %2;\nsubc.cc.u32 lo, %3, %1;\naddc.u32 hi, 0, 0;",
                 "add.cc.u32 lo, %1, %2;\nsubc.u32 hi, %3, %1;",
                 "mad.hi.cc.u32 lo, %1, %2, %3;\nsubc.u32 hi, %3, %1;"})});
}

TEST_F(Integers, ComparisonsAndSelections) {
  compare({Kind::i32,
           {Kind::i32, Kind::i32, Kind::i32},
           joined({each("set.{}.u32.s32 %0, %1, %2;", {"eq", "ne", "lt", "le", "gt", "ge"}),
                   each("set.{}.u32.u32 %0, %1, %2;", {"lt", "ls", "hi", "hs", "lo"}),
                   each(".reg .pred p, q;\nsetp.{}.s32 p|q, %1, %2;\n@p mov.b32 %0, %3;\n"
                        "@q mov.b32 %0, %1;",
                        {"lt", "ge"}),
                   each(".reg .pred p, q;\nsetp.lt.s32 p, %2, %3;\nsetp.lt.{}.u32 q, %1, %2, p;\n"
                        "selp.b32 %0, %1, %3, q;",
                        {"and", "or", "xor"}),
                   each("slct.{}.s32 %0, %1, %2, %3;", {"u32", "s32", "b32"})})});
}

TEST_F(Integers, ConversionsBetweenIntegers) {
  compare({Kind::i32,
           {Kind::i32},
           each("{}", {"cvt.sat.s8.s32 %0, %1;", "cvt.sat.u8.s32 %0, %1;", "cvt.sat.u8.u32 %0, %1;",
                       "cvt.sat.s16.s32 %0, %1;", "cvt.sat.u32.s32 %0, %1;", "cvt.s32.s8 %0, %1;",
                       "cvt.u32.u16 %0, %1;", "cvt.s32.s16 %0, %1;"})});
  compare({Kind::i32,
           {Kind::i64},
           each("{}", {"cvt.u32.u64 %0, %1;", "cvt.sat.s32.s64 %0, %1;", "cvt.sat.u32.s64 %0, %1;",
                       "cvt.sat.u16.u64 %0, %1;"})});
  compare({Kind::i64,
           {Kind::i32},
           each("{}", {"cvt.u64.u32 %0, %1;", "cvt.s64.s32 %0, %1;", "cvt.s64.s8 %0, %1;"})});
}

}  // namespace
}  // namespace kiln::testing
