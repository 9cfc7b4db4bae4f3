// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "runtime/emulated/arith/data_permute.hpp"
#include "tests/unit/emulated/lane_kernel.hpp"

namespace kiln::emulated {
namespace {

using lane_test::Row;
using lane_test::Rows;
using lane_test::run_one;

TEST(DataMoves, RegistersOfEveryWidthAreCopied) {
  const Row row{0x123456789ABCDEF0U, 0, 0, 0};
  EXPECT_EQ(run_one("mov.b16 %hd, %ha;", 'h', row), 0xDEF0U);
  EXPECT_EQ(run_one("mov.u32 %rd, %ra;", 'r', row), 0x9ABCDEF0U);
  EXPECT_EQ(run_one("mov.f64 %ld, %la;", 'l', row), row[0]);
  EXPECT_EQ(run_one("mov.pred %pd, %pa;", 'p', row), 0U);
  EXPECT_EQ(run_one("mov.pred %pd, 1;", 'p', row), 1U);
  EXPECT_EQ(run_one("mov.f32 %rd, 0f3FC00000;", 'r', row), 0x3FC00000U);
  EXPECT_EQ(run_one("mov.f64 %ld, 0d3FF8000000000000;", 'l', row), 0x3FF8000000000000U);
  EXPECT_EQ(run_one("mov.b64 %ld, -2;", 'l', row), 0xFFFFFFFFFFFFFFFEU);
  EXPECT_EQ(run_one("mov.u32 %rd, %ntid.x;", 'r', row), 32U);
}

TEST(DataMoves, VectorsHoldTheirFirstElementLowest) {
  const Row row{0x1122334455667788U, 0x99AABBCCDDEEFF00U, 0x1234, 0x5678};
  EXPECT_EQ(run_one("mov.b32 %rd, {%ha, %hb};", 'r', row), 0xFF007788U);
  EXPECT_EQ(run_one("mov.b64 %ld, {%ra, %rb};", 'l', row), 0xDDEEFF0055667788U);
  EXPECT_EQ(run_one("mov.b64 %ld, {%ha, %hb, %hc, %he};", 'l', row), 0x56781234FF007788U);
  EXPECT_EQ(run_one("mov.b64 {%rd, %r1}, %la;", 'r', row), 0x55667788U);
  EXPECT_EQ(run_one("mov.b64 {%r1, %rd}, %la;", 'r', row), 0x11223344U);
  EXPECT_EQ(run_one("mov.b64 {_, %rd}, %la;", 'r', row), 0x11223344U);
  EXPECT_EQ(run_one("mov.b32 {%h1, %hd}, %ra;", 'h', row), 0x5566U);
  EXPECT_EQ(run_one("mov.b64 {%h1, %h2, %hd, %h3}, %la;", 'h', row), 0x3344U);
  EXPECT_EQ(run_one("mov.b64 %ld, {%ra, 7};", 'l', row), 0x0000000755667788U);
  lane_test::expect_refused("mov.b64 %ld, {%ra, %rb, %rc};");
}

TEST(DataMoves, LongRegistersArePackedAndUnpacked) {
  const Row row{0x1122334455667788U, 0x99AABBCCDDEEFF00U, 0, 0};
  const std::string begin = ".reg .b128 %q<2>; mov.b128 %q0, {%la, %lb}; mov.b128 %q1, %q0;";
  EXPECT_EQ(run_one(begin + "mov.b128 {%ld, %l1}, %q1;", 'l', row), row[0]);
  EXPECT_EQ(run_one(begin + "mov.b128 {%l1, %ld}, %q1;", 'l', row), row[1]);
  EXPECT_EQ(run_one(begin + "@%pa mov.b128 %q1, {%lb, %la}; mov.b128 {%ld, %l1}, %q1;", 'l', row),
            row[0]);
}

TEST(DataMoves, BytesAreReadFromNarrowRegisters) {
  const std::string bytes = ".reg .b8 %b<4>; mov.b32 {%b0, %b1, %b2, %b3}, %ra;";
  EXPECT_EQ(run_one(bytes + "mov.b32 %rd, {%b3, %b2, %b1, %b0};", 'r', {0x11223344U, 0, 0, 0}),
            0x44332211U);
}

TEST(DataMoves, InactiveLanesKeepTheirValues) {
  Rows rows;
  for (std::uint64_t i = 0; i < 32; ++i) rows.push_back({i, i << 40U, 0, 0});
  const auto copies = lane_test::run("@%pa mov.b64 %ld, %lb;", 'l', rows);
  const auto pieces = lane_test::run("@!%pa mov.b64 {%r1, %rd}, %lb;", 'r', rows);
  const auto truths = lane_test::run("@%pa mov.pred %pd, 0;", 'p', rows);
  for (std::uint64_t i = 0; i < 32; ++i) {
    EXPECT_EQ(copies[i], i % 2 == 1 ? i << 40U : ~std::uint64_t{0});
    EXPECT_EQ(pieces[i], i % 2 == 0 ? i << 8U : 0xFFFFFFFFU);
    EXPECT_EQ(truths[i], i % 2 == 0 ? 1U : 0U);
  }
}

TEST(DataMoves, ClocksGoOn) {
  for (const char* clock : {"%clock64", "%globaltimer"}) {
    const std::uint64_t passed = run_one(fmt::format("mov.u64 %l1, {0}; nanosleep.u32 1000;"
                                                     "mov.u64 %l2, {0}; sub.u64 %ld, %l2, %l1;",
                                                     clock),
                                         'l', {});
    EXPECT_GT(passed, 0U) << clock;
    EXPECT_LT(passed, 10'000'000'000U) << clock;
  }
  lane_test::expect_refused("mov.u32 %rd, %clock64;");
}

TEST(DataMoves, SelectionFollowsAPredicateOrASign) {
  Rows rows;
  for (std::uint64_t i = 0; i < 32; ++i) rows.push_back({i, 1000 + i, 0x80000000U * (i % 3), 0});
  const auto narrow = lane_test::run("selp.b16 %hd, %ha, %hb, %pa;", 'h', rows);
  const auto middle = lane_test::run("selp.u32 %rd, %ra, %rb, %pa;", 'r', rows);
  const auto wide = lane_test::run("selp.f64 %ld, %la, %lb, %pa;", 'l', rows);
  const auto by_sign = lane_test::run("slct.b32.s32 %rd, %ra, %rb, %rc;", 'r', rows);
  for (std::uint64_t i = 0; i < 32; ++i) {
    const std::uint64_t expected = i % 2 == 1 ? i : 1000 + i;
    EXPECT_EQ(narrow[i], expected);
    EXPECT_EQ(middle[i], expected);
    EXPECT_EQ(wide[i], expected);
    EXPECT_EQ(by_sign[i], i % 3 == 1 ? 1000 + i : i);
  }
  const auto sign = [](std::string_view body, std::uint32_t c) {
    return run_one(body, 'l', {1, 2, c, 0});
  };
  EXPECT_EQ(sign("slct.u64.f32 %ld, %la, %lb, %rc;", 0x80000000U), 1U);  // -0 is not negative
  EXPECT_EQ(sign("slct.u64.f32 %ld, %la, %lb, %rc;", 0x7FC00000U), 2U);
  EXPECT_EQ(sign("slct.u64.f32 %ld, %la, %lb, %rc;", 0x80000001U), 2U);
  EXPECT_EQ(sign("slct.ftz.u64.f32 %ld, %la, %lb, %rc;", 0x80000001U), 1U);
}

TEST(DataMoves, PredicatesHaveTheirOwnLogic) {
  for (std::uint64_t a = 0; a < 2; ++a) {
    for (std::uint64_t b = 0; b < 2; ++b) {
      const Row row{a, b, 0, 0};
      EXPECT_EQ(run_one("and.pred %pd, %pa, %pb;", 'p', row), a & b);
      EXPECT_EQ(run_one("or.pred %pd, %pa, %pb;", 'p', row), a | b);
      EXPECT_EQ(run_one("xor.pred %pd, %pa, %pb;", 'p', row), a ^ b);
      EXPECT_EQ(run_one("not.pred %pd, %pa;", 'p', row), 1 - a);
    }
  }
}

TEST(DataMoves, PermutationsTakeBytesByNibbles) {
  const Row row{0x33221100U, 0xFF66D544U, 0, 0};
  EXPECT_EQ(run_one("prmt.b32 %rd, %ra, %rb, 0x3210;", 'r', row), 0x33221100U);
  EXPECT_EQ(run_one("prmt.b32 %rd, %ra, %rb, 0x7654;", 'r', row), 0xFF66D544U);
  EXPECT_EQ(run_one("prmt.b32 %rd, %ra, %rb, 0x0147;", 'r', row), 0x001144FFU);
  // Signs: byte 13 is that of 0xd5, 14 that of 0x66.
  EXPECT_EQ(run_one("prmt.b32 %rd, %ra, %rb, 0xdef4;", 'r', row), 0xFF00FF44U);
  // A register gives the same as a constant.
  std::mt19937 random(3);
  for (int i = 0; i < 50; ++i) {
    const std::uint32_t selector = random() & 0xFFFFU;
    const auto fixed = fmt::format("prmt.b32 %rd, %ra, %rb, {:#x};", selector);
    const Row all{row[0], row[1], selector, 0};
    EXPECT_EQ(run_one(fixed, 'r', all), run_one("prmt.b32 %rd, %ra, %rb, %rc;", 'r', all));
  }
}

TEST(DataMoves, PermutationModesAreTheManuals) {
  const auto expect = [](const char* mode, std::uint64_t c, std::uint32_t expected) {
    // Bytes that say their own place.
    const auto body = fmt::format("prmt.b32.{} %rd, %ra, %rb, %rc;", mode);
    EXPECT_EQ(run_one(body, 'r', {0x03020100U, 0x07060504U, c, 0}), expected) << mode << c;
  };
  expect("f4e", 0, 0x03020100U);
  expect("f4e", 3, 0x06050403U);
  expect("b4e", 0, 0x05060700U);
  expect("b4e", 3, 0x00010203U);
  expect("rc8", 2, 0x02020202U);
  expect("ecl", 1, 0x03020101U);
  expect("ecl", 3, 0x03030303U);
  expect("ecr", 0, 0x00000000U);
  expect("ecr", 2, 0x02020100U);
  expect("rc16", 1, 0x03020302U);
  expect("rc16", 6, 0x01000100U);
}

}  // namespace
}  // namespace kiln::emulated
