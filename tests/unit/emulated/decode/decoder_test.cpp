// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What variables, calls and operands of a kernel stand for, and what the decoder does not take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "tests/unit/emulated/lane_kernel.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using lane_test::run_one;
using test::findings;
using test::kernel_text;
using test::PtxRunner;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kDeclarations =
    ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>; ld.param.u64 %rd1, [p0];\n";

/// Runs one thread; the words that it writes to p0.
std::vector<std::uint32_t> words_of(const std::string& body, std::string_view before = "",
                                    std::size_t count = 1) {
  PtxRunner run(kernel_text(std::string(kDeclarations) + body, 1, before));
  const auto out = run.fresh_buffer(count * 4);
  run.launch_clean({1, 1, 1}, {1, 1, 1}, out);
  return run.read<std::uint32_t>(out, count);
}

/// Why a module cannot be loaded.
std::string module_refusal(const std::string& body, std::string_view before = "") {
  GlobalMemory memory(std::int64_t{1} << 26);
  try {
    const EmulatedModule module(kernel_text(std::string(kDeclarations) + body, 1, before), {"k"},
                                memory);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Decoder, ParametersOfAKernelCannotBeWritten) {
  for (const std::string body :
       {"st.param.b32 [p0], 1;", "mov.u64 %rd2, p0; cvta.param.u64 %rd2, %rd2; st.u32 [%rd2], 1;",
        "mov.u64 %rd2, p0; cvta.param.u64 %rd2, %rd2; atom.add.u32 %r1, [%rd2], 1;"}) {
    PtxRunner run(kernel_text(std::string(kDeclarations) + body + "ret;", 1));
    const auto result = run.launch({1, 1, 1}, {1, 1, 1}, run.fresh_buffer(4));
    ASSERT_EQ(findings(result), std::vector<Finding>{Finding::out_of_bounds}) << body;
    EXPECT_THAT(result.fault->text, HasSubstr("a kernel parameter"));
  }
}

TEST(Decoder, SharedVariablesOfOneNameAreSeveral) {
  const std::string before = R"(
.shared .b32 t[2];
.func f() { .shared .b32 t[64]; st.shared.u32 [t], 3; ret; }
.func g() { .shared .b32 t[4]; st.shared.u32 [t], 4; ret; }
.func h(.param .b32 x) { .reg .b32 r; ld.shared.u32 r, [t]; ret; }
)";
  const auto words = words_of(R"(
    st.shared.u32 [t], 5;
    { .shared .b32 t[8]; st.shared.u32 [t], 1; }
    { .shared .b32 t[64]; st.shared.u32 [t], 2; st.shared.u32 [t+252], 6; ld.shared.u32 %r2, [t]; }
    call f; call g;
    ld.shared.u32 %r1, [t];
    st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r2;
    ret;)",
                              before, 2);
  EXPECT_EQ(words, (std::vector<std::uint32_t>{5, 2}));
  // Functions that name a variable of the module mean one and the same.
  EXPECT_EQ(words_of("st.shared.u32 [t], 7; call get; ld.shared.u32 %r1, [t];\n"
                     "st.global.u32 [%rd1], %r1; ret;",
                     ".shared .b32 t[2]; .func get() { .reg .b32 r; ld.shared.u32 r, [t];\n"
                     "add.u32 r, r, 1; st.shared.u32 [t], r; ret; }"),
            std::vector<std::uint32_t>{8});
}

TEST(Decoder, ArgumentsMayHideParametersOfTheKernel) {
  EXPECT_EQ(words_of("{ .param .b32 p0; st.param.b32 [p0], 41; call f, (p0);\n"
                     "ld.param.b32 %r1, [p0]; }\n"
                     "add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1; ret;",
                     ".func f(.param .b32 p0) { ret; }"),
            std::vector<std::uint32_t>{42});
}

TEST(Decoder, ArgumentsGoThroughSeveralCalls) {
  EXPECT_EQ(words_of("{ .param .b32 a; .param .b32 b; st.param.b32 [a], 20;\n"
                     "call.uni (b), twice, (a); ld.param.b32 %r1, [b]; }\n"
                     "st.global.u32 [%rd1], %r1; ret;",
                     ".func (.param .b32 r) next(.param .b32 x) { .reg .b32 t;\n"
                     "ld.param.b32 t, [x]; add.u32 t, t, 1; st.param.b32 [r], t; ret; }\n"
                     ".func (.param .b32 r) twice(.param .b32 x) { .reg .b32 t;\n"
                     "{ .param .b32 y; call (y), next, (x); call (r), next, (y); } ret; }"),
            std::vector<std::uint32_t>{22});
}

TEST(Decoder, CallsThatCannotBeAreRefused) {
  const std::string f =
      ".func f(.param .b32 x) { ret; } .func n() { ret; }\n"
      ".func (.reg .b32 r) in_registers(.reg .b32 x) { mov.b32 r, x; ret; }\n"
      ".extern .func nowhere();";
  const std::pair<const char*, const char*> cases[] = {
      {"call.foo.bar n;", "the modifier '.foo'"},
      {"call n, (%r1);", "calls 'n' with 1 values, but the function declares 0"},
      {"call n, (), ();", "has 3 operands"},
      {"call nowhere;", "calls 'nowhere', but the module does not define"},
      {"call f, (%r1);", "not a .param variable"},
      {".shared .b32 s; call f, (s);", ".param"},
      {".param .b64 wide; call f, (wide);", "passes 8 bytes, but the parameter of 'f' has 4"},
      {".param .b32 a; call (a), in_registers, (a);", "does not support parameters in registers"},
      {"type: .callprototype _ (); call %rd2;", "has 1 operands, but the emulator expects 2"},
      {"type: .callprototype _ (); call %r2, type;", "whose width differs"},
      {"mov.u32 %r1, f;", "the address of 'f'"},
  };
  for (const auto& [call, message] : cases) {
    EXPECT_THAT(module_refusal(std::string(call) + " ret;", f), HasSubstr(message)) << call;
  }
}

TEST(Decoder, ControlInstructionsTakeWhatPtxGivesThem) {
  EXPECT_EQ(words_of(".pragma \"nounroll\"; brkpt; st.global.u32 [%rd1], 1; ret.uni;"),
            std::vector<std::uint32_t>{1});
  for (const char* body :
       {"exit 1;", "ret %r1;", "trap 1;", "brkpt 1;", "brkpt.foo;", "nop;", "pragma \"nounroll\";",
        "ret.foo;", "L: @%r1 bra L;", "brx.idx %r1, %r0;"}) {
    const std::string message = module_refusal(body);
    EXPECT_TRUE(message.starts_with("PTX line ") || message.starts_with("PTX:")) << body << message;
  }
}

TEST(Decoder, OperandsMeanWhatTheySay) {
  for (const char* body :
       {"add.s32 %rd, !%pa, %rb;", "add.s32 %rd, %ra, 1.5;", "mov.b16 %hd, 1.5;",
        "fma.rn.f16 %hd, %ha, %hb, 1.0;", "selp.b32 %rd, %ra, %rb, _;", "and.pred %pd, %pa, _;",
        "not.pred !%pd, %pa;", "mov.b32 {%hd, !%pa}, %ra;", "mov.f64 %ld, !%pa;"}) {
    lane_test::expect_refused(body);
  }
  const auto one = [](const char* body, char result) { return run_one(body, result, {}); };
  EXPECT_EQ(one("mov.b32 %rd, 0f7F800001;", 'r'), 0x7F800001U);
  EXPECT_EQ(one("mov.f32 %rd, 0fFFC12345;", 'r'), 0xFFC12345U);
  EXPECT_EQ(one("mov.b32 %rd, 1.5;", 'r'), 0x3FC00000U);
  EXPECT_EQ(one("mov.b64 %ld, 1.5;", 'l'), 0x3FF8000000000000U);
  // An offset may wrap around.
  EXPECT_EQ(one(".shared .b32 buf[2]; st.shared.u32 [buf+4], 9;\n"
                "ld.shared.u32 %rd, [buf+9223372036854775807+-9223372036854775803];",
                'r'),
            9U);
  EXPECT_THAT(module_refusal(".shared .b32 buf[2]; ld.shared.u32 %r1, [buf+9223372036854775807];"
                             "foo;"),
              HasSubstr(": foo "));
}

TEST(Decoder, MessagesShowTheInstruction) {
  lane_test::expect_refused("add.s32 %rd, %la, 7;", "add.s32 has a register whose width");
  lane_test::expect_refused("add.s32 %rd, %la, 7;", "in 'add.s32 %rd, %la, 7;'");
  std::string list = "{%ra";
  for (int i = 0; i < 1000; ++i) list += ", %ra";
  EXPECT_LT(lane_test::expect_refused("mov.b64 %ld, " + list + "};").size(), 400U);
}

TEST(Decoder, AModuleNeedsItsVariables) {
  const std::string nothing = "ret;";
  EXPECT_EQ(module_refusal(nothing, ".extern .global .u32 elsewhere;"), "");
  EXPECT_THAT(
      module_refusal("ld.global.u32 %r1, [elsewhere]; ret;", ".extern .global .u32 elsewhere;"),
      HasSubstr("'elsewhere' is declared but not defined"));
  const std::string uses = "ld.global.u32 %r1, [p]; ret;";
  EXPECT_THAT(module_refusal(uses, ".extern .global .u32 x; .global .u64 p = x;"),
              AllOf(HasSubstr("'x'"), HasSubstr("not defined")));
  EXPECT_THAT(module_refusal(uses, ".shared .u32 x; .global .u64 p = x;"),
              HasSubstr("the address of 'x', which is not a global variable"));
  EXPECT_THAT(module_refusal(nothing, ".local .u32 x;"),
              HasSubstr("the .local variable 'x' is declared outside"));
}

TEST(Decoder, BlocksAreAsLargeAsTheKernelSays) {
  const auto most = [](const std::string& directives) {
    GlobalMemory memory(std::int64_t{1} << 26);
    const EmulatedModule module(
        ".version 9.0 .target sm_90a .address_size 64\n.entry k() " + directives + " { ret; }",
        {"k"}, memory);
    return module.functions().front().max_threads;
  };
  EXPECT_EQ(most(""), 1024);
  EXPECT_EQ(most(".maxntid 64, 2"), 128);
  EXPECT_EQ(most(".maxntid 65536, 65536"), 1024);
  EXPECT_EQ(most(".maxntid 1024 .reqntid 32, 3, 1"), 96);
}

TEST(Decoder, OpcodesAndOperandsHaveTheirNumber) {
  std::string parts = "ld.global";
  for (int i = 0; i < 40; ++i) parts += ".ca";
  lane_test::expect_refused(parts + ".u32 %rd, [%in];", "too many modifiers");
  for (const char* statement :
       {"ld.global.u32 %rd, [%in], %la;", "st.global.u32 [%in], %ra, %la;",
        "ld.global.L2::cache_hint.u32 %rd, [%in];", "atom.global.add.u32 %rd, [%in], 1, 2;",
        "red.global.add.u32 [%in], 1, %la;", "membar.gl %ra;", "fence.acq_rel.gpu [%in], 128;",
        "prefetch.global.L2 [%in], 5;", "createpolicy.range.L2::evict_last.b64 %ld, [%in];"}) {
    lane_test::expect_refused(statement);
  }
}

TEST(Decoder, CachePoliciesChangeNoValue) {
  EXPECT_EQ(run_one("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %l1, 0.5;\n"
                    "ld.global.L2::cache_hint.u32 %rd, [%in], %l1;",
                    'r', {17}),
            17U);
  EXPECT_EQ(run_one("createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %l1, [%in], 32, "
                    "64;\natom.global.add.L2::cache_hint.u32 %rd, [%in], 1, %l1;",
                    'r', {17}),
            17U);
}

TEST(Decoder, WhatAFunctionKeepsIsFreeAgainWhenItReturns) {
  const std::string before =
      ".func deep(.param .b32 x) { .local .align 4 .b8 own[4096]; .reg .b32 %v; .reg .b64 %a;\n"
      "ld.param.b32 %v, [x]; mov.u64 %a, own; st.local.u32 [%a], %v; ld.local.u32 %v, [%a];\n"
      "st.param.b32 [x], %v; ret; }\n";
  std::string body = ".param .b32 value; st.param.b32 [value], 9;\n";
  for (int i = 0; i < 300; ++i) body += "call deep, (value);\n";
  EXPECT_EQ(words_of(body + "ld.param.b32 %r1, [value]; st.global.u32 [%rd1], %r1; ret;", before),
            std::vector<std::uint32_t>{9});
}

TEST(Decoder, SharedVariablesLieWhereTheirAlignmentSays) {
  EXPECT_EQ(words_of(".shared .align 4 .b8 first[4]; .shared .align 4096 .b8 second[16];\n"
                     "mov.u32 %r2, first; mov.u32 %r1, second; and.b32 %r1, %r1, 4095;\n"
                     "st.global.u32 [%rd1], %r1; ret;"),
            std::vector<std::uint32_t>{0});
}

TEST(Decoder, WhatCallsCopyInHasALimit) {
  // Each call copies a table of many targets, or local memory, or variables.
  std::string targets = "A";
  for (int i = 0; i < 2000; ++i) targets += ", A";
  std::string calls;
  for (int i = 0; i < 3000; ++i) calls += "call f;\n";
  EXPECT_THAT(module_refusal(calls + "ret;",
                             ".func f() { .reg .b32 r; A: ret;\ntable: "
                             ".branchtargets " +
                                 targets + "; brx.idx r, table; }"),
              HasSubstr("too large for the emulator"));
  EXPECT_THAT(module_refusal(calls + "ret;",
                             ".func f() { .local .b8 x[1099511627776]; .reg .b64 r;\n"
                             "mov.u64 r, x; ret; }"),
              HasSubstr("bytes of local memory"));
}

/// How many registers the first instruction that is called so writes and reads.
std::pair<int, int> uses_of(const std::string& body, const std::string& opcode) {
  const ptx::Module module = ptx::read_module(lane_test::kernel_of(body, 'r'));
  const auto program =
      decode(module, "lanes", [](const ptx::Variable&) { return std::uint64_t{0}; });
  for (std::size_t i = 0; i < program->code.size(); ++i) {
    if (program->opcodes[i] == opcode) return {program->uses[i].writes, program->uses[i].reads};
  }
  ADD_FAILURE() << "no " << opcode;
  return {};
}

TEST(Decoder, ReductionsOfBarriersHaveAResult) {
  EXPECT_EQ(uses_of("bar.red.popc.u32 %rd, 0, %pa;", "bar.red.popc.u32"), std::pair(1, 1));
  EXPECT_EQ(uses_of("bar.sync %ra, 32;", "bar.sync"), std::pair(0, 1));
}

}  // namespace
}  // namespace kiln::emulated
