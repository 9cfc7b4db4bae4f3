// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/emulated/arith/small_floats.hpp"
#include "tests/unit/emulated/lane_kernel.hpp"

namespace kiln::emulated {
namespace {

using lane_test::Row;
using lane_test::Rows;
using lane_test::run_one;

/// How two values stand to each other.
enum class Relation { below, same, above, unordered };

template <class T>
Relation relation(T a, T b) {
  if (a < b) return Relation::below;
  if (a > b) return Relation::above;
  return a == b ? Relation::same : Relation::unordered;
}

/// For which relations a comparison is true, as its name says.
bool holds(const std::string& name, Relation relation) {
  struct Meaning {
    const char* name;
    bool below, same, above, unordered;
  };
  constexpr Meaning kMeanings[] = {
      {"eq", false, true, false, false}, {"ne", true, false, true, false},
      {"lt", true, false, false, false}, {"le", true, true, false, false},
      {"gt", false, false, true, false}, {"ge", false, true, true, false},
      {"equ", false, true, false, true}, {"neu", true, false, true, true},
      {"ltu", true, false, false, true}, {"leu", true, true, false, true},
      {"gtu", false, false, true, true}, {"geu", false, true, true, true},
      {"num", true, true, true, false},  {"nan", false, false, false, true},
      {"lo", true, false, false, false}, {"ls", true, true, false, false},
      {"hi", false, false, true, false}, {"hs", false, true, true, false}};
  for (const Meaning& meaning : kMeanings) {
    if (name != meaning.name) continue;
    switch (relation) {
      case Relation::below:
        return meaning.below;
      case Relation::same:
        return meaning.same;
      case Relation::above:
        return meaning.above;
      case Relation::unordered:
        return meaning.unordered;
    }
  }
  ADD_FAILURE() << "no meaning for " << name;
  return false;
}

const std::vector<std::string> kOrders = {"eq", "ne", "lt", "le", "gt", "ge"};
const std::vector<std::string> kFloatOrders = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                               "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

template <class Get>
void expect_comparisons(const std::vector<std::string>& names, const std::string& type, char letter,
                        const Rows& rows, Get get) {
  for (const std::string& name : names) {
    const auto results = lane_test::run(
        fmt::format("setp.{0}.{1} %pd, %{2}a, %{2}b;", name, type, letter), 'p', rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ASSERT_EQ(results[i] != 0, holds(name, relation(get(rows[i][0]), get(rows[i][1]))))
          << name << "." << type << fmt::format(" of {:#x}, {:#x}", rows[i][0], rows[i][1]);
    }
  }
}

TEST(DataCompare, IntegersCompareByTheirType) {
  const Rows rows = lane_test::integer_rows();
  expect_comparisons(kOrders, "s16", 'h', rows,
                     [](std::uint64_t a) { return static_cast<std::int16_t>(a); });
  expect_comparisons(kOrders, "u16", 'h', rows,
                     [](std::uint64_t a) { return static_cast<std::uint16_t>(a); });
  expect_comparisons(kOrders, "s32", 'r', rows,
                     [](std::uint64_t a) { return static_cast<std::int32_t>(a); });
  expect_comparisons(kOrders, "u32", 'r', rows,
                     [](std::uint64_t a) { return static_cast<std::uint32_t>(a); });
  expect_comparisons(kOrders, "s64", 'l', rows,
                     [](std::uint64_t a) { return static_cast<std::int64_t>(a); });
  expect_comparisons(kOrders, "u64", 'l', rows, [](std::uint64_t a) { return a; });
  expect_comparisons({"lo", "ls", "hi", "hs"}, "u32", 'r', rows,
                     [](std::uint64_t a) { return static_cast<std::uint32_t>(a); });
  expect_comparisons({"eq", "ne"}, "b64", 'l', rows, [](std::uint64_t a) { return a; });
}

TEST(DataCompare, FloatsCompareWithNan) {
  const Rows rows = lane_test::f32_rows();
  const auto single = [](std::uint64_t a) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(a));
  };
  expect_comparisons(kFloatOrders, "f32", 'r', rows, single);
  Rows doubles;
  for (const Row& row : rows) {
    const auto widen = [&](std::uint64_t a) {
      return std::bit_cast<std::uint64_t>(static_cast<double>(single(a)));
    };
    doubles.push_back({widen(row[0]), widen(row[1]), 0, 0});
  }
  expect_comparisons(kFloatOrders, "f64", 'l', doubles,
                     [](std::uint64_t a) { return std::bit_cast<double>(a); });
}

TEST(DataCompare, HalvesCompareByValue) {
  Rows rows;
  std::mt19937 random(5);
  for (int i = 0; i < 4096; ++i) rows.push_back({random(), random(), 0, 0});
  for (const std::uint64_t a : {0x0000, 0x8000, 0x0001, 0x7C00, 0xFC00, 0x7E00, 0x3C00}) {
    for (const std::uint64_t b : {0x0000, 0x8000, 0x8001, 0x7C00, 0xFC00, 0xFE00, 0x3C00}) {
      rows.push_back({a, b, 0, 0});
    }
  }
  const auto f16 = [](std::uint64_t a) { return decode(kF16, static_cast<std::uint16_t>(a)); };
  const auto bf16 = [](std::uint64_t a) { return decode(kBf16, static_cast<std::uint16_t>(a)); };
  expect_comparisons(kFloatOrders, "f16", 'h', rows, f16);
  expect_comparisons(kFloatOrders, "bf16", 'h', rows, bf16);
}

TEST(DataCompare, PairsAnswerInTwoPredicates) {
  // Low halves 1.0 < 2.0, high halves 2.0 and 1.0.
  const Row row{0x40003C00U, 0x3C004000U, 0, 0};
  EXPECT_EQ(run_one("setp.lt.f16x2 %pd|%p1, %ra, %rb;", 'p', row), 1U);
  EXPECT_EQ(run_one("setp.lt.f16x2 %p1|%pd, %ra, %rb;", 'p', row), 0U);
  EXPECT_EQ(run_one("set.lt.f16x2.f16x2 %rd, %ra, %rb;", 'r', row), 0x00003C00U);
  EXPECT_EQ(run_one("set.gt.u32.f16x2 %rd, %ra, %rb;", 'r', row), 0xFFFF0000U);
  EXPECT_EQ(run_one("set.ne.bf16x2.bf16x2 %rd, %ra, %rb;", 'r', row), 0x3F803F80U);
}

TEST(DataCompare, PredicatesCombineAndTheSecondIsTheContrary) {
  for (std::uint64_t a = 0; a < 2; ++a) {
    for (std::uint64_t c = 0; c < 2; ++c) {
      const Row row{a, 1, c, 0};
      const std::uint64_t t = a;  // a == 1
      const auto one = [&](const char* text) { return run_one(text, 'p', row); };
      EXPECT_EQ(one("setp.eq.and.u32 %pd, %ra, %rb, %pc;"), t & c);
      EXPECT_EQ(one("setp.eq.or.u32 %pd, %ra, %rb, %pc;"), t | c);
      EXPECT_EQ(one("setp.eq.xor.u32 %pd, %ra, %rb, !%pc;"), t ^ (1 - c));
      EXPECT_EQ(one("setp.eq.u32 %p1|%pd, %ra, %rb;"), 1 - t);
      EXPECT_EQ(one("setp.eq.and.u32 %p1|%pd, %ra, %rb, %pc;"), (1 - t) & c);
      // The combined predicate is read before it is written.
      EXPECT_EQ(one("mov.pred %pd, %pc; setp.eq.xor.u32 %p1|%pd, %ra, %rb, %pd;"), (1 - t) ^ c);
      EXPECT_EQ(one("setp.eq.u32 %pd|_, %ra, %rb;"), t);
    }
  }
}

TEST(DataCompare, SubnormalsAreZerosWhenFlushed) {
  const Row row{0x00000001U, 0x80000002U, 0, 0};
  EXPECT_EQ(run_one("setp.eq.f32 %pd, %ra, %rb;", 'p', row), 0U);
  EXPECT_EQ(run_one("setp.eq.ftz.f32 %pd, %ra, %rb;", 'p', row), 1U);
  EXPECT_EQ(run_one("setp.lt.ftz.f16 %pd, %ha, %hb;", 'p', row), 0U);
  EXPECT_EQ(run_one("setp.lt.f16 %pd, %ha, %hb;", 'p', row), 1U);
}

TEST(DataCompare, SetWritesTheTruthOfItsType) {
  const Row less{1, 2, 1, 0};
  EXPECT_EQ(run_one("set.lt.u32.s32 %rd, %ra, %rb;", 'r', less), 0xFFFFFFFFU);
  EXPECT_EQ(run_one("set.gt.s32.s64 %rd, %la, %lb;", 'r', less), 0U);
  EXPECT_EQ(run_one("set.lt.f32.u16 %rd, %ha, %hb;", 'r', less), 0x3F800000U);
  EXPECT_EQ(run_one("set.lt.f16.f16 %hd, %ha, %hb;", 'h', less), 0x3C00U);
  EXPECT_EQ(run_one("set.lt.bf16.bf16 %hd, %ha, %hb;", 'h', less), 0x3F80U);
  EXPECT_EQ(run_one("set.lt.u16.f16 %hd, %ha, %hb;", 'h', less), 0xFFFFU);
  EXPECT_EQ(run_one("set.lt.xor.u32.s32 %rd, %ra, %rb, %pc;", 'r', less), 0U);
}

TEST(DataCompare, WhatPtxHasNotIsRefused) {
  lane_test::expect_refused("setp.lt.b32 %pd, %ra, %rb;",
                            "has the comparison .lt, which does not exist for type .b32");
  lane_test::expect_refused("setp.lo.s32 %pd, %ra, %rb;");
  lane_test::expect_refused("setp.equ.u32 %pd, %ra, %rb;");
  lane_test::expect_refused("setp.eq.ftz.f64 %pd, %la, %lb;");
  lane_test::expect_refused("set.lt.f16x2.f32 %rd, %ra, %rb;");
  lane_test::expect_refused("setp.eq.and.u32 %pd, %ra, %rb;");
  lane_test::expect_refused("setp.lt.u32 %pd|!%p1, %ra, %rb;");
  lane_test::expect_refused("setp.lt.f16x2 %pd, %ra, %rb;", "two result predicates");
  lane_test::expect_refused("setp.eq.b8 %pd, %ha, %hb;", "type .b8");
}

}  // namespace
}  // namespace kiln::emulated
