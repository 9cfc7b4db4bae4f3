// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

#include "tests/unit/emulated/lane_kernel.hpp"

namespace kiln::emulated {
namespace {

using lane_test::Row;
using lane_test::Rows;
using lane_test::run_one;

/// A number of up to 128 bits with a sign, from which every result here can be cut.
struct Long {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};
Long operator+(Long a, Long b) {
  const std::uint64_t low = a.low + b.low;
  return {low, a.high + b.high + (low < a.low ? 1U : 0U)};
}
Long negated(Long a) {
  return Long{~a.low, ~a.high} + Long{1, 0};
}
Long twice(Long a) {
  return a + a;
}

/// The lower `bits` of a register as a number.
Long extended(std::uint64_t value, int bits, bool with_sign) {
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  value &= mask;
  const bool negative = with_sign && ((value >> (bits - 1)) & 1U) != 0;
  return {negative ? value | ~mask : value, negative ? ~std::uint64_t{0} : 0};
}
std::uint64_t cut(Long value, int from, int bits) {
  std::uint64_t result = 0;
  for (int i = 0; i < bits; ++i) {
    const int at = from + i;
    const std::uint64_t word = at < 64 ? value.low : value.high;
    result |= ((word >> (at % 64)) & 1U) << i;
  }
  return result;
}
/// Digit by digit, on the magnitude of b.
Long product(Long a, Long b) {
  const bool negative = (b.high >> 63) != 0;
  if (negative) b = negated(b);
  Long sum;
  for (int i = 127; i >= 0; --i) {
    sum = twice(sum);
    if (cut(b, i, 1) != 0) sum = sum + a;
  }
  return negative ? negated(sum) : sum;
}
bool is_negative(Long a) {
  return (a.high >> 63) != 0;
}
bool less(Long a, Long b) {
  return is_negative(a + negated(b));
}

struct Width {
  std::string type;
  int bits;
  bool with_sign;
  char letter;
};
const Width kWidths[] = {{"u16", 16, false, 'h'}, {"s16", 16, true, 'h'},  {"u32", 32, false, 'r'},
                         {"s32", 32, true, 'r'},  {"u64", 64, false, 'l'}, {"s64", 64, true, 'l'}};

/// Compares an instruction with a function of its operands as numbers, for all rows.
void expect_all(const std::string& body, char result,
                const std::function<std::uint64_t(const Row&)>& expected) {
  const Rows rows = lane_test::integer_rows();
  const auto results = lane_test::run(body, result, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(results[i], expected(rows[i]))
        << body << fmt::format(" of {:#x}, {:#x}, {:#x}", rows[i][0], rows[i][1], rows[i][2]);
  }
}

TEST(IntegerArithmetic, AddsAndSubtractsModuloTheWidth) {
  for (const Width& w : kWidths) {
    const auto at = [&](std::uint64_t value) { return extended(value, w.bits, w.with_sign); };
    expect_all(fmt::format("add.{0} %{1}d, %{1}a, %{1}b;", w.type, w.letter), w.letter,
               [&](const Row& r) { return cut(at(r[0]) + at(r[1]), 0, w.bits); });
    expect_all(fmt::format("sub.{0} %{1}d, %{1}a, %{1}b;", w.type, w.letter), w.letter,
               [&](const Row& r) { return cut(at(r[0]) + negated(at(r[1])), 0, w.bits); });
  }
}

TEST(IntegerArithmetic, SumsSaturateWhenTold) {
  const auto limited = [](Long value) {
    const Long largest{0x7FFFFFFFU, 0};
    const Long smallest = negated({0x80000000U, 0});
    if (less(largest, value)) value = largest;
    if (less(value, smallest)) value = smallest;
    return cut(value, 0, 32);
  };
  const auto at = [](std::uint64_t value) { return extended(value, 32, true); };
  expect_all("add.sat.s32 %rd, %ra, %rb;", 'r',
             [&](const Row& r) { return limited(at(r[0]) + at(r[1])); });
  expect_all("sub.sat.s32 %rd, %ra, %rb;", 'r',
             [&](const Row& r) { return limited(at(r[0]) + negated(at(r[1]))); });
  expect_all("mad.hi.sat.s32 %rd, %ra, %rb, %rc;", 'r', [&](const Row& r) {
    const std::uint64_t high = cut(product(at(r[0]), at(r[1])), 32, 32);
    return limited(at(high) + at(r[2]));
  });
}

TEST(IntegerArithmetic, ProductsHaveAllTheirBits) {
  for (const Width& w : kWidths) {
    const auto both = [&](const Row& r) {
      return product(extended(r[0], w.bits, w.with_sign), extended(r[1], w.bits, w.with_sign));
    };
    const auto c = [&](const Row& r) { return extended(r[2], w.bits, w.with_sign); };
    expect_all(fmt::format("mul.lo.{0} %{1}d, %{1}a, %{1}b;", w.type, w.letter), w.letter,
               [&](const Row& r) { return cut(both(r), 0, w.bits); });
    expect_all(fmt::format("mul.hi.{0} %{1}d, %{1}a, %{1}b;", w.type, w.letter), w.letter,
               [&](const Row& r) { return cut(both(r), w.bits, w.bits); });
    expect_all(fmt::format("mad.lo.{0} %{1}d, %{1}a, %{1}b, %{1}c;", w.type, w.letter), w.letter,
               [&](const Row& r) { return cut(both(r) + c(r), 0, w.bits); });
    expect_all(fmt::format("mad.hi.{0} %{1}d, %{1}a, %{1}b, %{1}c;", w.type, w.letter), w.letter,
               [&](const Row& r) {
                 return cut(Long{cut(both(r), w.bits, w.bits), 0} + c(r), 0, w.bits);
               });
    if (w.bits == 64) continue;
    const char wide = w.bits == 16 ? 'r' : 'l';
    expect_all(fmt::format("mul.wide.{0} %{2}d, %{1}a, %{1}b;", w.type, w.letter, wide), wide,
               [&](const Row& r) { return cut(both(r), 0, 2 * w.bits); });
    expect_all(fmt::format("mad.wide.{0} %{2}d, %{1}a, %{1}b, %{2}c;", w.type, w.letter, wide),
               wide, [&](const Row& r) {
                 return cut(both(r) + Long{r[2], 0}, 0, 2 * w.bits);
               });
  }
}

TEST(IntegerArithmetic, ProductsOf24BitsIgnoreTheRest) {
  for (const Width& w : kWidths) {
    if (w.bits != 32) continue;
    const auto both = [&](const Row& r) {
      return product(extended(r[0], 24, w.with_sign), extended(r[1], 24, w.with_sign));
    };
    const auto c = [&](const Row& r) { return Long{r[2], 0}; };
    expect_all(fmt::format("mul24.lo.{} %rd, %ra, %rb;", w.type), 'r',
               [&](const Row& r) { return cut(both(r), 0, 32); });
    expect_all(fmt::format("mul24.hi.{} %rd, %ra, %rb;", w.type), 'r',
               [&](const Row& r) { return cut(both(r), 16, 32); });
    expect_all(fmt::format("mad24.lo.{} %rd, %ra, %rb, %rc;", w.type), 'r',
               [&](const Row& r) { return cut(both(r) + c(r), 0, 32); });
    expect_all(fmt::format("mad24.hi.{} %rd, %ra, %rb, %rc;", w.type), 'r', [&](const Row& r) {
      return cut(Long{cut(both(r), 16, 32), 0} + c(r), 0, 32);
    });
  }
}

TEST(IntegerArithmetic, QuotientAndRemainderFitTogether) {
  for (const Width& w : kWidths) {
    const auto at = [&](std::uint64_t value) { return extended(value, w.bits, w.with_sign); };
    const Rows rows = lane_test::integer_rows();
    const auto quotients = lane_test::run(
        fmt::format("div.{0} %{1}d, %{1}a, %{1}b;", w.type, w.letter), w.letter, rows);
    const auto rests = lane_test::run(fmt::format("rem.{0} %{1}d, %{1}a, %{1}b;", w.type, w.letter),
                                      w.letter, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Long a = at(rows[i][0]);
      const Long b = at(rows[i][1]);
      if (cut(b, 0, 64) == 0) continue;
      const Long rest = at(rests[i]);
      // a = quotient * b + rest, the rest smaller than b and with the sign of a.
      EXPECT_EQ(cut(product(at(quotients[i]), b) + rest, 0, w.bits), cut(a, 0, w.bits));
      const auto magnitude = [](Long x) { return is_negative(x) ? negated(x) : x; };
      EXPECT_TRUE(less(magnitude(rest), magnitude(b)));
      if (cut(rest, 0, 64) != 0) {
        EXPECT_EQ(is_negative(rest), is_negative(a));
      }
    }
  }
}

TEST(IntegerArithmetic, DivisionByZeroAndOverflowHaveResults) {
  EXPECT_EQ(run_one("div.s32 %rd, %ra, %rb;", 'r', {7, 0, 0, 0}), 0xFFFFFFFFU);
  EXPECT_EQ(run_one("div.u64 %ld, %la, %lb;", 'l', {7, 0, 0, 0}), ~std::uint64_t{0});
  EXPECT_EQ(run_one("div.u16 %hd, %ha, %hb;", 'h', {7, 0, 0, 0}), 0xFFFFU);
  EXPECT_EQ(run_one("rem.s32 %rd, %ra, %rb;", 'r', {7, 0, 0, 0}), 0xFFFFFFFFU);
  EXPECT_EQ(run_one("div.s32 %rd, %ra, %rb;", 'r', {0x80000000U, 0xFFFFFFFFU, 0, 0}), 0x80000000U);
  EXPECT_EQ(run_one("rem.s32 %rd, %ra, %rb;", 'r', {0x80000000U, 0xFFFFFFFFU, 0, 0}), 0U);
  const std::uint64_t smallest = std::uint64_t{1} << 63;
  EXPECT_EQ(run_one("div.s64 %ld, %la, %lb;", 'l', {smallest, ~std::uint64_t{0}, 0, 0}), smallest);
}

TEST(IntegerArithmetic, ChoosesByTheTypesOrder) {
  for (const Width& w : kWidths) {
    const auto at = [&](std::uint64_t value) { return extended(value, w.bits, w.with_sign); };
    expect_all(fmt::format("min.{0} %{1}d, %{1}a, %{1}b;", w.type, w.letter), w.letter,
               [&](const Row& r) {
                 return cut(less(at(r[0]), at(r[1])) ? at(r[0]) : at(r[1]), 0, w.bits);
               });
    expect_all(fmt::format("max.{0} %{1}d, %{1}a, %{1}b;", w.type, w.letter), w.letter,
               [&](const Row& r) {
                 return cut(less(at(r[1]), at(r[0])) ? at(r[0]) : at(r[1]), 0, w.bits);
               });
    expect_all(fmt::format("sad.{0} %{1}d, %{1}a, %{1}b, %{1}c;", w.type, w.letter), w.letter,
               [&](const Row& r) {
                 Long far = at(r[0]) + negated(at(r[1]));
                 if (is_negative(far)) far = negated(far);
                 return cut(far + at(r[2]), 0, w.bits);
               });
    if (!w.with_sign) continue;
    expect_all(fmt::format("abs.{0} %{1}d, %{1}a;", w.type, w.letter), w.letter, [&](const Row& r) {
      return cut(is_negative(at(r[0])) ? negated(at(r[0])) : at(r[0]), 0, w.bits);
    });
    expect_all(fmt::format("neg.{0} %{1}d, %{1}a;", w.type, w.letter), w.letter,
               [&](const Row& r) { return cut(negated(at(r[0])), 0, w.bits); });
  }
}

TEST(IntegerArithmetic, PairsAreTwoNumbers) {
  // 0x7fff + 1 stays in its half; -5 and 3.
  EXPECT_EQ(run_one("add.u16x2 %rd, %ra, %rb;", 'r', {0x7FFFFFFFU, 0x00010001U, 0, 0}),
            0x80000000U);
  EXPECT_EQ(run_one("add.s16x2 %rd, %ra, %rb;", 'r', {0x0001FFFFU, 0x00010001U, 0, 0}),
            0x00020000U);
  EXPECT_EQ(run_one("min.s16x2 %rd, %ra, %rb;", 'r', {0xFFFB0003U, 0x0003FFFBU, 0, 0}),
            0xFFFBFFFBU);
  EXPECT_EQ(run_one("min.u16x2 %rd, %ra, %rb;", 'r', {0xFFFB0003U, 0x0003FFFBU, 0, 0}),
            0x00030003U);
  EXPECT_EQ(run_one("max.s16x2 %rd, %ra, %rb;", 'r', {0xFFFB0003U, 0x0003FFFBU, 0, 0}),
            0x00030003U);
  EXPECT_EQ(run_one("max.u16x2 %rd, %ra, %rb;", 'r', {0xFFFB0003U, 0x0003FFFBU, 0, 0}),
            0xFFFBFFFBU);
  EXPECT_EQ(run_one("min.relu.s16x2 %rd, %ra, %rb;", 'r', {0xFFFB0003U, 0x00030004U, 0, 0}),
            0x00000003U);
  EXPECT_EQ(run_one("max.relu.s32 %rd, %ra, %rb;", 'r', {0xFFFFFFF0U, 0xFFFFFF00U, 0, 0}), 0U);
}

TEST(IntegerArithmetic, DotProductsExtendTheirParts) {
  for (const bool a_signed : {false, true}) {
    for (const bool b_signed : {false, true}) {
      const std::string types =
          fmt::format("{}.{}", a_signed ? "s32" : "u32", b_signed ? "s32" : "u32");
      const auto byte = [](std::uint64_t word, int i, bool with_sign) {
        return extended(word >> (8 * i), 8, with_sign);
      };
      expect_all(fmt::format("dp4a.{} %rd, %ra, %rb, %rc;", types), 'r', [&](const Row& r) {
        Long sum{r[2], 0};
        for (int i = 0; i < 4; ++i) {
          sum = sum + product(byte(r[0], i, a_signed), byte(r[1], i, b_signed));
        }
        return cut(sum, 0, 32);
      });
      for (const int half : {0, 2}) {
        expect_all(fmt::format("dp2a.{}.{} %rd, %ra, %rb, %rc;", half == 0 ? "lo" : "hi", types),
                   'r', [&](const Row& r) {
                     Long sum{r[2], 0};
                     for (int i = 0; i < 2; ++i) {
                       sum = sum + product(extended(r[0] >> (16 * i), 16, a_signed),
                                           byte(r[1], half + i, b_signed));
                     }
                     return cut(sum, 0, 32);
                   });
      }
    }
  }
}

TEST(IntegerArithmetic, DifferencesOfBytesStayInTheirBytesOrAreAddedUp) {
  const auto difference = [](const Row& r, int i) {
    const auto a = static_cast<int>(r[0] >> (8 * i) & 0xffU);
    const auto b = static_cast<int>(r[1] >> (8 * i) & 0xffU);
    return static_cast<std::uint64_t>(std::abs(a - b));
  };
  expect_all("vabsdiff4.u32.u32.u32 %rd, %ra, %rb, %rc;", 'r', [&](const Row& r) {
    return difference(r, 0) | difference(r, 1) << 8 | difference(r, 2) << 16 |
           difference(r, 3) << 24;
  });
  expect_all("vabsdiff4.u32.u32.u32.add %rd, %ra, %rb, %rc;", 'r', [&](const Row& r) {
    std::uint64_t sum = r[2];
    for (int i = 0; i < 4; ++i) sum += difference(r, i);
    return sum & 0xffffffffU;
  });
}

/// Part i of a word that has `parts` of them.
int part_of(std::uint64_t word, int i, int parts, bool with_sign) {
  const int bits = 32 / parts;
  return static_cast<int>(extended(word >> (bits * i), bits, with_sign).low);
}

TEST(IntegerArithmetic, VideoInstructionsWorkOnThePartsOfAWord) {
  using Parts = int (*)(int a, int b);
  const struct {
    const char* name;
    Parts of;
  } operations[] = {
      {"vadd", [](int a, int b) { return a + b; }},
      {"vsub", [](int a, int b) { return a - b; }},
      {"vmin", [](int a, int b) { return a < b ? a : b; }},
      {"vmax", [](int a, int b) { return a > b ? a : b; }},
      {"vabsdiff", [](int a, int b) { return std::abs(a - b); }},
      {"vavrg", [](int a, int b) { return (a + b + (a + b >= 0 ? 1 : 0)) >> 1; }},
  };
  for (const auto& operation : operations) {
    for (const int parts : {2, 4}) {
      for (const bool with_sign : {false, true}) {
        const std::string type = with_sign ? ".s32" : ".u32";
        const std::string name = operation.name + std::to_string(parts) + type + type + type;
        const int bits = 32 / parts;
        const auto one = [&](const Row& r, int i) {
          return operation.of(part_of(r[0], i, parts, with_sign),
                              part_of(r[1], i, parts, with_sign));
        };
        const auto join = [&](const auto& value) {
          std::uint64_t word = 0;
          for (int i = 0; i < parts; ++i) {
            word |= (static_cast<std::uint64_t>(value(i)) & ((1U << bits) - 1)) << (bits * i);
          }
          return word;
        };
        expect_all(name + " %rd, %ra, %rb, %rc;", 'r',
                   [&](const Row& r) { return join([&](int i) { return one(r, i); }); });
        const int most = with_sign ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
        const int least = with_sign ? -most - 1 : 0;
        expect_all(name + ".sat %rd, %ra, %rb, %rc;", 'r', [&](const Row& r) {
          return join([&](int i) { return std::clamp(one(r, i), least, most); });
        });
        expect_all(name + ".add %rd, %ra, %rb, %rc;", 'r', [&](const Row& r) {
          std::uint64_t sum = r[2];
          for (int i = 0; i < parts; ++i) sum += static_cast<std::uint64_t>(one(r, i));
          return sum & 0xffffffffU;
        });
      }
    }
  }
  expect_all("vset2.s32.s32.lt %rd, %ra, %rb, %rc;", 'r', [](const Row& r) {
    const auto less = [&](int i) {
      return part_of(r[0], i, 2, true) < part_of(r[1], i, 2, true) ? 1U : 0U;
    };
    return std::uint64_t{less(0) | less(1) << 16};
  });
  lane_test::expect_refused("vadd2.s32.s32.s16 %rd, %ra, %rb, %rc;",
                            "does not support the type .s16");
  lane_test::expect_refused("vset4.s32.s32 %rd, %ra, %rb, %rc;", "needs .eq, .ne");
}

TEST(IntegerArithmetic, CarriesLinkWordsToLongNumbers) {
  const Rows rows = lane_test::integer_rows();
  const std::string join = "mov.b64 %ld, {%r1, %r2};";
  const std::string split = "mov.b64 {%r3, %r4}, %la; mov.b64 {%r5, %r6}, %lb;";
  const auto sums =
      lane_test::run(split + "add.cc.u32 %r1, %r3, %r5; addc.u32 %r2, %r4, %r6;" + join, 'l', rows);
  const auto differences =
      lane_test::run(split + "sub.cc.u32 %r1, %r3, %r5; subc.u32 %r2, %r4, %r6;" + join, 'l', rows);
  // Schoolbook: the upper word of the lower product carries on.
  const auto products =
      lane_test::run(split +
                         "mul.lo.u32 %r1, %r3, %r5; mul.hi.u32 %r2, %r3, %r5;"
                         "mad.lo.cc.u32 %r2, %r3, %r6, %r2; madc.hi.u32 %r0, %r3, %r6, 0;"
                         "mad.lo.cc.u32 %r2, %r4, %r5, %r2; madc.hi.u32 %r0, %r4, %r5, %r0;" +
                         join,
                     'l', rows);
  // The carries of two words, as a third: of a difference that needed no borrow it is 1.
  const auto carries = lane_test::run(
      "add.cc.u64 %l1, %la, %lb; addc.cc.u64 %l2, %lc, %lb; addc.u64 %ld, 0, 0;", 'l', rows);
  const auto borrows = lane_test::run(
      "sub.cc.s64 %l1, %la, %lb; subc.cc.s64 %l2, %lc, %lb; subc.s64 %ld, 0, 0;", 'l', rows);
  const auto kept = lane_test::run(
      "sub.cc.s64 %l1, %la, %lb; subc.cc.s64 %l2, %lc, %lb; addc.s64 %ld, 0, 0;", 'l', rows);
  const auto back = lane_test::run("add.cc.u64 %l1, %la, %lb; subc.u64 %ld, %lc, %lb;", 'l', rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto [a, b, c, e] = rows[i];
    ASSERT_EQ(sums[i], a + b);
    ASSERT_EQ(differences[i], a - b);
    ASSERT_EQ(products[i], a * b);
    const Long first = Long{a, 0} + Long{b, 0};
    ASSERT_EQ(carries[i], (Long{c, 0} + Long{b, 0} + Long{first.high, 0}).high);
    const Long borrowed = Long{c, 0} + negated(Long{b, 0}) + negated(Long{a < b ? 1U : 0U, 0});
    ASSERT_EQ(borrows[i], is_negative(borrowed) ? ~std::uint64_t{0} : 0U);
    ASSERT_EQ(kept[i], is_negative(borrowed) ? 0U : 1U);
    ASSERT_EQ(back[i], c - b - (first.high != 0 ? 0U : 1U));
  }
}

TEST(IntegerArithmetic, InactiveLanesKeepTheirValues) {
  Rows rows;
  for (std::uint64_t i = 0; i < 64; ++i) rows.push_back({i * 7919, i + 3, 0, 0});
  const auto narrow = lane_test::run("@%pa add.u16 %hd, %ha, %hb;", 'h', rows);
  const auto results = lane_test::run("@%pa mul.lo.s32 %rd, %ra, %rb;", 'r', rows);
  const auto wide = lane_test::run("@!%pa add.s64 %ld, %la, %lb;", 'l', rows);
  const auto quotients = lane_test::run("@%pa div.u32 %rd, %ra, %rb;", 'r', rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto [a, b, c, e] = rows[i];
    const bool odd = (a & 1U) != 0;
    EXPECT_EQ(narrow[i], odd ? (a + b) & 0xFFFFU : 0xFFFFU);
    EXPECT_EQ(results[i], odd ? a * b : 0xFFFFFFFFU);
    EXPECT_EQ(wide[i], odd ? ~std::uint64_t{0} : a + b);
    EXPECT_EQ(quotients[i], odd ? a / b : 0xFFFFFFFFU);
  }
}

TEST(IntegerArithmetic, WhatPtxHasNotIsRefused) {
  lane_test::expect_refused("add.b32 %rd, %ra, %rb;", "type .b32");
  lane_test::expect_refused("add.sat.u32 %rd, %ra, %rb;");
  lane_test::expect_refused("mul.s32 %rd, %ra, %rb;", ".lo");
  lane_test::expect_refused("mad.lo.sat.s32 %rd, %ra, %rb, %rc;");
  lane_test::expect_refused("min.relu.u32 %rd, %ra, %rb;");
  lane_test::expect_refused("add.s32 %rd, %ra, %lb;", "width");
  lane_test::expect_refused("add.foo.s32 %rd, %ra, %rb;", "foo");
}

}  // namespace
}  // namespace kiln::emulated
