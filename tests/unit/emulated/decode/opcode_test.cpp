// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/decode/opcode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/error.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const Program> decoded(const std::string& statement) {
  const std::string text =
      ".reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>; " + statement +
      " ret;";
  return decode(ptx::read_module(test::kernel_text(text, 0)), "k",
                [](const ptx::Variable&) { return std::uint64_t{0}; });
}

std::string error_of(const std::string& statement) {
  try {
    static_cast<void>(decoded(statement));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

const Traits& traits_of(const Program& program) {
  return program.traits.front();
}

/// With the same parts, types must tell: else the order of tables would decide.
TEST(Opcodes, NoTwoRowsFitTheSameInstruction) {
  std::map<std::string_view, std::vector<const Opcode*>> by_name;
  for (const auto table : opcode_tables()) {
    EXPECT_FALSE(table.empty());
    for (const Opcode& row : table) {
      EXPECT_NE(row.decode, nullptr) << row.name;
      by_name[row.name].push_back(&row);
    }
  }
  EXPECT_GT(by_name.size(), 150U);
  for (const auto& [name, rows] : by_name) {
    int untyped = 0;
    for (int i = 0; i <= static_cast<int>(ptx::Type::f64); ++i) {
      const auto type = static_cast<ptx::Type>(i);
      int fitting = 0;
      for (const Opcode* row : rows) fitting += row->types.has(type) ? 1 : 0;
      EXPECT_LE(fitting, 1) << name << " of ." << ptx::name_of(type);
    }
    for (const Opcode* row : rows) untyped += row->types.empty() ? 1 : 0;
    EXPECT_LE(untyped, 1) << name;
    // A row for any type stands behind those for some.
    EXPECT_TRUE(untyped == 0 || rows.back()->types.empty()) << name;
  }
}

TEST(Opcodes, TheRowWithTheMostPartsIsTaken) {
  EXPECT_EQ(traits_of(*decoded("mul.lo.s64 %rd1, %rd2, %rd3;")).slots, 4.0F);
  EXPECT_EQ(traits_of(*decoded("mul.lo.u64 %rd1, %rd2, %rd3;")).slots, kLongSlots);
  EXPECT_EQ(traits_of(*decoded("mad.lo.cc.s64 %rd1, %rd2, %rd3, %rd1;")).slots, kLongSlots);
  EXPECT_EQ(decoded("add.cc.u32 %r1, %r2, %r3;")->code.front().e == kNoRow, false);
  EXPECT_EQ(decoded("add.u32 %r1, %r2, %r3;")->code.front().e == kNoRow, true);
}

TEST(Opcodes, ThatAreUnknownAreRefusedWithWhatIsKnown) {
  EXPECT_THAT(error_of("mull.lo.s32 %r1, %r2, %r3;"),
              HasSubstr("mull.lo.s32 is an instruction that the emulator does not support"));
  EXPECT_THAT(error_of("mul.s32 %r1, %r2, %r3;"),
              HasSubstr("is supported for .s32 only as mul.lo, mul.hi, mul.wide"));
  EXPECT_THAT(error_of("add.b32 %r1, %r2, %r3;"), HasSubstr("does not support the type .b32"));
  EXPECT_THAT(error_of("add %r1, %r2, %r3;"), HasSubstr("has no type"));
  EXPECT_THAT(error_of("wgmma.wait.sync.aligned;"),
              HasSubstr("is supported only as wgmma.fence, wgmma.commit_group, wgmma.wait_group"));
  EXPECT_THAT(error_of("add.s32.wrap %r1, %r2, %r3;"), HasSubstr("has the modifier '.wrap'"));
}

TEST(Opcodes, SayWhatAnInstructionReadsAndWrites) {
  const auto writes = [](const std::string& statement) {
    return int{decoded(statement)->uses.front().writes};
  };
  EXPECT_EQ(writes("add.s32 %r1, %r2, %r3;"), 1);
  EXPECT_EQ(writes("bar.sync %r1;"), 0);
  EXPECT_EQ(writes("bar.red.popc.u32 %r1, 0, %p1;"), 1);
  EXPECT_EQ(writes("nanosleep.u32 %r1;"), 0);
  const auto product = decoded(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, 1, 1, "
      "1, 0, 0;");
  EXPECT_EQ(product->uses.front().writes, 4);
  EXPECT_EQ(product->uses.front().reads, 4 + 2);  // the sums, and two descriptors
}

}  // namespace
}  // namespace kiln::emulated
