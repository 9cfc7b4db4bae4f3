// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/emulated/ptx_samples.hpp"

namespace kiln::test {
namespace {

using ::testing::HasSubstr;

/// "innermost.cu:2 < outermost.cu:3" of an instruction; NVRTC writes .file at the end.
class PtxSourceLines : public ::testing::Test {
 protected:
  void read(const std::string& statements, const std::string& rest = "") {
    module_ = read_declarations(".entry k() {\n" + statements + "\n}\n" + rest +
                                ".file 1 \"kernel.cu\"\n.file 2 \"tile.cuh\", 1700000000, 99\n"
                                ".file 40 \"mma.hpp\"\n"
                                ".file 41 \"/opt/cuda/include/crt/mma.hpp\"\n");
  }

  std::string origin(std::size_t instruction, const std::string& function = "k") const {
    const auto& from = module_.find(function)->body.at(instruction).origin;
    const auto place = [&](int file, int line) {
      return module_.files.at(static_cast<std::size_t>(file)) + ":" + std::to_string(line);
    };
    const std::string inner = place(from.file, from.line);
    return from.outer_line == 0 ? inner : inner + " < " + place(from.outer_file, from.outer_line);
  }

  ptx::Module module_;
};

TEST_F(PtxSourceLines, ALineHoldsUntilTheNext) {
  read("ret; .loc 1 54 0\nret; ret;\n{ .loc 2 7 3\n ret; } ret;");
  EXPECT_EQ(origin(0), ":0");
  EXPECT_EQ(origin(1), "kernel.cu:54");
  EXPECT_EQ(origin(2), "kernel.cu:54");
  EXPECT_EQ(origin(3), "tile.cuh:7");
  EXPECT_EQ(origin(4), "tile.cuh:7");
  EXPECT_EQ(module_.find("k")->body[0].origin.ptx_line, 3);
  EXPECT_EQ(module_.find("k")->body[3].origin.ptx_line, 6);
}

TEST_F(PtxSourceLines, InlinedCodeKnowsItsCaller) {
  read(
      ".loc 1 58 3\n.loc 2 37 3, function_name $L__info_string0, inlined_at 1 58 3\nret;\n"
      ".loc 1 60 3\nret;");
  EXPECT_EQ(origin(0), "tile.cuh:37 < kernel.cu:58");
  EXPECT_EQ(origin(1), "kernel.cu:60");
}

TEST_F(PtxSourceLines, AChainOfCallsIsFollowedToItsEnd) {
  read(
      ".loc 1 58 3\n.loc 2 37 3, function_name $L__a, inlined_at 1 58 3\n"
      ".loc 2 90 5, function_name $L__b+4, inlined_at 2 37 3\n"
      ".loc 40 7 1, function_name $L__c, inlined_at 2 90 5\nret;");
  EXPECT_EQ(origin(0), "mma.hpp:7 < kernel.cu:58");
}

TEST_F(PtxSourceLines, TheLastCallerCounts) {
  read(
      ".loc 2 37 3, function_name $L__a, inlined_at 1 58 3\n"
      ".loc 2 37 3, function_name $L__a, inlined_at 1 70 3\n"
      ".loc 40 7 1, function_name $L__c, inlined_at 2 37 3\nret;\n.loc 2 37 3\n"
      ".loc 40 7 1, function_name $L__c, inlined_at 2 37 3\nret;");
  EXPECT_EQ(origin(0), "mma.hpp:7 < kernel.cu:70");
  EXPECT_EQ(origin(1), "mma.hpp:7 < tile.cuh:37");
}

TEST_F(PtxSourceLines, CodeOfCudasHeadersHasThePlaceOfItsCall) {
  read(
      ".loc 1 58 3\n.loc 2 37 3, function_name $L__a, inlined_at 1 58 3\n"
      ".loc 41 90 5, function_name $L__b, inlined_at 2 37 3\n"
      ".loc 41 7 1, function_name $L__c, inlined_at 41 90 5\nret;\n.loc 41 12 1\nret;");
  EXPECT_EQ(origin(0), "tile.cuh:37 < kernel.cu:58");
  EXPECT_EQ(origin(1), "/opt/cuda/include/crt/mma.hpp:12");
}

TEST_F(PtxSourceLines, LineZeroBelongsToWhatStandsBefore) {
  read(".loc 1 0 3\nret; .loc 1 54 3\nret; .loc 1 0 3\nret; .loc 1 55 3\nret;");
  EXPECT_EQ(origin(0), "kernel.cu:0");
  EXPECT_EQ(origin(2), "kernel.cu:54");
  EXPECT_EQ(origin(3), "kernel.cu:55");
}

TEST_F(PtxSourceLines, ACallOfItselfEnds) {
  read(
      ".loc 1 5 3\n.loc 1 5 3, function_name $L__a, inlined_at 1 5 3\n"
      ".loc 1 5 3, function_name $L__a, inlined_at 1 5 3\nret;");
  EXPECT_EQ(origin(0), "kernel.cu:5 < kernel.cu:5");
}

TEST_F(PtxSourceLines, AFunctionStartsWithoutALine) {
  read(".loc 1 5 3\nret;", ".func f() { ret; }\n");
  EXPECT_EQ(origin(0, "f"), ":0");
}

TEST_F(PtxSourceLines, DebugSectionsAreSkipped) {
  read("ret;",
       ".section .debug_str\n{\n$L__info_string0: // } is no end\n.b8 95,90,0\n.b32 $L__x+4\n"
       ".b64 .debug_abbrev\n.b32 $L__a-$L__b\n{ }\n}\n.section .debug_info { }\n");
  EXPECT_EQ(module_.functions.size(), 1U);
}

TEST_F(PtxSourceLines, FaultsNameTheirPlace) {
  EXPECT_EQ(declaration_refusal(".entry k() {\n.loc 3 1 1\nret; }"),
            "PTX:3:6: no .file directive defines file 3");
  EXPECT_THAT(
      declaration_refusal(".file 1 \"a\"\n.file 1 \"b\""),
      HasSubstr("PTX:3:7: two .file directives have the number 1, but different file names"));
  EXPECT_THAT(declaration_refusal(".entry k() { .loc 1 2\nret; }"),
              HasSubstr("expected a column, not 'ret'"));
  EXPECT_THAT(declaration_refusal(".loc 1 2 3, is_stmt 1"),
              HasSubstr("expected function_name or inlined_at, not 'is_stmt'"));
  EXPECT_THAT(declaration_refusal(".section .debug_str {"),
              HasSubstr("this bracket is not closed by '}'"));
}

}  // namespace
}  // namespace kiln::test
