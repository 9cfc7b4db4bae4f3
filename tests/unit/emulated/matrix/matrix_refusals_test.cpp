// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Matrix instructions that PTX does not have, and warps that cannot execute those it has.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kiln/error.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::kernel_text;
using test::PtxRunner;

/// Registers "{p0, p1, ...}".
std::string list(std::string_view prefix, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += fmt::format("{}{}{}", i == 0 ? "" : ", ", prefix, i);
  return text + "}";
}

/// Whether an instruction is known; what is not is refused by its line and name. r0.. have 32 bits,
/// d0.. 64.
bool is_known(const std::string& instruction) {
  const std::string text = kernel_text(
      ".reg .b32 r<64>; .reg .b64 d<64>; .reg .b16 h<8>; .reg .pred p<8>;\n"
      ".shared .align 16 .b8 place[4096];\n" +
          instruction + "\nret;",
      1);
  try {
    const PtxRunner run(text);
  } catch (const Error& error) {
    EXPECT_TRUE(test::is_about(error.what(), text, instruction));
    return false;
  }
  return true;
}

/// mma and wmma with as many registers as the four operands name.
std::string multiply(const std::string& opcode, const std::vector<int>& counts) {
  std::string text = opcode + " ";
  for (std::size_t i = 0; i < counts.size(); ++i) {
    text += (i == 0 ? "" : ", ") + list(opcode.find("f64") == opcode.npos ? "r" : "d", counts[i]);
  }
  return text + ";";
}

TEST(MatrixRefusals, TypesThatDoNotGoTogether) {
  const std::tuple<const char*, std::vector<int>> cases[] = {
      {"mma.sync.aligned.m16n8k4.row.col.f32.f64.f64.f32", {4, 2, 1, 4}},
      {"mma.sync.aligned.m16n8k16.row.col.f16.f64.f64.f16", {2, 8, 4, 2}},
      {"mma.sync.aligned.m16n8k16.row.col.f16.s8.s8.f16", {2, 2, 1, 2}},
      {"mma.sync.aligned.m16n8k16.row.col.s32.f16.f16.s32", {4, 4, 2, 4}},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32", {4, 4, 2, 4}},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16", {4, 4, 2, 2}},
      {"mma.sync.aligned.m16n8k8.row.col.s32.s32.s32.s32", {4, 4, 2, 4}},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f32.f32.f32", {4, 4, 2, 4}},
      {"mma.sync.aligned.m8n8k16.row.col.f32.e4m3.e4m3.f32", {2, 1, 1, 2}},
      {"mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f32", {2, 4, 2, 4}},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f32", {4, 4, 2, 4}},
      {"mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f32", {4, 2, 2, 8}},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16.f16.f32", {8, 8, 8, 8}},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32", {8, 2, 2, 8}},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.e4m3.e4m3.f32", {8, 2, 2, 8}},
      {"wmma.mma.sync.aligned.row.col.m16n16k8.f32.f32.f32.f32", {8, 4, 4, 8}},
  };
  for (const auto& [opcode, counts] : cases) {
    EXPECT_FALSE(is_known(multiply(opcode, counts))) << opcode;
  }
}

TEST(MatrixRefusals, ModifiersOfOtherTypes) {
  const std::tuple<const char*, std::vector<int>, bool> cases[] = {
      {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc", {2, 1, 1, 2}, true},
      {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32", {2, 1, 1, 2}, false},
      {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.popc", {2, 1, 1, 2}, false},
      {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32.satfinite", {2, 1, 1, 2}, true},
      {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32.xor.popc", {2, 1, 1, 2}, false},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32.satfinite", {4, 4, 2, 4}, false},
      {"mma.sync.aligned.m16n8k16.row.col.rn.f32.f16.f16.f32", {4, 4, 2, 4}, false},
      {"mma.sync.aligned.m8n8k4.row.col.rn.f64.f64.f64.f64", {2, 1, 1, 2}, true},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16", {8, 8, 8, 4}, true},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.satfinite", {8, 8, 8, 8}, false},
  };
  for (const auto& [opcode, counts, known] : cases) {
    EXPECT_EQ(is_known(multiply(opcode, counts)), known) << opcode;
  }
}

TEST(MatrixRefusals, FragmentsThatAreNotMoved) {
  for (const std::string& text :
       {"wmma.load.a.sync.aligned.row.m16n16k16.global.e4m3 " + list("r", 2) + ", [d0];",
        "wmma.load.a.sync.aligned.row.m16n16k8.global.f32 " + list("r", 4) + ", [d0];",
        "wmma.load.c.sync.aligned.row.m16n16k16.global.bf16 " + list("r", 4) + ", [d0];",
        "wmma.load.d.sync.aligned.row.m16n16k16.global.f32 " + list("r", 8) + ", [d0];",
        "wmma.store.a.sync.aligned.row.m16n16k16.global.f16 [d0], " + list("r", 8) + ";",
        std::string("ldmatrix.sync.aligned.m8n8.x1.global.b16 {r0}, [d0];"),
        std::string("ldmatrix.sync.aligned.m8n8.x1.shared::cluster.b16 {r0}, [r1];")}) {
    EXPECT_FALSE(is_known(text)) << text;
  }
}

TEST(MatrixRefusals, AddressesOfBlocksHave32Or64Bits) {
  for (const char* const text : {"mapa.u16 h0, h1, r0;", "mapa.pred p0, p1, r0;",
                                 "mapa.f32 r2, r1, r0;", "getctarank.u16 r0, h0;"}) {
    EXPECT_FALSE(is_known(text)) << text;
  }
  EXPECT_TRUE(is_known("mapa.u64 d0, d1, r0;"));
  EXPECT_TRUE(is_known("getctarank.shared::cluster.u32 r0, r1;"));
}

/// A kernel with %r1 a shared address and %rd1 the parameter.
std::string kernel_of(const std::string& body) {
  return kernel_text(
      ".reg .b32 %r<64>; .reg .b64 %rd<8>; .reg .pred %p<2>;\n"
      ".shared .align 128 .b8 place[4096];\n"
      "mov.u32 %r1, place; ld.param.u64 %rd1, [p0];\n" +
          body + "\nret;",
      1);
}

TEST(MatrixRefusals, WarpsThatAreNotWhole) {
  const std::string eight = "{%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}";
  for (const std::string& text :
       {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " + eight + ", [%rd1];",
        "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " + eight + ", [%r1];",
        "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 " + eight + ", [%rd1];",
        "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], " + eight + ";",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 " + eight + ", " + eight + ", " + eight +
            ", " + eight + ";",
        std::string("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 "
                    "{%r10, %r11}, {%r12}, {%r13}, {%r14, %r15};"),
        std::string("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r1];"),
        std::string("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r10};"),
        std::string("movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r11;")}) {
    const auto run_with = [](const std::string& body, std::uint32_t threads) {
      PtxRunner run(kernel_of(body), "k", false);
      return findings(run.launch({1, 1, 1}, {threads, 1, 1}, run.buffer(std::vector<float>(1024))));
    };
    const std::vector<Finding> divergent{Finding::divergent};
    EXPECT_EQ(run_with(text, 16), divergent) << text;
    EXPECT_EQ(run_with(text, 48), divergent) << text;
    EXPECT_EQ(run_with("mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 7; @%p1 ret;\n" + text, 32),
              divergent)
        << text;
    EXPECT_EQ(run_with(text, 64), std::vector<Finding>()) << text;
  }
}

TEST(MatrixRefusals, RowsLieInSharedMemory) {
  const auto result_of = [](const std::string& body) {
    PtxRunner run(kernel_of(body), "k", false);
    return findings(run.launch({1, 1, 1}, {32, 1, 1}, run.buffer(std::vector<float>(1024))));
  };
  const std::string load = "ldmatrix.sync.aligned.m8n8.x1.b16 {%r10}, [%rd1];";
  EXPECT_EQ(result_of(load), std::vector<Finding>{Finding::out_of_bounds});
  EXPECT_EQ(result_of("stmatrix.sync.aligned.m8n8.x1.b16 [%rd1], {%r10};"),
            std::vector<Finding>{Finding::out_of_bounds});
  EXPECT_EQ(result_of("mov.u64 %rd1, place; cvta.shared.u64 %rd1, %rd1;" + load),
            std::vector<Finding>());
}

}  // namespace
}  // namespace kiln::emulated
