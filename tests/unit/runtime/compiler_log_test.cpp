// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/compiler_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CompilerLogTest, EmptyLogHasNothing) {
  const CompilerLog log = parse_compiler_log("");
  EXPECT_EQ(log.resources, KernelResources{});
  EXPECT_THAT(log.warnings, IsEmpty());
}

TEST(CompilerLogTest, TakesTheMaximumOverKernels) {
  const CompilerLog log = parse_compiler_log(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function '_Z1kILi3EEvPf' for 'sm_90a'\n"
      "ptxas info    : Function properties for _Z1kILi3EEvPf\n"
      "ptxas         .     24 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 10 registers, used 1 barriers, 512 bytes smem\n"
      "ptxas info    : Compile time = 2.742 ms\n"
      "ptxas info    : Compiling entry function 'e' for 'sm_90a'\n"
      "ptxas info    : Function properties for e\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 0 barriers\n");
  EXPECT_EQ(log.resources.registers, 168);
  EXPECT_EQ(log.registers, (KernelRegisters{{"_Z1kILi3EEvPf", 10}, {"e", 168}}));
  EXPECT_EQ(log.resources.smem_static_bytes, 512);
  EXPECT_EQ(log.resources.stack_bytes, 24);
  EXPECT_EQ(log.resources.spill_store_bytes, 8);
  EXPECT_EQ(log.resources.spill_load_bytes, 12);
  EXPECT_THAT(log.warnings, IsEmpty());
}

TEST(CompilerLogTest, KeepsCodedMessagesWhateverTheirSeverity) {
  const CompilerLog log = parse_compiler_log(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma is serialized\n"
      "ptxas warning : (C7508) an instruction is ignored");
  EXPECT_THAT(log.warnings, ElementsAre("C7510 Potential Performance Loss: wgmma is serialized",
                                        "C7508 an instruction is ignored"));
}

TEST(CompilerLogTest, KeepsWarningsWithoutCode) {
  const CompilerLog log = parse_compiler_log(
      "ptxas warning : Stack size for entry function 'k' cannot be statically determined\n");
  EXPECT_THAT(log.warnings, ElementsAre("Stack size for entry function 'k' cannot be statically "
                                        "determined"));
}

TEST(CompilerLogTest, PassesOverTheFrontEnd) {
  const CompilerLog log =
      parse_compiler_log("kernel.cu(3): warning #177-D: variable \"x\" (C7508) Used 9 registers\n");
  EXPECT_THAT(log.warnings, IsEmpty());
  EXPECT_EQ(log.resources.registers, 0);
}

TEST(CompilerLogTest, SurvivesNumbersOutOfRangeAndMissingOnes) {
  const CompilerLog log = parse_compiler_log(
      "ptxas info    : Used 99999999999999 registers, used  registers\n"
      "ptxas         .     bytes stack frame\n"
      "ptxas (C\nptxas (C75\nptxas (C) x\n");
  EXPECT_EQ(log.resources.registers, 2147483647);
  EXPECT_EQ(log.resources.stack_bytes, 0);
  EXPECT_THAT(log.warnings, IsEmpty());
}

}  // namespace
}  // namespace kiln
