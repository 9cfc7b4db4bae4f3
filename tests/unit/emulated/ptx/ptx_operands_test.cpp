// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Most promises are checked by writing an instruction back; where that could hide something, by
// the operand itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "tests/unit/emulated/ptx_samples.hpp"

namespace kiln::test {
namespace {

using Kind = ptx::Operand::Kind;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ptx::Operand operand_of(std::string_view statement, std::size_t position) {
  return read_kernel(statement).body.at(0).operands.at(position);
}

TEST(PtxOperands, EveryFormComesBack) {
  const std::vector<std::string> forms{
      "ret;",
      "bar.sync 0, 128;",
      "add.s32 %r1, %r2, -3;",
      "@%p1 mov.u32 %r1, %tid.x;",
      "@!%p1 mov.u32 %r1, %laneid;",
      "mov.u64 %rd1, %clock64;",
      "mov.u32 %r1, %envreg31;",
      "mov.u64 %rd1, %pm7_64;",
      "mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid;",
      "setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;",
      "shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;",
      "ld.global.v2.f32 {%f1, _}, [%rd1+8];",
      "ld.global.L1::no_allocate.L2::128B.u32 %r1, [%rd1-16];",
      "ld.param.u64 %rd1, [pointer];",
      "ld.shared.u8 %rs1, [tile+511];",
      "st.shared.b32 [%r1], 0d3FF0000000000000;",
      "ld.const.u32 %r1, [16];",
      "mov.u64 %rd1, data+4;",
      "mov.u64 %rd1, helper;",
      "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r1], 16384;",
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], "
      "[%rd1, {%r2, %r3}], [%r4];",
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], "
      "[%rd1, {%r2, %r3, %r4, %r5}], [tile+8], {%rs1, %rs2};",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, "
      "-1, 0, 1;",
      "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [%rd1, {%f5, %f6}];",
  };
  for (const std::string& form : forms) EXPECT_EQ(read_back_one(form), form);
}

TEST(PtxOperands, ConstantsAreEvaluated) {
  EXPECT_EQ(read_back_one("mov.u32 %r1, (1+2)*4;"), "mov.u32 %r1, 12;");
  EXPECT_EQ(read_back_one("mov.u32 %r1, 0x10|1;"), "mov.u32 %r1, 17;");
  EXPECT_EQ(read_back_one("mov.u32 %r1, WARP_SZ - 1;"), "mov.u32 %r1, 31;");
  EXPECT_EQ(read_back_one("ld.global.u32 %r1, [%rd1+-8];"), "ld.global.u32 %r1, [%rd1-8];");
  EXPECT_EQ(read_back_one("ld.shared.u32 %r1, [tile+4*8];"), "ld.shared.u32 %r1, [tile+32];");
  const auto real = operand_of("mov.f32 %f1, 0fBF000000;", 1);
  EXPECT_EQ(real.kind, Kind::real);
  EXPECT_EQ(std::bit_cast<double>(real.value), -0.5);
}

TEST(PtxOperands, RegistersAreNumberedAsTheyAreMentioned) {
  const auto kernel = read_kernel("add.s32 %r7, %r3, %r98; add.s32 %r3, %r7, 1;");
  ASSERT_EQ(kernel.registers.size(), 3U);
  EXPECT_EQ(kernel.registers[0].name, "%r7");
  EXPECT_EQ(kernel.registers[1].name, "%r3");
  EXPECT_EQ(kernel.registers[1].type, ptx::Type::b32);
  EXPECT_EQ(kernel.body[1].operands[0].index, 1);
  EXPECT_EQ(kernel.body[1].operands[1].index, 0);
}

TEST(PtxOperands, ACountedNameDeclaresThatMany) {
  EXPECT_EQ(read_back_one("mov.u32 %r0, %r98;"), "mov.u32 %r0, %r98;");
  EXPECT_THAT(kernel_refusal("mov.u32 %r0, %r99;"),
              HasSubstr("PTX:3:14: '%r99' is neither a declared register nor a special register"));
  EXPECT_THAT(kernel_refusal("mov.u32 %r0, %r07;"), HasSubstr("'%r07'"));
  EXPECT_THAT(kernel_refusal("mov.u32 %r0, %r;"), HasSubstr("'%r'"));
  EXPECT_THAT(kernel_refusal("mov.u32 %r0, %r99999999999;"), HasSubstr("'%r99999999999'"));
}

TEST(PtxOperands, ACountedNameMayEndInADigit) {
  EXPECT_EQ(read_back_one(".reg .b32 t1<3>; mov.u32 t10, t12;"), "mov.u32 t10, t12;");
  EXPECT_THAT(kernel_refusal(".reg .b32 t1<3>; mov.u32 t10, t1;"), HasSubstr("unknown name 't1'"));
}

TEST(PtxOperands, VectorRegistersHaveComponents) {
  EXPECT_EQ(read_back_one(".reg .v4 .f32 v; ld.global.v4.f32 v, [%rd1];"),
            "ld.global.v4.f32 {v.x, v.y, v.z, v.w}, [%rd1];");
  EXPECT_EQ(read_back_one(".reg .v2 .f32 v<3>; add.f32 v2.x, v2.y, v2.g;"),
            "add.f32 v2.x, v2.y, v2.y;");
  EXPECT_THAT(kernel_refusal(".reg .v2 .f32 v; mov.f32 %f1, v.z;"),
              HasSubstr("'v' has no component '.z'"));
  EXPECT_THAT(kernel_refusal("mov.f32 %f1, %f2.x;"), AllOf(HasSubstr("'%f2'"), HasSubstr("'.x'")));
}

TEST(PtxOperands, SpecialRegistersAreSpelledInOneWay) {
  const auto special = operand_of("mov.u32 %r1, %nctaid.g;", 1);
  EXPECT_EQ(special.kind, Kind::special);
  EXPECT_EQ(special.name, "%nctaid.y");
  EXPECT_THAT(kernel_refusal("mov.u32 %r1, %laneid.x;"), HasSubstr("no component"));
  EXPECT_THAT(kernel_refusal("mov.u32 %r1, %envreg32;"), HasSubstr("'%envreg32'"));
  EXPECT_THAT(kernel_refusal("mov.u32 %r1, %tid.q;"),
              AllOf(HasSubstr("'%tid'"), HasSubstr("'.q'")));
}

TEST(PtxOperands, AddressesKeepBaseOffsetAndCoordinatesApart) {
  const auto plain = operand_of("ld.global.u32 %r1, [data+12];", 1);
  ASSERT_EQ(plain.kind, Kind::address);
  ASSERT_EQ(plain.elements.size(), 1U);
  EXPECT_EQ(plain.elements[0].kind, Kind::variable);
  EXPECT_EQ(plain.elements[0].value, 0);
  EXPECT_EQ(plain.value, 12);
  const auto absolute = operand_of("ld.const.u32 %r1, [16+8];", 1);
  EXPECT_EQ(absolute.elements[0].kind, Kind::integer);
  EXPECT_EQ(absolute.elements[0].value, 24);
  const auto tensor = operand_of("prefetch.tensor.2d [%rd1, {%r1, 5}];", 0);
  ASSERT_EQ(tensor.elements.size(), 2U);
  EXPECT_EQ(tensor.elements[1].kind, Kind::vector);
}

TEST(PtxOperands, CallsListWhatTheyReturnAndTake) {
  EXPECT_EQ(read_back_one("call.uni helper;"), "call.uni helper;");
  EXPECT_EQ(read_back_one("call helper, (%r1, 2, _);"), "call helper, (%r1, 2, _);");
  EXPECT_EQ(read_back_one(".param .b32 p0; .param .b32 r0; call.uni (r0), helper, (p0);"),
            "call.uni (r0), helper, (p0);");
  EXPECT_EQ(read_back_one("call helper, ();"), "call helper, ();");
  const auto direct = operand_of("call.uni (%r1), helper, (%r2, %r3);", 1);
  EXPECT_EQ(direct.kind, Kind::function);
  EXPECT_EQ(direct.name, "helper");
  EXPECT_EQ(operand_of("call.uni (%r1), helper, (%r2, %r3);", 2).elements.size(), 2U);
}

TEST(PtxOperands, IndirectCallsNameTheirPrototype) {
  const std::string_view text =
      "proto : .callprototype (.param .align 4 .b8 _[12]) _ (.param .b32 _, .param .b64 _) "
      ".noreturn; call (%r1), %rd1, (%r2, %rd2), proto;";
  EXPECT_EQ(read_back_one(text), "call (%r1), %rd1, (%r2, %rd2), proto;");
  EXPECT_EQ(operand_of(text, 3).kind, Kind::function);
  EXPECT_EQ(read_back_one("list: .calltargets helper; call %rd1, list;"), "call %rd1, list;");
  EXPECT_THAT(kernel_refusal("list: .calltargets nobody; call %rd1, list;"),
              HasSubstr("'nobody' is not a function"));
  EXPECT_THAT(kernel_refusal("call nobody;"), HasSubstr("unknown name 'nobody'"));
}

TEST(PtxOperands, FaultsNameTheirPlace) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"mov.u32 %r1, nobody;", "PTX:3:14: unknown name 'nobody'"},
      {"ld.u32 %r1, [nobody];", "PTX:3:14: unknown name 'nobody'"},
      {"ld.u32 %r1, [%tid];", "a register, a variable or an integer, not with '%tid'"},
      {"ld.u32 %r1, [1.5];", "a constant address must be an integer"},
      {"ld.u32 %r1, [%rd1+%rd2];", "expected a constant, not '%rd2'"},
      {"ld.u32 %r1, [%rd1;", "expected ']', not ';'"},
      {"mov.b64 {}, %rd1;", "expected an operand, not '}'"},
      {"mov.b64 {%r1, %r2, %rd1;", "expected '}', not ';'"},
      {"add.s32 %r1, %r2, -%r3;", "expected a constant, not '%r3'"},
      {"add.s32 %r1 %r2;", "expected ';', not '%r2'"},
      {"add.s32 %r1, ;", "expected an operand, not ';'"},
      {"@%p1, ret;", "expected an instruction, not ','"},
      {"@tile ret;", "'tile' is not a register"},
      {"mov.u32 %r1, !tile;", "PTX:3:15: 'tile'"},
      {"mov.u32 %r1, \"x\";", "expected an operand, not 'x'"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(kernel_refusal(text), HasSubstr(message)) << text;
  }
}

TEST(PtxOperands, AMessageAppearsForIndicesThatLeadNowhere) {
  const ptx::Function empty;
  ptx::Instruction in;
  in.parts = {"mov", "u32"};
  in.operands.resize(1);
  in.operands[0].kind = Kind::reg;
  in.operands[0].index = 7;
  EXPECT_EQ(ptx::text_of(empty, in), "mov.u32 ?7;");
}

}  // namespace
}  // namespace kiln::test
