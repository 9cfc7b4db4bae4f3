// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a module brings besides instructions: variables with initial values, special registers,
// limits of launches, and refusals of what the emulator does not execute.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"
#include "tests/unit/templates/expect_error.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::kernel_text;
using test::PtxRunner;

/// A kernel of one thread whose statements leave 64 bits in %rd9; %rd1 is p0.
std::string one_value_text(const std::string& variables, const std::string& statements) {
  return kernel_text(R"(
    .reg .pred %p<8>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>;
    ld.param.u64 %rd1, [p0];
    mov.u64 %rd9, 0;
  )" + statements + R"(
    st.global.u64 [%rd1], %rd9;
    ret;
  )",
                     1, variables);
}

std::uint64_t one_value(const std::string& variables, const std::string& statements) {
  PtxRunner run(one_value_text(variables, statements));
  const auto out = run.buffer(std::vector<std::uint64_t>{77});
  run.launch_clean({1, 1, 1}, {1, 1, 1}, out);
  return run.read<std::uint64_t>(out, 1)[0];
}

const std::string kVariables = R"(
.visible .const .align 4 .u32 table[5] = {10, 20, 0x1E, 40};
.global .align 4 .f32 half = 0f3F000000;
.global .align 4 .f32 numbers[3] = {1.5, -2, 0f40490FDB};
.global .align 8 .f64 doubles[2] = {0d3FF8000000000000, 0.1};
.global .align 2 .s16 small = -5;
.global .align 4 .u32 rows[2][3] = {{1, 2}, {4, 5, 6}};
.global .align 1 .b8 bytes[8] = {1, 2, 3, 250};
.global .align 4 .u32 nothing[4];
.global .align 8 .u64 third = table+8;
.global .align 8 .u64 pointers[2] = {generic(numbers)+4, rows};
.global .align 8 .b8 spelled[8] = {0xFF(bytes), 0xFF00(bytes), 0xFF0000(bytes), 0xFF000000(bytes),
  0xFF00000000(bytes), 0xFF0000000000(bytes), 0xFF000000000000(bytes), 0xFF00000000000000(bytes)};
)";

TEST(ModuleVariables, HoldTheirInitialValues) {
  const auto load = [](const std::string& type, const std::string& from) {
    const bool wide = type.ends_with("64");
    const std::string reg = wide ? "%rd9" : "%r9";
    return one_value(kVariables, fmt::format("ld.{} {}, [{}];{}", type, reg, from,
                                             wide ? "" : "cvt.u64.u32 %rd9, %r9;"));
  };
  for (std::uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(load("const.u32", fmt::format("table+{}", 4 * i)), i < 4 ? 10 + 10 * i : 0);
  }
  EXPECT_EQ(load("global.b32", "half"), std::bit_cast<std::uint32_t>(0.5F));
  EXPECT_EQ(load("global.b32", "numbers"), std::bit_cast<std::uint32_t>(1.5F));
  EXPECT_EQ(load("global.b32", "numbers+4"), std::bit_cast<std::uint32_t>(-2.0F));
  EXPECT_EQ(load("global.b32", "numbers+8"), 0x40490FDBU);
  EXPECT_EQ(load("global.b64", "doubles"), std::bit_cast<std::uint64_t>(1.5));
  EXPECT_EQ(load("global.b64", "doubles+8"), std::bit_cast<std::uint64_t>(0.1));
  EXPECT_EQ(load("global.s16", "small"), 0xFFFFFFFBU);
  const std::uint32_t rows[] = {1, 2, 0, 4, 5, 6};
  for (std::uint32_t i = 0; i < 6; ++i) {
    EXPECT_EQ(load("global.u32", fmt::format("rows+{}", 4 * i)), rows[i]) << i;
  }
  EXPECT_EQ(load("global.u8", "bytes+3"), 250U);
  EXPECT_EQ(load("global.u8", "bytes+7"), 0U);
  EXPECT_EQ(load("global.u32", "nothing+12"), 0U);
}

TEST(ModuleVariables, WithoutAValueAreInTheWayOfTheirOwnKernelsAlone) {
  const std::string variables = R"(
.extern .global .u32 elsewhere;
.global .align 8 .u64 table[2] = {0, elsewhere};
.global .align 8 .u64 object = table;
.global .align 8 .u64 fine = 7;
)";
  EXPECT_EQ(one_value(variables, "ld.global.u64 %rd9, [fine];"), 7U);
  for (const char* const statement :
       {"ld.global.u64 %rd9, [table+8];", "mov.u64 %rd9, table;", "mov.u64 %rd9, object;"}) {
    const std::string why = kiln::test::error_text(
        ErrorKind::device, [&] { PtxRunner run(one_value_text(variables, statement)); });
    EXPECT_NE(why.find("variable 'table' holds the address of 'elsewhere', which is declared but "
                       "not defined"),
              std::string::npos)
        << why;
  }
}

TEST(ModuleVariables, HoldAddressesOfOthers) {
  EXPECT_EQ(one_value(kVariables,
                      "ld.global.u64 %rd2, [third]; ld.u32 %r1, [%rd2];"
                      "cvt.u64.u32 %rd9, %r1;"),
            0x1EU);
  EXPECT_EQ(one_value(kVariables,
                      "ld.global.u64 %rd2, [pointers]; ld.b32 %r1, [%rd2];"
                      "cvt.u64.u32 %rd9, %r1;"),
            std::bit_cast<std::uint32_t>(-2.0F));
  EXPECT_EQ(one_value(kVariables,
                      "ld.global.u64 %rd2, [pointers+8]; ld.global.u32 %r1, [%rd2+20];"
                      "cvt.u64.u32 %rd9, %r1;"),
            6U);
  EXPECT_EQ(one_value(kVariables,
                      "ld.global.u64 %rd2, [spelled]; mov.u64 %rd3, bytes;"
                      "sub.u64 %rd9, %rd2, %rd3;"),
            0U);
}

TEST(ModuleVariables, ConstantsAreReadByTheirAddressToo) {
  EXPECT_EQ(one_value(kVariables,
                      "mov.u64 %rd2, table; ld.const.u32 %r1, [%rd2+4];"
                      "cvta.const.u64 %rd3, %rd2; ld.u32 %r2, [%rd3+8];"
                      "ld.const.v2.u32 {%r3, %r4}, [table+8];"
                      "add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r4;"
                      "cvt.u64.u32 %rd9, %r1;"),
            20U + 30 + 40);
}

TEST(ModuleVariables, LiveAsLongAsTheModule) {
  PtxRunner run(one_value_text(".global .align 4 .u32 count = 5;",
                               "atom.global.add.u32 %r1, [count], 3; cvt.u64.u32 %rd9, %r1;"));
  const auto out = run.buffer(std::vector<std::uint64_t>{0});
  for (std::uint64_t i = 0; i < 4; ++i) {
    run.launch_clean({1, 1, 1}, {1, 1, 1}, out);
    EXPECT_EQ(run.read<std::uint64_t>(out, 1)[0], 5 + 3 * i);
  }
}

TEST(ModuleVariables, ConstantsCannotBeWrittenAndEndWhereTheyEnd) {
  const std::vector<std::pair<std::string, Finding>> cases{
      {"mov.u64 %rd2, table; st.u32 [%rd2], %r1;", Finding::out_of_bounds},
      {"mov.u64 %rd2, table; atom.add.u32 %r1, [%rd2], 1;", Finding::out_of_bounds},
      {"ld.const.u32 %r1, [table+20];", Finding::out_of_bounds},
      {"ld.global.u32 %r1, [nothing+16];", Finding::out_of_bounds},
      {"ld.global.u64 %rd2, [nothing+12];", Finding::misaligned}};
  for (const auto& [statement, finding] : cases) {
    PtxRunner run(one_value_text(kVariables, "mov.u32 %r1, 1;" + statement));
    const auto result = run.launch({1, 1, 1}, {1, 1, 1}, run.buffer(std::vector<std::uint64_t>{0}));
    EXPECT_EQ(findings(result), std::vector<Finding>{finding}) << statement;
  }
}

TEST(ModuleVariables, TheUncachedLoadIsALoad) {
  EXPECT_EQ(one_value(kVariables,
                      "ldu.global.u32 %r1, [rows+16]; mov.u64 %rd2, rows;"
                      "ldu.global.v2.u32 {%r2, %r3}, [%rd2]; ldu.u32 %r4, [%rd2+20];"
                      "add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4;"
                      "cvt.u64.u32 %rd9, %r1;"),
            5U + 2 + 6);
}

/// Bit i of the result: whether generic address i lies in the space. 0: global, 1: shared, 2:
/// local, 3: a parameter, 4: shared memory of the cluster's other block.
std::uint64_t holders_of(const std::string& space) {
  std::string statements = R"(
    .shared .align 4 .b8 tile[64];
    .local .align 4 .b8 own[64];
    mov.u64 %rd2, nothing;
    mov.u64 %rd3, tile;
    cvta.shared.u64 %rd3, %rd3;
    mov.u64 %rd4, own;
    cvta.local.u64 %rd4, %rd4;
    mov.u64 %rd5, p0;
    cvta.param.u64 %rd5, %rd5;
    mov.u32 %r1, %cluster_ctarank;
    xor.b32 %r1, %r1, 1;
    mapa.u64 %rd6, %rd3, %r1;
  )";
  for (int i = 0; i < 5; ++i) {
    statements += fmt::format(
        "isspacep.{} %p1, %rd{}; selp.b64 %rd8, {}, 0, %p1;"
        "or.b64 %rd9, %rd9, %rd8;\n",
        space, i + 2, 1 << i);
  }
  // Both blocks agree; one of them stores.
  statements += "setp.ne.u32 %p2, %r1, 1;\n@%p2 exit;\n";
  PtxRunner run(one_value_text(kVariables, statements));
  run.cluster = {2, 1, 1};
  const auto out = run.fresh_buffer(8);
  run.launch_clean({2, 1, 1}, {1, 1, 1}, out);
  return run.read<std::uint64_t>(out, 1)[0];
}

TEST(GenericAddresses, KnowTheirSpace) {
  EXPECT_EQ(holders_of("shared"), 0b00010U);
  EXPECT_EQ(holders_of("shared::cta"), 0b00010U);
  EXPECT_EQ(holders_of("shared::cluster"), 0b10010U);
  EXPECT_EQ(holders_of("local"), 0b00100U);
  // The window of parameters lies within that of global memory.
  EXPECT_EQ(holders_of("global") & 0b10111U, 0b00001U);
  EXPECT_EQ(holders_of("param"), 0b01000U);
}

TEST(GenericAddresses, ConstantsAreNoGlobalMemory) {
  const auto ask = [](const std::string& space, const std::string& variable) {
    return one_value(kVariables,
                     fmt::format("mov.u64 %rd2, {0}; cvta.{1}.u64 %rd2, %rd2;"
                                 "isspacep.{2} %p1, %rd2; selp.b64 %rd9, 1, 0, %p1;",
                                 variable, variable == "table" ? "const" : "global", space));
  };
  EXPECT_EQ(ask("const", "table"), 1U);
  EXPECT_EQ(ask("const", "rows"), 0U);
  EXPECT_EQ(ask("global", "table"), 0U);
  EXPECT_EQ(ask("global", "rows"), 1U);
}

/// Runs a launch whose threads each write down these special registers, in any order.
std::vector<std::vector<std::uint32_t>> specials_of(Extent grid, Extent block, Extent cluster,
                                                    const std::vector<std::string>& names) {
  std::string text = R"(
    .reg .b32 %r<8>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    atom.global.add.u32 %r1, [%rd1], 1;
  )";
  text += fmt::format("mad.wide.u32 %rd3, %r1, {}, %rd2;\n", 4 * names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("mov.u32 %r2, %{};\nst.global.u32 [%rd3+{}], %r2;\n", names[i], 4 * i);
  }
  PtxRunner run(kernel_text(text + "ret;", 2));
  run.cluster = cluster;
  const auto threads = static_cast<std::size_t>(grid.count() * block.count());
  const auto out = run.fresh_buffer(threads * names.size() * 4);
  run.launch_clean(grid, block, run.buffer(std::vector<std::uint32_t>{0}), out);
  const auto words = run.read<std::uint32_t>(out, threads * names.size());
  std::vector<std::vector<std::uint32_t>> rows;
  for (std::size_t i = 0; i < threads; ++i) {
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(i * names.size());
    rows.emplace_back(first, first + static_cast<std::ptrdiff_t>(names.size()));
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

template <class Visit>
void for_all(Extent extent, const Visit& visit) {
  for (std::uint32_t z = 0; z < extent.z; ++z) {
    for (std::uint32_t y = 0; y < extent.y; ++y) {
      for (std::uint32_t x = 0; x < extent.x; ++x) visit(x, y, z);
    }
  }
}

TEST(SpecialRegisters, TellAThreadsPlaceInThreeDimensions) {
  const Extent grid{2, 3, 4};
  const Extent block{5, 3, 4};
  const auto rows = specials_of(
      grid, block, {1, 1, 1},
      {"ctaid.x",     "ctaid.y",     "ctaid.z",         "tid.x",       "tid.y",       "tid.z",
       "nctaid.x",    "nctaid.y",    "nctaid.z",        "ntid.x",      "ntid.y",      "ntid.z",
       "laneid",      "warpid",      "nwarpid",         "lanemask_eq", "lanemask_lt", "lanemask_le",
       "lanemask_gt", "lanemask_ge", "cluster_nctarank"});
  std::vector<std::vector<std::uint32_t>> expected;
  for_all(grid, [&](std::uint32_t bx, std::uint32_t by, std::uint32_t bz) {
    for_all(block, [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
      const std::uint32_t thread = x + 5 * (y + 3 * z);
      const std::uint32_t lane = thread % 32;
      const std::uint64_t bit = std::uint64_t{1} << lane;
      const auto word = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits); };
      expected.push_back({bx,
                          by,
                          bz,
                          x,
                          y,
                          z,
                          2,
                          3,
                          4,
                          5,
                          3,
                          4,
                          lane,
                          thread / 32,
                          64,
                          word(bit),
                          word(bit - 1),
                          word(2 * bit - 1),
                          word(~(2 * bit - 1)),
                          word(~(bit - 1)),
                          1});
    });
  });
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(rows, expected);
}

TEST(SpecialRegisters, TellABlocksPlaceInClustersAlongAllAxes) {
  const std::vector<std::string> names{"ctaid.x",          "ctaid.y",          "ctaid.z",
                                       "clusterid.x",      "clusterid.y",      "clusterid.z",
                                       "nclusterid.x",     "nclusterid.y",     "nclusterid.z",
                                       "cluster_ctaid.x",  "cluster_ctaid.y",  "cluster_ctaid.z",
                                       "cluster_nctaid.x", "cluster_nctaid.y", "cluster_nctaid.z",
                                       "cluster_ctarank",  "cluster_nctarank"};
  const Extent grid{4, 6, 4};
  for (const Extent cluster :
       {Extent{1, 2, 1}, Extent{1, 1, 4}, Extent{2, 3, 2}, Extent{4, 2, 2}}) {
    std::vector<std::vector<std::uint32_t>> expected;
    for_all(grid, [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
      const auto& [cx, cy, cz] = cluster;
      const std::uint32_t rank = x % cx + cx * (y % cy + cy * (z % cz));
      expected.push_back({x, y, z, x / cx, y / cy, z / cz, 4 / cx, 6 / cy, 4 / cz, x % cx, y % cy,
                          z % cz, cx, cy, cz, rank, cx * cy * cz});
    });
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(specials_of(grid, {1, 1, 1}, cluster, names), expected);
  }
}

TEST(SpecialRegisters, RanksReachTheBlocksThatTheyName) {
  // Every block writes its rank into the next one of its cluster, which lies along y and z.
  PtxRunner run(kernel_text(R"(
    .reg .b32 %r<16>; .reg .b64 %rd<8>;
    .shared .align 4 .b32 word;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, %cluster_nctarank;
    add.u32 %r3, %r1, 1;
    rem.u32 %r3, %r3, %r2;
    mov.u32 %r4, word;
    mapa.shared::cluster.u32 %r5, %r4, %r3;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    st.shared::cluster.u32 [%r5], %r1;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ld.shared.u32 %r6, [word];
    mov.u32 %r7, %ctaid.y;
    mov.u32 %r8, %ctaid.z;
    mad.lo.u32 %r9, %r8, 4, %r7;
    mad.wide.u32 %rd1, %r9, 4, %rd1;
    st.global.u32 [%rd1], %r6;
    ret;
  )",
                            1));
  run.cluster = {1, 2, 3};
  const auto out = run.fresh_buffer(4 * 6 * 4);
  run.launch_clean({1, 4, 6}, {1, 1, 1}, out);
  const auto words = run.read<std::uint32_t>(out, 24);
  for (std::uint32_t y = 0; y < 4; ++y) {
    for (std::uint32_t z = 0; z < 6; ++z) {
      EXPECT_EQ(words[z * 4 + y], (y % 2 + 2 * (z % 3) + 5) % 6) << y << " " << z;
    }
  }
}

TEST(Traps, EndTheLaunchAndSayWho) {
  PtxRunner run(kernel_text(R"(
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.y;
    setp.eq.u32 %p1, %r1, 37;
    setp.eq.and.u32 %p1, %r2, 2, %p1;
    @%p1 trap;
    ret;
  )",
                            1));
  const LaunchResult result = run.launch({1, 3, 1}, {64, 1, 1}, run.fresh_buffer(4));
  ASSERT_EQ(findings(result), std::vector<Finding>{Finding::trap});
  EXPECT_EQ(result.fault->thread[0], 37U);
  EXPECT_EQ(result.fault->block[1], 2U);
  EXPECT_EQ(result.fault->place, "PTX line 14");
  EXPECT_TRUE(result.fault->text.starts_with("trap ")) << result.fault->text;
}

struct Limit {
  std::string directive;
  Extent block;
  bool allowed;
};

TEST(LaunchLimits, AreThoseOfTheKernel) {
  const std::vector<Limit> limits{{".maxntid 64", {64, 1, 1}, true},
                                  {".maxntid 64", {65, 1, 1}, false},
                                  {".maxntid 64", {8, 8, 1}, true},
                                  {".maxntid 64", {8, 4, 3}, false},
                                  {".maxntid 8, 4, 2", {64, 1, 1}, true},
                                  {".maxntid 8, 4, 2", {65, 1, 1}, false},
                                  // That is 2^64 + 32.
                                  {".maxntid 1824726041, 1263665316, 8", {64, 1, 1}, true},
                                  {".reqntid 32", {32, 1, 1}, true},
                                  {".reqntid 32", {31, 1, 1}, false},
                                  {".reqntid 32", {32, 2, 1}, false},
                                  {".reqntid 32", {64, 1, 1}, false},
                                  {".reqntid 8, 4, 2", {8, 4, 2}, true},
                                  {".reqntid 8, 4, 2", {4, 8, 2}, false},
                                  {".reqntid 8, 4, 2", {64, 1, 1}, false},
                                  {".reqntid 8, 4", {8, 4, 1}, true},
                                  {".reqntid 8, 4", {8, 4, 2}, false},
                                  {"", {1024, 1, 1}, true},
                                  {"", {1025, 1, 1}, false},
                                  {"", {32, 32, 2}, false},
                                  {".minnctapersm 2", {1024, 1, 1}, true}};
  for (const Limit& limit : limits) {
    std::string text = kernel_text("ret;", 1);
    text.insert(text.find(")\n{") + 1, "\n" + limit.directive);
    PtxRunner run(text);
    const LaunchResult result = run.launch({1, 1, 1}, limit.block, run.fresh_buffer(4));
    EXPECT_EQ(findings(result).empty(), limit.allowed)
        << limit.directive << " " << limit.block.x << " " << limit.block.y << " " << limit.block.z;
    if (result.fault) {
      EXPECT_EQ(result.fault->finding, Finding::invalid_operand);
    }
  }
}

TEST(LaunchLimits, GridsHoldWholeClustersOfAtMostSixteen) {
  PtxRunner run(kernel_text("ret;", 1));
  const auto allowed = [&](Extent grid, Extent cluster) {
    run.cluster = cluster;
    return findings(run.launch(grid, {32, 1, 1}, run.fresh_buffer(4))).empty();
  };
  EXPECT_TRUE(allowed({4, 4, 2}, {2, 2, 2}));
  EXPECT_TRUE(allowed({16, 1, 1}, {16, 1, 1}));
  EXPECT_FALSE(allowed({3, 4, 2}, {2, 2, 2}));
  EXPECT_FALSE(allowed({4, 3, 2}, {2, 2, 2}));
  EXPECT_FALSE(allowed({4, 4, 1}, {2, 2, 2}));
  EXPECT_FALSE(allowed({32, 1, 1}, {32, 1, 1}));
  EXPECT_FALSE(allowed({0, 1, 1}, {1, 1, 1}));
}

TEST(LaunchLimits, AKernelsOwnClusterIsNotLost) {
  // A launch without clusters is not what the kernel states.
  std::string text = kernel_text(R"(
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %cluster_nctarank;
    st.relaxed.gpu.global.u32 [%rd1], %r1;
    ret;
  )",
                                 1);
  text.insert(text.find(")\n{") + 1, "\n.explicitcluster .reqnctapercluster 2, 1, 1");
  PtxRunner run(text);
  const auto out = run.fresh_buffer(4);
  const LaunchResult result = run.launch({4, 1, 1}, {1, 1, 1}, out);
  ASSERT_EQ(findings(result), std::vector<Finding>{Finding::invalid_operand});
  EXPECT_NE(result.fault->text.find("the kernel requires 2 x 1 x 1"), std::string::npos)
      << result.fault->text;
  run.cluster = {2, 1, 1};
  run.launch_clean({4, 1, 1}, {1, 1, 1}, out);
  EXPECT_EQ(run.read<std::uint32_t>(out, 1)[0], 2U);
}

TEST(HostCalls, PrintfPrintsNothing) {
  PtxRunner run(
      kernel_text(R"(
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    .param .b64 format; .param .b64 values; .param .b32 result;
    ld.param.u64 %rd1, [p0];
    st.param.b64 [format], %rd1;
    st.param.b64 [values], 0;
    call.uni (result), vprintf, (format, values);
    st.global.u32 [%rd1], 7;
    ret;
  )",
                  1, ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);"));
  const auto out = run.fresh_buffer(4);
  run.launch_clean({1, 1, 1}, {32, 1, 1}, out);
  EXPECT_EQ(run.read<std::uint32_t>(out, 1)[0], 7U);
}

TEST(LaunchLimits, ParametersMustBeWhole) {
  PtxRunner run(kernel_text("ret;", 2));
  EXPECT_NE(kiln::test::error_text(ErrorKind::device,
                                   [&] {
                                     (void)run.launch({1, 1, 1}, {1, 1, 1}, 5);
                                   })
                .find("takes 16 bytes of parameters, but the launch passes 8"),
            std::string::npos);
}

/// The message against a kernel with a statement on line 8 of its text.
std::string refusal_of(const std::string& statement, const std::string& before = "") {
  const std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n" + before +
                           "\n.visible .entry k(.param .u64 p0)\n{\n"
                           ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .b64 %rd<4>; "
                           ".param .b32 given; .param .b32 value;\n" +
                           statement + "\nret;\n}\n";
  return kiln::test::error_text(ErrorKind::device, [&] { PtxRunner run(text); });
}

TEST(Refusals, NameTheInstructionAndTheLine) {
  const std::vector<std::string> statements{
      "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];",
      "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];",
      "txq.width.b32 %r1, [%rd1];",
      "suld.b.1d.b32.trap %r1, [%rd1, {%r2}];",
      "sust.b.1d.b32.trap [%rd1, {%r2}], %r1;",
      "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, "
      "{%r3, %r4}, {%f1, %f2, %f3, %f4}, %r5, 0x0;",
      "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, "
      "%f4}, {%r1, %r2}, {%r3, %r4}, {%f1, %f2, %f3, %f4}, %r5, 0x0;",
      "vadd.s32.s32.s32 %r1, %r2, %r3;",
      "tcgen05.fence::before_thread_sync;",
      "mov.u32 %r1, %pm0;",
      "add.s32.wrong %r1, %r2, %r3;",
      "frobnicate.b32 %r1, %r2;",
      "alloca.u64 %rd1, 16;"};
  for (const std::string& statement : statements) {
    const std::string message = refusal_of(statement);
    const std::string opcode = statement.substr(0, statement.find_first_of(" ;"));
    EXPECT_TRUE(message.starts_with("PTX line 8: " + opcode)) << statement << "\n" << message;
  }
}

TEST(Refusals, NameTheSourceLineWhereThereIsOne) {
  const std::string message = refusal_of(".loc 1 37 5\nvadd.s32.s32.s32 %r1, %r2, %r3;",
                                         ".file 1 \"/somewhere/kernel.cu\"");
  EXPECT_NE(message.find("kernel.cu:37: vadd.s32.s32.s32 "), std::string::npos) << message;
}

TEST(Refusals, CallsThatCannotBeCopiedIn) {
  const std::string callee =
      ".func (.param .b32 result) f(.param .b32 x) { ret; } .extern .func g(.param .b32 x);";
  const auto refused = [&](const std::string& statement, const std::string& why) {
    const std::string message = refusal_of(statement, callee);
    EXPECT_TRUE(message.starts_with("PTX line 8: call ")) << message;
    EXPECT_NE(message.find(why), std::string::npos) << message;
  };
  refused("call g, (given);", "calls 'g', but the module does not define");
  refused("call (value), f, (given, given);", "2 values");
  const std::string loops = refusal_of("call h, ();", ".func h() { call h, (); ret; }");
  EXPECT_NE(loops.find("calls 'h', but the emulator does not support recursive functions"),
            std::string::npos)
      << loops;
}

}  // namespace
}  // namespace kiln::emulated
