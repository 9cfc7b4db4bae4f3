// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Whatever the text, the PTX reader returns a module whose indices are valid, or throws an
// Error(device) that points into the text.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/emulated/ptx/ptx_module.hpp"
#include "tests/fuzz/mutator.hpp"

namespace kiln {
namespace {

using test::Mutator;

// Between them, most forms that the reader knows.
const std::vector<std::string> kModules{
    R"(.version 9.0
.target sm_90a, debug
.address_size 64
  // .weak  kernel
.extern .func  (.param .b32 func_retval0) vprintf
(.param .b64 vprintf_param_0, .param .b64 vprintf_param_1) ;
.func (.reg .f32 out) twice(.reg .f32 in) { add.f32 out, in, in; ret; }
.visible .const .align 4 .b8 table[2][3] = {{1, 0x2, 03}, {0b11}};
.global .align 8 .u64 pointers[] = {generic(table), table+4, twice};
.global .align 1 .u8 packed[3] = {120, 0XFF(generic(table)), 0xFF00(generic(table))};
.global .f64 reals[2] = {0d3FB999999999999A, -1.5e3};
.extern .shared .align 128 .b8 shared_memory[];
.weak .entry kernel(
  .param .align 8 .b8 kernel_param_0[104],
  .param .u64 .ptr .global .align 16 kernel_param_1
)
.maxntid 256, 1, 1
.minnctapersm 1
{
  .reg .pred   %p<3>;
  .reg .b32   %r<6>;
  .reg .f32   %f<5>;
  .reg .b64   %rd<5>;
  .shared .align 16 .b8 tile[512];
  .loc  1 54 0
  ld.param.v2.u32   {%r1, %r2}, [kernel_param_0+88];
  .loc  2 37 3, function_name $L__info_string0, inlined_at 1 58 3
  mov.u32   %r3, %tid.x;
  setp.ge.u32   %p1|%p2, %r1, (1+2)*4;
  @!%p1 bra   $L__BB0_2;
  { // callseq 0, 0
  .param .b64 param0;
  st.param.b64   [param0+0], %rd2;
  .param .b32 retval0;
  call.uni (retval0),
  vprintf,
  (
  param0,
  param0
  );
  }
$L__BB0_2:
  ld.shared.v4.f32 {%f1, %f2, _, %f4}, [tile+-8];
  mov.f32 %f3, 0f3F800000;
  ret;
}
  .file  1 "kernel.cu"
  .file  2 "tile.cuh"
  .section  .debug_str
  {
$L__info_string0:
.b8 95,90,78,0
  }
)",
    R"(.version 8.7 .target sm_90 .address_size 64
.func helper();
.entry k() .reqntid 32 .reqnctapercluster 2, 1, 1 {
.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .v4 .f32 v; .reg .pred p;
{ .reg .pred p; LAB_WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [%r1], %r2, WARP_SZ;
@p bra DONE; bra LAB_WAIT; DONE: }
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1],
[%rd1, {%r2, 0}], [%r3];
ld.global.v4.f32 v, [%rd1]; add.f32 v.x, v.y, -0.5; mov.u64 %rd2, helper;
prototype : .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _) ;
call (%r1), %rd2, (%r2, _), prototype;
table: .branchtargets A, B, A; brx.idx %r1, table; A: ret; B:
.pragma "nounroll"; elect.sync %r1|p, 0xffffffff; @!p exit; }
.func helper() .noreturn { trap; }
.func helper();
)"};

const std::vector<std::string> kWords{
    "{",           "}",        "(",        ")",        "[",
    "]",           "<9>",      ";",        ":",        ",",
    "@!",          "|",        "+-8",      "0x",       "0f",
    "0d",          "\"",       "/*",       "//",       "\n",
    ".reg ",       ".param ",  ".b32",     ".pred",    ".global ",
    "[]",          " = {",     "{{{{",     "((((",     "%r1",
    "%tid.x",      "v.w",      "_",        "generic(", ".align ",
    "99999",       "-1",       ".v4 ",     ".loc ",    ".section",
    ".func ",      ".entry ",  "kernel",   "table",    "0xFF(",
    "\x80",        "::",       "? 1 : 2",  " / 0 ",    "ret;",
    "A",           ".file 1 ", "brx.idx ", "call ",    "<2147483647>",
    "[4294967296]"};

/// Checks what everything after the reader relies on.
class ModuleCheck {
 public:
  explicit ModuleCheck(const ptx::Module& module) : module_(module) {}

  void run() {
    for (const auto& variable : module_.variables) check(variable);
    for (const auto& function : module_.functions) check(function);
  }

 private:
  static void expect_below(int index, std::size_t size) {
    ASSERT_GE(index, 0);
    ASSERT_LT(static_cast<std::size_t>(index), size);
  }

  static void check(const ptx::Variable& variable) {
    EXPECT_GE(variable.bytes, 0);
    EXPECT_GT(variable.alignment, 0);
    EXPECT_LE(variable.initial.size(), static_cast<std::size_t>(variable.bytes));
    for (const auto& one : variable.relocations) {
      EXPECT_LE(one.offset + static_cast<std::size_t>(one.bytes), variable.initial.size());
    }
  }

  void check(const ptx::Function& function) {
    const auto counted = static_cast<std::size_t>(function.parameter_count + function.return_count);
    ASSERT_LE(counted, function.variables.size());
    for (const auto& variable : function.variables) {
      check(variable);
      if (variable.module_index >= 0) {
        expect_below(variable.module_index, module_.variables.size());
      }
    }
    for (const auto& table : function.branch_tables) {
      for (const int target : table.targets) expect_below(target, function.body.size() + 1);
    }
    for (const auto& in : function.body) {
      ASSERT_FALSE(in.parts.empty());
      expect_below(in.origin.file, module_.files.size());
      expect_below(in.origin.outer_file, module_.files.size());
      if (in.guard >= 0) expect_below(in.guard, function.registers.size());
      for (const auto& operand : in.operands) check(function, in, operand);
      EXPECT_FALSE(ptx::text_of(function, in).empty());
    }
  }

  void check(const ptx::Function& function, const ptx::Instruction& in,
             const ptx::Operand& operand) {
    using Kind = ptx::Operand::Kind;
    if (operand.kind == Kind::reg) expect_below(operand.index, function.registers.size());
    if (operand.kind == Kind::variable) expect_below(operand.index, function.variables.size());
    if (operand.kind == Kind::label) {
      expect_below(operand.index, in.parts.front() == "brx" ? function.branch_tables.size()
                                                            : function.body.size() + 1);
    }
    for (const auto& each : operand.elements) check(function, in, each);
  }

  const ptx::Module& module_;
};

/// True if the text could be read.
bool reads_or_points(const std::string& text) {
  try {
    const ptx::Module module = ptx::read_module(text);
    ModuleCheck(module).run();
    return true;
  } catch (const Error& error) {
    test::expect_place_in(error, ErrorKind::device, "PTX", text);
    return false;
  }
}

TEST(FuzzPtx, TheSamplesThemselvesAreRead) {
  for (const auto& module : kModules) EXPECT_NO_THROW((void)ptx::read_module(module));
}

TEST(FuzzPtx, AnswersOrPointsAtTheFault) {
  Mutator mutator(kModules, kWords, 11);
  int read = 0;
  constexpr int kRounds = 40000;
  for (int i = 0; i < kRounds; ++i) {
    const std::string text = mutator.next();
    if (reads_or_points(text)) ++read;
    if (HasFailure()) FAIL() << "input: " << text;
  }
  EXPECT_GT(read, kRounds / 50);
  EXPECT_LT(read, kRounds * 9 / 10);
}

TEST(FuzzPtx, TextThatEndsAnywhere) {
  for (const std::string& module : kModules) {
    for (std::size_t size = 0; size < module.size(); ++size) {
      const std::string text = module.substr(0, size);
      reads_or_points(text);
      if (HasFailure()) FAIL() << "input: " << text;
    }
  }
}

}  // namespace
}  // namespace kiln
