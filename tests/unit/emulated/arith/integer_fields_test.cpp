// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "tests/unit/emulated/lane_kernel.hpp"

namespace kiln::emulated {
namespace {

using lane_test::Row;
using lane_test::Rows;
using lane_test::run_one;

/// Bit i of a word, 0 beyond it.
unsigned bit(std::uint64_t word, std::int64_t i, int bits) {
  return i >= 0 && i < bits ? static_cast<unsigned>((word >> i) & 1U) : 0U;
}
std::uint64_t lower(std::uint64_t word, int bits) {
  return bits == 64 ? word : word & ((std::uint64_t{1} << bits) - 1);
}

/// The edges, with small numbers as the second to fourth source: places and lengths.
Rows field_rows() {
  Rows rows;
  std::mt19937_64 random(7);
  for (const std::uint64_t a : lane_test::integer_edges()) {
    for (const std::uint64_t start : {0, 1, 5, 31, 32, 33, 63, 64, 200, 255, 256}) {
      for (const std::uint64_t length : {0, 1, 8, 31, 32, 33, 63, 64, 255, 257}) {
        rows.push_back({a, start, length, random()});
      }
    }
  }
  return rows;
}

void expect_all(const std::string& body, char result, const Rows& rows,
                const std::function<std::uint64_t(const Row&)>& expected) {
  const auto results = lane_test::run(body, result, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(results[i], expected(rows[i]))
        << body
        << fmt::format(" of {:#x}, {:#x}, {:#x}, {:#x}", rows[i][0], rows[i][1], rows[i][2],
                       rows[i][3]);
  }
}

struct Word {
  const char* suffix;
  int bits;
  char letter;
};
constexpr Word kWords[] = {{"32", 32, 'r'}, {"64", 64, 'l'}};

TEST(IntegerFields, CountsBitsOneByOne) {
  for (const Word& w : kWords) {
    expect_all(fmt::format("popc.b{} %rd, %{}a;", w.suffix, w.letter), 'r',
               lane_test::integer_rows(), [&](const Row& r) {
                 std::uint64_t count = 0;
                 for (int i = 0; i < w.bits; ++i) count += bit(r[0], i, w.bits);
                 return count;
               });
    expect_all(fmt::format("clz.b{} %rd, %{}a;", w.suffix, w.letter), 'r',
               lane_test::integer_rows(), [&](const Row& r) {
                 std::uint64_t count = 0;
                 while (count < static_cast<std::uint64_t>(w.bits) &&
                        bit(r[0], w.bits - 1 - static_cast<int>(count), w.bits) == 0) {
                   ++count;
                 }
                 return count;
               });
    expect_all(fmt::format("brev.b{} %{}d, %{}a;", w.suffix, w.letter, w.letter), w.letter,
               lane_test::integer_rows(), [&](const Row& r) {
                 std::uint64_t reversed = 0;
                 for (int i = 0; i < w.bits; ++i) {
                   reversed = (reversed << 1) | bit(r[0], i, w.bits);
                 }
                 return reversed;
               });
  }
}

TEST(IntegerFields, FindsTheHighestBitThatIsNoSign) {
  for (const Word& w : kWords) {
    for (const bool with_sign : {false, true}) {
      const auto place = [&](const Row& r) -> std::int64_t {
        const unsigned sign = with_sign ? bit(r[0], w.bits - 1, w.bits) : 0U;
        for (int i = w.bits - 1; i >= 0; --i) {
          if (bit(r[0], i, w.bits) != sign) return i;
        }
        return -1;
      };
      const std::string type = (with_sign ? "s" : "u") + std::string(w.suffix);
      expect_all(fmt::format("bfind.{} %rd, %{}a;", type, w.letter), 'r', lane_test::integer_rows(),
                 [&](const Row& r) { return static_cast<std::uint32_t>(place(r)); });
      expect_all(fmt::format("bfind.shiftamt.{} %rd, %{}a;", type, w.letter), 'r',
                 lane_test::integer_rows(), [&](const Row& r) {
                   return static_cast<std::uint32_t>(place(r) < 0 ? -1 : w.bits - 1 - place(r));
                 });
    }
  }
}

TEST(IntegerFields, ExtractsAsTheManualSpellsIt) {
  for (const Word& w : kWords) {
    for (const bool with_sign : {false, true}) {
      expect_all(fmt::format("bfe.{}{} %{}d, %{}a, %rb, %rc;", with_sign ? "s" : "u", w.suffix,
                             w.letter, w.letter),
                 w.letter, field_rows(), [&](const Row& r) {
                   const auto start = static_cast<std::int64_t>(r[1] & 0xFF);
                   const auto length = static_cast<std::int64_t>(r[2] & 0xFF);
                   const std::int64_t top = std::min<std::int64_t>(start + length - 1, w.bits - 1);
                   const unsigned sign = with_sign && length > 0 ? bit(r[0], top, w.bits) : 0U;
                   std::uint64_t field = 0;
                   for (std::int64_t i = 0; i < w.bits; ++i) {
                     const bool inside = i < length && start + i < w.bits;
                     field |= std::uint64_t{inside ? bit(r[0], start + i, w.bits) : sign} << i;
                   }
                   return field;
                 });
    }
    expect_all(fmt::format("bfi.b{0} %{1}d, %{1}a, %{1}e, %rb, %rc;", w.suffix, w.letter), w.letter,
               field_rows(), [&](const Row& r) {
                 const auto start = static_cast<std::int64_t>(r[1] & 0xFF);
                 const auto length = static_cast<std::int64_t>(r[2] & 0xFF);
                 std::uint64_t result = lower(r[3], w.bits);
                 for (std::int64_t i = 0; i < length && start + i < w.bits; ++i) {
                   result &= ~(std::uint64_t{1} << (start + i));
                   result |= std::uint64_t{bit(r[0], i, w.bits)} << (start + i);
                 }
                 return result;
               });
  }
}

TEST(IntegerFields, MasksAndExtensionsClampOrWrap) {
  for (const bool wrap : {false, true}) {
    const char* const mode = wrap ? "wrap" : "clamp";
    const auto amount = [&](std::uint64_t value) {
      const std::uint64_t word = lower(value, 32);
      return static_cast<std::int64_t>(wrap ? word & 31 : std::min<std::uint64_t>(word, 32));
    };
    expect_all(fmt::format("bmsk.{}.b32 %rd, %rb, %rc;", mode), 'r', field_rows(),
               [&](const Row& r) {
                 std::uint64_t mask = 0;
                 for (std::int64_t i = 0; i < amount(r[2]); ++i) {
                   if (amount(r[1]) + i < 32) mask |= std::uint64_t{1} << (amount(r[1]) + i);
                 }
                 return mask;
               });
    for (const bool with_sign : {false, true}) {
      expect_all(fmt::format("szext.{}.{} %rd, %ra, %rc;", mode, with_sign ? "s32" : "u32"), 'r',
                 field_rows(), [&](const Row& r) {
                   const std::int64_t width = amount(r[2]);
                   std::uint64_t result = 0;
                   const unsigned sign = with_sign ? bit(r[0], width - 1, 32) : 0U;
                   for (std::int64_t i = 0; i < 32; ++i) {
                     result |= std::uint64_t{i < width ? bit(r[0], i, 32) : sign} << i;
                   }
                   return result;
                 });
    }
  }
}

TEST(IntegerFields, FindsTheNthSetBit) {
  const std::string body = "fns.b32 %rd, %ra, %rb, %rc;";
  const auto minus = [](std::uint64_t n) { return 0 - n; };
  const std::uint64_t mask = 0x80010110U;  // bits 4, 8, 16, 31
  EXPECT_EQ(run_one(body, 'r', {mask, 0, 1, 0}), 4U);
  EXPECT_EQ(run_one(body, 'r', {mask, 4, 1, 0}), 4U);
  EXPECT_EQ(run_one(body, 'r', {mask, 5, 1, 0}), 8U);
  EXPECT_EQ(run_one(body, 'r', {mask, 5, 3, 0}), 31U);
  EXPECT_EQ(run_one(body, 'r', {mask, 5, 4, 0}), 0xFFFFFFFFU);
  EXPECT_EQ(run_one(body, 'r', {mask, 16, minus(2), 0}), 8U);
  EXPECT_EQ(run_one(body, 'r', {mask, 15, minus(2), 0}), 4U);
  EXPECT_EQ(run_one(body, 'r', {mask, 15, minus(3), 0}), 0xFFFFFFFFU);
  EXPECT_EQ(run_one(body, 'r', {mask, 16, 0, 0}), 16U);
  EXPECT_EQ(run_one(body, 'r', {mask, 17, 0, 0}), 0xFFFFFFFFU);
}

TEST(IntegerFields, ShiftsClampTheirAmounts) {
  struct Shift {
    const char* type;
    int bits;
    char letter;
    bool right;
    bool with_sign;
  };
  constexpr Shift kShifts[] = {
      {"shl.b16", 16, 'h', false, false}, {"shl.b32", 32, 'r', false, false},
      {"shl.b64", 64, 'l', false, false}, {"shr.b16", 16, 'h', true, false},
      {"shr.u32", 32, 'r', true, false},  {"shr.u64", 64, 'l', true, false},
      {"shr.s16", 16, 'h', true, true},   {"shr.s32", 32, 'r', true, true},
      {"shr.s64", 64, 'l', true, true}};
  for (const Shift& shift : kShifts) {
    const auto expected = [&](std::uint64_t a, std::int64_t amount) {
      std::uint64_t result = 0;
      for (int i = 0; i < shift.bits; ++i) {
        std::int64_t from = shift.right ? i + amount : i - amount;
        if (shift.with_sign) from = std::min<std::int64_t>(from, shift.bits - 1);
        result |= std::uint64_t{bit(a, from, shift.bits)} << i;
      }
      return result;
    };
    expect_all(
        fmt::format("{0} %{1}d, %{1}a, %rb;", shift.type, shift.letter), shift.letter, field_rows(),
        [&](const Row& r) { return expected(r[0], static_cast<std::int64_t>(lower(r[1], 32))); });
    for (const int amount : {0, 1, 15, 16, 31, 32, 63, 64, 1000}) {
      expect_all(fmt::format("{0} %{1}d, %{1}a, {2};", shift.type, shift.letter, amount),
                 shift.letter, field_rows(), [&](const Row& r) { return expected(r[0], amount); });
    }
  }
  EXPECT_EQ(run_one("shl.b32 %rd, %ra, %rb;", 'r', {1, 0xFFFFFFFFU, 0, 0}), 0U);
}

TEST(IntegerFields, FunnelShiftsTakeBitsFromBothWords) {
  for (const bool left : {false, true}) {
    for (const bool wrap : {false, true}) {
      expect_all(
          fmt::format("shf.{}.{}.b32 %rd, %ra, %re, %rc;", left ? "l" : "r",
                      wrap ? "wrap" : "clamp"),
          'r', field_rows(), [&](const Row& r) {
            const std::uint64_t amount = lower(r[2], 32);
            const auto by =
                static_cast<std::int64_t>(wrap ? amount % 32 : std::min<std::uint64_t>(amount, 32));
            std::uint64_t result = 0;
            for (std::int64_t i = 0; i < 32; ++i) {
              const std::int64_t from = left ? 32 + i - by : i + by;
              const unsigned taken = from < 32 ? bit(r[0], from, 32) : bit(r[3], from - 32, 32);
              result |= std::uint64_t{taken} << i;
            }
            return result;
          });
    }
  }
}

TEST(IntegerFields, LogicIsBitByBit) {
  struct LogicForm {
    const char* name;
    unsigned table;  ///< of result bits, by 2a + b
  };
  constexpr LogicForm kLogicForms[] = {{"and", 0x8}, {"or", 0xE}, {"xor", 0x6}};
  for (const Word& w : {Word{"16", 16, 'h'}, kWords[0], kWords[1]}) {
    for (const LogicForm& form : kLogicForms) {
      expect_all(fmt::format("{0}.b{1} %{2}d, %{2}a, %{2}b;", form.name, w.suffix, w.letter),
                 w.letter, lane_test::integer_rows(), [&](const Row& r) {
                   std::uint64_t result = 0;
                   for (int i = 0; i < w.bits; ++i) {
                     const unsigned at = 2 * bit(r[0], i, w.bits) + bit(r[1], i, w.bits);
                     result |= std::uint64_t{(form.table >> at) & 1U} << i;
                   }
                   return result;
                 });
    }
    expect_all(fmt::format("not.b{0} %{1}d, %{1}a;", w.suffix, w.letter), w.letter,
               lane_test::integer_rows(),
               [&](const Row& r) { return lower(~std::uint64_t{0} - r[0], w.bits); });
    expect_all(fmt::format("cnot.b{0} %{1}d, %{1}a;", w.suffix, w.letter), w.letter,
               lane_test::integer_rows(),
               [&](const Row& r) { return lower(r[0], w.bits) == 0 ? 1U : 0U; });
  }
}

TEST(IntegerFields, LookUpTablesGiveEveryFunctionOfThreeBits) {
  // All eight combinations stand in the lower byte of these.
  const Row row{0xF0, 0xCC, 0xAA, 0};
  for (unsigned table = 0; table < 256; ++table) {
    const auto body = fmt::format("lop3.b32 %rd, %ra, %rb, %rc, {:#x};", table);
    ASSERT_EQ(run_one(body, 'r', row) & 0xFFU, table);
  }
  lane_test::expect_refused("lop3.b32 %rd, %ra, %rb, %rc, 256;");
}

TEST(IntegerFields, LookUpTablesTestTheirResult) {
  Rows rows;
  for (std::uint64_t i = 0; i < 64; ++i) rows.push_back({i & 12U, i & 5U, i >> 5, 0});
  const auto both = lane_test::run("lop3.and.b32 _|%pd, %ra, %rb, 0, 0xc0, %pc;", 'p', rows);
  const auto any = lane_test::run("lop3.or.b32 %rd|%pd, %ra, %rb, 0, 0xc0, !%pc;", 'p', rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool set = (rows[i][0] & rows[i][1]) != 0;
    EXPECT_EQ(both[i] != 0, set && rows[i][2] != 0);
    EXPECT_EQ(any[i] != 0, set || rows[i][2] == 0);
  }
}

}  // namespace
}  // namespace kiln::emulated
