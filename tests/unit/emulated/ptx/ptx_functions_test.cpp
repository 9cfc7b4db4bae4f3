// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/emulated/ptx_samples.hpp"

namespace kiln::test {
namespace {

using ptx::Space;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PtxFunctions, TheHeaderOfAModule) {
  const auto module = ptx::read_module(
      "// a comment\n.version 8.10\n.target sm_90a, texmode_independent /* and\nanother */\n"
      ".address_size 64 .pragma \"nounroll\";");
  EXPECT_EQ(module.version_major, 8);
  EXPECT_EQ(module.version_minor, 10);
  EXPECT_EQ(module.target, "sm_90a");
}

TEST(PtxFunctions, ParametersOfAnEntry) {
  const auto module = read_declarations(
      ".visible .entry k(.param .align 8 .b8 args[104], .param .u64 .ptr .global .align 16 a,\n"
      " .param .f32 b, .param .align 64 .b8 map[128]) .maxntid 256, 2 .minnctapersm 2 .maxnreg 64\n"
      " .reqnctapercluster 2, 1, 1 .explicitcluster .pragma \"nounroll\", \"x\"; { ret; }");
  const auto* kernel = module.find("k");
  ASSERT_NE(kernel, nullptr);
  EXPECT_TRUE(kernel->entry);
  EXPECT_TRUE(kernel->defined);
  EXPECT_EQ(kernel->ptx_line, 2);
  EXPECT_EQ(kernel->parameter_count, 4);
  EXPECT_EQ(kernel->return_count, 0);
  ASSERT_EQ(kernel->variables.size(), 4U);
  EXPECT_EQ(kernel->variables[0].bytes, 104);
  EXPECT_EQ(kernel->variables[0].alignment, 8);
  // The 16 is the pointee's.
  EXPECT_EQ(kernel->variables[1].alignment, 8);
  EXPECT_EQ(kernel->variables[2].bytes, 4);
  EXPECT_EQ(kernel->variables[3].alignment, 64);
  EXPECT_EQ(kernel->variables[3].space, Space::param);
  EXPECT_THAT(kernel->max_threads, ElementsAre(256, 2, 1));
  EXPECT_THAT(kernel->required_threads, ElementsAre(0, 0, 0));
  EXPECT_THAT(kernel->cluster, ElementsAre(2, 1, 1));
}

TEST(PtxFunctions, AnEntryMayGoWithoutParameters) {
  const auto module =
      read_declarations(".entry a .reqntid 32 { ret; } .weak .entry b() { exit; } .entry c {}");
  EXPECT_EQ(module.find("a")->parameter_count, 0);
  EXPECT_THAT(module.find("a")->required_threads, ElementsAre(32, 1, 1));
  EXPECT_EQ(module.find("b")->body.size(), 1U);
  EXPECT_TRUE(module.find("c")->body.empty());
  EXPECT_EQ(module.find("d"), nullptr);
}

TEST(PtxFunctions, FunctionsTakeAndReturn) {
  const auto module = read_declarations(
      ".extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 values);\n"
      ".func (.param .align 8 .b8 out[16]) make(.param .b32 a) { st.param.b32 [out+4], 1; ret; }\n"
      ".extern .func stop() .noreturn;");
  const auto* printf = module.find("vprintf");
  EXPECT_FALSE(printf->defined);
  EXPECT_EQ(printf->parameter_count, 2);
  EXPECT_EQ(printf->return_count, 1);
  const auto* make = module.find("make");
  EXPECT_FALSE(make->entry);
  EXPECT_EQ(make->parameter_count, 1);
  EXPECT_EQ(make->variables[0].name, "a");
  EXPECT_EQ(make->variables[1].name, "out");
  EXPECT_EQ(make->variables[1].bytes, 16);
  EXPECT_EQ(make->body[0].operands[0].elements[0].index, 1);
  EXPECT_FALSE(module.find("stop")->defined);
}

TEST(PtxFunctions, ParametersMayBeRegisters) {
  const auto module = read_declarations(
      ".func (.reg .f32 r) f(.reg .u32 a, .param .b64 b) { cvt.rn.f32.u32 r, a; ret; }");
  const auto& f = *module.find("f");
  ASSERT_EQ(f.variables.size(), 3U);
  ASSERT_EQ(f.registers.size(), 2U);
  EXPECT_EQ(f.variables[0].register_index, 0);
  EXPECT_EQ(f.variables[0].bytes, 4);
  EXPECT_EQ(f.variables[1].register_index, -1);
  EXPECT_EQ(f.registers[static_cast<std::size_t>(f.variables[2].register_index)].name, "r");
  EXPECT_EQ(ptx::text_of(f, f.body[0]), "cvt.rn.f32.u32 r, a;");
}

TEST(PtxFunctions, ABodyReplacesTheDeclaration) {
  const auto module = read_declarations(
      ".func f(.param .b32 a); .func g() { call f, (1); ret; } .func f(.param .b32 a) { call f, "
      "(2); ret; } .func f(.param .b32 a);");
  ASSERT_EQ(module.functions.size(), 2U);
  EXPECT_EQ(module.functions[0].name, "f");
  EXPECT_EQ(module.functions[0].body.size(), 2U);
}

TEST(PtxFunctions, LabelsAreTheInstructionThatFollows) {
  const auto kernel = read_kernel(
      "TOP: @%p1 bra END; bra.uni TOP; { bra NEXT; NEXT: } bra NEXT; NEXT: add.s32 %r1, %r1, 1; "
      "END:");
  ASSERT_EQ(kernel.body.size(), 5U);
  EXPECT_EQ(kernel.body[0].operands[0].index, 5);  // behind the last one
  EXPECT_EQ(kernel.body[1].operands[0].index, 0);
  EXPECT_EQ(kernel.body[2].operands[0].index, 3);
  EXPECT_EQ(kernel.body[3].operands[0].index, 4);
  EXPECT_EQ(ptx::text_of(kernel, kernel.body[0]), "@%p1 bra END;");
}

TEST(PtxFunctions, InnerLabelsHideOuterOnes) {
  const auto kernel = read_kernel("L: ret; { bra L; { bra L; } L: ret; } bra L;");
  EXPECT_EQ(kernel.body[1].operands[0].index, 3);
  EXPECT_EQ(kernel.body[2].operands[0].index, 3);
  EXPECT_EQ(kernel.body[4].operands[0].index, 0);
  EXPECT_THAT(kernel_refusal("{ INNER: ret; } bra INNER;"), HasSubstr("unknown name 'INNER'"));
}

TEST(PtxFunctions, BranchTablesNameInstructions) {
  const auto kernel = read_kernel(
      "mov.u32 %r1, 0; table: .branchtargets A, B, A; @%p1 brx.idx %r1, table; A: ret; B: exit;");
  ASSERT_EQ(kernel.branch_tables.size(), 1U);
  EXPECT_EQ(kernel.branch_tables[0].name, "table");
  EXPECT_THAT(kernel.branch_tables[0].targets, ElementsAre(2, 3, 2));
  EXPECT_EQ(kernel.body[1].operands[1].kind, ptx::Operand::Kind::label);
  EXPECT_EQ(kernel.body[1].operands[1].index, 0);
  EXPECT_THAT(kernel_refusal("t: .branchtargets A; bra t; A:"), HasSubstr("target of bra"));
  EXPECT_THAT(kernel_refusal("A: brx.idx %r1, A;"),
              HasSubstr("'A' is not a valid target of brx.idx"));
  EXPECT_THAT(kernel_refusal("t: .branchtargets u; u: .branchtargets A; A:"),
              HasSubstr("the branch target 'u' is not the label of an instruction"));
}

TEST(PtxFunctions, ScopesHaveTheirOwnRegistersAndVariables) {
  const auto kernel = read_kernel(
      "{ .reg .pred p; .reg .b32 t<2>; setp.eq.s32 p, %r1, 0; { .reg .f32 p; mov.f32 p, %f1; } }\n"
      "{ .reg .pred p; .param .b32 tile; setp.eq.s32 p, %r1, 0; st.param.b32 [tile], 1; }\n"
      "mov.u32 %r1, tile;");
  const auto text = [&](std::size_t i) { return ptx::text_of(kernel, kernel.body.at(i)); };
  EXPECT_EQ(text(0), "setp.eq.s32 p@1, %r1, 0;");
  EXPECT_EQ(text(1), "mov.f32 p@2, %f1;");
  EXPECT_EQ(text(2), "setp.eq.s32 p@3, %r1, 0;");
  const auto space_of = [&](const ptx::Operand& operand) {
    return kernel.variables.at(static_cast<std::size_t>(operand.index)).space;
  };
  EXPECT_EQ(space_of(kernel.body[3].operands[0].elements[0]), Space::param);
  EXPECT_EQ(space_of(kernel.body[4].operands[1]), Space::shared);
}

TEST(PtxFunctions, WhatCannotBeIsRefused) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {".func f() { ret; } .func f() { ret; }", "PTX:2:26: the function 'f' is defined twice"},
      {".global .u32 f; .func f() { ret; }", "'f' is a variable"},
      {".entry f(.param .b32 a, .param .b32 a) { ret; }", "PTX:2:37: 'a'"},
      {".entry f() { .reg .b32 a; .reg .b32 a; }", "PTX:2:37: 'a'"},
      {".entry f() { .reg .b32 a<2>; .reg .b32 a<2>; }", "PTX:2:40: 'a'"},
      {".entry f() { A: A: }", "the label 'A' is defined twice"},
      {".entry f() { .reg .b32 _; }", "'_' cannot be declared"},
      {".entry f() { .weak .u32 x; }", "'.weak' is not supported in the body of a function"},
      {".entry f() .fastest { ret; }", "'.fastest' is not supported before the body"},
      {".entry f() .blocksareclusters { ret; }", "does not support .blocksareclusters"},
      {".entry f() .maxntid 1, 2, 3, 4 { ret; }", "this directive takes at most three numbers"},
      {".entry f() .maxntid 9999999999 { ret; }", "too large for a number of threads"},
      {".entry f(.reg .v2 .f32 a) { ret; }", "a register parameter cannot be a vector"},
      {".entry f() { ret;", "PTX:2:12: this '{' is never closed"},
      {".entry f() { ret }", "expected an operand, not '}'"},
      {".entry f() } ret; }", "expected '{', not '}'"},
      {".fun f() { ret; }", "PTX:2:1: '.fun' is not supported outside functions"},
      {".visible .section x { }", "'.section'"},
      {"ret;", "expected a directive, not 'ret'"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(declaration_refusal(text), HasSubstr(message)) << text;
  }
}

}  // namespace
}  // namespace kiln::test
