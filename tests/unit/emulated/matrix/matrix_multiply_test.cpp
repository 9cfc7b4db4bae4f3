// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// mma.sync in all its types. Where a lane's elements lie is written down here as the tables "Matrix
// Fragments for mma" of the PTX ISA have it, with its names: g is the lane's group, t its number in
// the group.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/emulated/arith/small_floats.hpp"
#include "tests/unit/emulated/lane_kernel.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::kernel_text;
using test::PtxRunner;

struct Place {
  int row;
  int col;
};

/// The elements of one operand: how many a lane has, of how many bits, and which they are.
struct Fragment {
  int elements;
  int bits;
  std::function<Place(int lane, int i)> place;
  [[nodiscard]] int words() const { return elements * bits / 32; }
};

int group(int lane) {
  return lane / 4;
}
int thread(int lane) {
  return lane % 4;
}

/// A of 16 rows whose lanes hold `run` neighbours of a row, then as many of the row 8 below.
Fragment a16(int elements, int bits, int run) {
  return {elements, bits, [run](int lane, int i) {
            const int row = i / run % 2 == 0 ? group(lane) : group(lane) + 8;
            return Place{row, thread(lane) * run + i % run + i / (2 * run) * 4 * run};
          }};
}
/// A of 8 rows.
Fragment a8(int elements, int bits) {
  return {elements, bits, [=](int lane, int i) {
            return Place{group(lane), thread(lane) * elements + i};
          }};
}
/// B: `run` neighbours of a column, then those of the next 4 * run rows.
Fragment b8(int elements, int bits, int run) {
  return {elements, bits, [run](int lane, int i) {
            return Place{thread(lane) * run + i % run + i / run * 4 * run, group(lane)};
          }};
}
/// C and D of 8 columns.
Fragment sums(int rows, int bits) {
  return {rows / 4, bits, [](int lane, int i) {
            return Place{i < 2 ? group(lane) : group(lane) + 8, thread(lane) * 2 + (i & 1)};
          }};
}

std::uint64_t encode(std::string_view type, std::int64_t value) {
  const auto number = static_cast<float>(value);
  if (type == "f64") return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  if (type == "f32") return std::bit_cast<std::uint32_t>(number);
  // The tensor cores do not see the lower 13 bits of a tf32 register.
  if (type == "tf32") return std::bit_cast<std::uint32_t>(number) | 0x1ABCU;
  if (type == "f16") return f16_of_f32(number);
  if (type == "bf16") return bf16_of_f32(number);
  if (type == "e4m3") return e4m3_of_f32(number);
  if (type == "e5m2") return e5m2_of_f32(number);
  return static_cast<std::uint64_t>(value);
}

struct Range {
  std::int64_t least;
  std::int64_t most;
};

/// Whole numbers whose products and sums are exact, the whole range for integers.
Range range_of(std::string_view type) {
  if (type == "s8") return {-128, 127};
  if (type == "u8") return {0, 255};
  if (type == "s4") return {-8, 7};
  if (type == "u4") return {0, 15};
  if (type == "b1") return {0, 1};
  if (type == "s32") return {-1000000, 1000000};
  if (type == "f32" || type == "f64") return {-100000, 100000};
  if (type == "tf32") return {-1000, 1000};
  return {-4, 4};
}

/// A row-major matrix.
struct Matrix {
  int rows;
  int cols;
  std::vector<std::int64_t> values;

  Matrix(int row_count, int col_count)
      : rows(row_count), cols(col_count), values(static_cast<std::size_t>(rows * cols)) {}
  std::int64_t& at(int row, int col) { return values[static_cast<std::size_t>(row * cols + col)]; }
  void fill(std::mt19937_64& random, const Range& range) {
    std::uniform_int_distribution<std::int64_t> draw(range.least, range.most);
    for (std::int64_t& value : values) value = draw(random);
  }
};

struct Shape {
  int m;
  int n;
  int k;
};

struct Multiply {
  std::string opcode;
  Shape shape;
  std::string a_type, b_type, c_type, d_type;
  Fragment a, b, c, d;
};

/// A fragment's words, lane after lane.
std::vector<std::uint32_t> packed(const Fragment& fragment, std::string_view type, Matrix& matrix) {
  const int words = fragment.words();
  std::vector<std::uint32_t> all(static_cast<std::size_t>(words * kLanes));
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < fragment.elements; ++i) {
      const Place place = fragment.place(lane, i);
      const std::uint64_t bits = encode(type, matrix.at(place.row, place.col));
      const std::uint64_t mask =
          fragment.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << fragment.bits) - 1;
      const auto at = static_cast<std::size_t>(lane * words + i * fragment.bits / 32);
      all[at] |= static_cast<std::uint32_t>((bits & mask) << (i * fragment.bits % 32));
      if (fragment.bits == 64) all[at + 1] = static_cast<std::uint32_t>(bits >> 32);
    }
  }
  return all;
}

/// Loads A, B and C from p0, p1 and p2, multiplies, and stores D to p3.
std::string multiply_kernel(const Multiply& multiply) {
  std::string text =
      ".reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .b32 %a<8>, %b<8>, %c<8>, %d<8>;"
      ".reg .b64 %wa<8>, %wb<8>, %wc<8>, %wd<8>;\nmov.u32 %r1, %tid.x;\n";
  const auto list = [](const Fragment& fragment, char name) {
    const bool wide = fragment.bits == 64;
    std::string all;
    for (int i = 0; i < fragment.words() / (wide ? 2 : 1); ++i) {
      all += fmt::format("{}%{}{}{}", i == 0 ? "" : ", ", wide ? "w" : "", name, i);
    }
    return all;
  };
  const auto move = [&](const Fragment& fragment, char name, int parameter) {
    text += fmt::format("ld.param.u64 %rd1, [p{}];\nmad.wide.u32 %rd1, %r1, {}, %rd1;\n", parameter,
                        fragment.words() * 4);
    const bool wide = fragment.bits == 64;
    for (int i = 0; i < fragment.words() / (wide ? 2 : 1); ++i) {
      const std::string reg = fmt::format("%{}{}{}", wide ? "w" : "", name, i);
      const std::string place = fmt::format("[%rd1+{}]", i * (wide ? 8 : 4));
      const char* const bits = wide ? "64" : "32";
      text += name == 'd' ? fmt::format("st.global.b{} {}, {};\n", bits, place, reg)
                          : fmt::format("ld.global.b{} {}, {};\n", bits, reg, place);
    }
  };
  move(multiply.a, 'a', 0);
  move(multiply.b, 'b', 1);
  move(multiply.c, 'c', 2);
  text +=
      fmt::format("{} {{{}}}, {{{}}}, {{{}}}, {{{}}};\n", multiply.opcode, list(multiply.d, 'd'),
                  list(multiply.a, 'a'), list(multiply.b, 'b'), list(multiply.c, 'c'));
  move(multiply.d, 'd', 3);
  return kernel_text(text + "ret;", 4);
}

/// What the instruction makes of random matrices, against the definition of the product. Several
/// products at once have their matrices below each other.
void expect_product(const Multiply& multiply, int products = 1) {
  SCOPED_TRACE(multiply.opcode);
  const auto [m, n, k] = multiply.shape;
  PtxRunner run(multiply_kernel(multiply));
  std::mt19937_64 random(20);
  const bool counts = multiply.a_type == "b1";
  const bool saturates = multiply.opcode.find("satfinite") != std::string::npos;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  for (int repeat = 0; repeat < 4; ++repeat) {
    Matrix a(m * products, k);
    Matrix b(k * products, n);
    Matrix c(m * products, n);
    a.fill(random, range_of(multiply.a_type));
    b.fill(random, range_of(multiply.b_type));
    c.fill(random, range_of(multiply.c_type));
    if (multiply.c_type == "s32" && repeat == 3) {
      // At the ends of 32 bits.
      for (auto& value : c.values) value = value < 0 ? -kMost - 1 - value % 50 : kMost - value % 50;
    }
    Matrix d(m * products, n);
    for (int row = 0; row < m * products; ++row) {
      for (int col = 0; col < n; ++col) {
        std::int64_t sum = c.at(row, col);
        for (int i = 0; i < k; ++i) {
          const std::int64_t left = a.at(row, i);
          const std::int64_t right = b.at(row / m * k + i, col);
          const bool ands = multiply.opcode.find(".and.") != std::string::npos;
          sum += !counts ? left * right : ands ? (left & right) : (left ^ right);
        }
        if (saturates) sum = std::clamp(sum, -kMost - 1, kMost);
        d.at(row, col) = sum;
      }
    }
    const auto out = run.fresh_buffer(static_cast<std::size_t>(multiply.d.words() * kLanes * 4));
    run.launch_clean({1, 1, 1}, {32, 1, 1}, run.buffer(packed(multiply.a, multiply.a_type, a)),
                     run.buffer(packed(multiply.b, multiply.b_type, b)),
                     run.buffer(packed(multiply.c, multiply.c_type, c)), out);
    const auto expected = packed(multiply.d, multiply.d_type, d);
    ASSERT_EQ(run.read<std::uint32_t>(out, expected.size()), expected) << "matrices " << repeat;
  }
}

/// mma.sync.aligned.SHAPE.row.col.D.A.B.C with a part behind the layouts or the types.
Multiply mma(const Shape& shape, const std::string& types, Fragment a, Fragment b,
             const std::string& behind_layouts = "", const std::string& behind_types = "") {
  Multiply made;
  std::vector<std::string> names;
  for (std::size_t at = 0; at < types.size();) {
    const std::size_t end = std::min(types.find('.', at), types.size());
    names.push_back(types.substr(at, end - at));
    at = end + 1;
  }
  made.opcode = fmt::format("mma.sync.aligned.m{}n{}k{}.row.col{}.{}{}", shape.m, shape.n, shape.k,
                            behind_layouts, types, behind_types);
  made.shape = shape;
  made.d_type = names.at(0);
  made.a_type = names.at(1);
  made.b_type = names.at(2);
  made.c_type = names.at(3);
  const auto bits = [](const std::string& type) {
    return type == "f64" ? 64 : type == "f16" ? 16 : 32;
  };
  made.a = std::move(a);
  made.b = std::move(b);
  made.c = sums(shape.m, bits(made.c_type));
  made.d = sums(shape.m, bits(made.d_type));
  return made;
}

TEST(MatrixMultiply, Halves) {
  for (const std::string type : {"f16", "bf16"}) {
    for (const std::string sum : {"f32", "f16"}) {
      if (type == "bf16" && sum == "f16") continue;
      const std::string types = sum + "." + type + "." + type + "." + sum;
      expect_product(mma({16, 8, 8}, types, a16(4, 16, 2), b8(2, 16, 2)));
      expect_product(mma({16, 8, 16}, types, a16(8, 16, 2), b8(4, 16, 2)));
    }
  }
}

TEST(MatrixMultiply, Tf32ReadsTheUpperBits) {
  expect_product(mma({16, 8, 4}, "f32.tf32.tf32.f32", a16(2, 32, 1), b8(1, 32, 1)));
  expect_product(mma({16, 8, 8}, "f32.tf32.tf32.f32", a16(4, 32, 1), b8(2, 32, 1)));
}

TEST(MatrixMultiply, Doubles) {
  const std::string types = "f64.f64.f64.f64";
  expect_product(mma({8, 8, 4}, types, a8(1, 64), b8(1, 64, 1)));
  expect_product(mma({8, 8, 4}, types, a8(1, 64), b8(1, 64, 1), "", ".rn"));
  expect_product(mma({16, 8, 4}, types, a16(2, 64, 1), b8(1, 64, 1)));
  expect_product(mma({16, 8, 8}, types, a16(4, 64, 1), b8(2, 64, 1)));
  expect_product(mma({16, 8, 16}, types, a16(8, 64, 1), b8(4, 64, 1)));
}

TEST(MatrixMultiply, EightBitFloats) {
  for (const std::string a : {"e4m3", "e5m2"}) {
    for (const std::string b : {"e4m3", "e5m2"}) {
      for (const std::string sum : {"f32", "f16"}) {
        const std::string types = sum + "." + a + "." + b + "." + sum;
        expect_product(mma({16, 8, 32}, types, a16(16, 8, 4), b8(8, 8, 4)));
        expect_product(mma({16, 8, 16}, types, a16(8, 8, 4), b8(4, 8, 4)));
      }
    }
  }
}

TEST(MatrixMultiply, Bytes) {
  for (const std::string a : {"s8", "u8"}) {
    for (const std::string b : {"s8", "u8"}) {
      for (const std::string saturates : {"", ".satfinite"}) {
        const std::string types = "s32." + a + "." + b + ".s32";
        expect_product(mma({8, 8, 16}, types, a8(4, 8), b8(4, 8, 4), saturates));
        expect_product(mma({16, 8, 16}, types, a16(8, 8, 4), b8(4, 8, 4), saturates));
        expect_product(mma({16, 8, 32}, types, a16(16, 8, 4), b8(8, 8, 4), saturates));
      }
    }
  }
}

TEST(MatrixMultiply, HalfBytes) {
  for (const std::string a : {"s4", "u4"}) {
    for (const std::string b : {"s4", "u4"}) {
      for (const std::string saturates : {"", ".satfinite"}) {
        const std::string types = "s32." + a + "." + b + ".s32";
        expect_product(mma({8, 8, 32}, types, a8(8, 4), b8(8, 4, 8), saturates));
        expect_product(mma({16, 8, 32}, types, a16(16, 4, 8), b8(8, 4, 8), saturates));
        expect_product(mma({16, 8, 64}, types, a16(32, 4, 8), b8(16, 4, 8), saturates));
      }
    }
  }
}

TEST(MatrixMultiply, Bits) {
  for (const std::string operation : {".xor.popc", ".and.popc"}) {
    const std::string types = "s32.b1.b1.s32";
    expect_product(mma({8, 8, 128}, types, a8(32, 1), b8(32, 1, 32), "", operation));
    expect_product(mma({16, 8, 128}, types, a16(64, 1, 32), b8(32, 1, 32), "", operation));
    expect_product(mma({16, 8, 256}, types, a16(128, 1, 32), b8(64, 1, 32), "", operation));
  }
}

TEST(MatrixMultiply, FourProductsOfQuads) {
  // m8n8k4: lanes 0-3 and 16-19 do the first product, 4-7 and 20-23 the second, and so on.
  const auto product = [](int lane) { return lane % 16 / 4; };
  const auto upper = [](int lane) { return lane < 16 ? 0 : 4; };
  for (const bool a_rows : {true, false}) {
    for (const bool b_rows : {true, false}) {
      for (const std::string c : {"f16", "f32"}) {
        for (const std::string d : {"f16", "f32"}) {
          const Fragment a{4, 16, [=](int lane, int i) {
                             const int row = (a_rows ? lane % 4 : i) + upper(lane);
                             return Place{product(lane) * 8 + row, a_rows ? i : lane % 4};
                           }};
          const Fragment b{4, 16, [=](int lane, int i) {
                             const int col = (b_rows ? i : lane % 4) + upper(lane);
                             return Place{product(lane) * 4 + (b_rows ? lane % 4 : i), col};
                           }};
          const Fragment half_sums{8, 16, [=](int lane, int i) {
                                     return Place{product(lane) * 8 + lane % 4 + upper(lane), i};
                                   }};
          const Fragment float_sums{8, 32, [=](int lane, int i) {
                                      const int x = (lane & 1) + upper(lane);
                                      const bool below = i == 2 || i == 3 || i == 6 || i == 7;
                                      const int col = (i & 4) + (lane & 2) + (i & 1);
                                      return Place{product(lane) * 8 + (below ? x + 2 : x), col};
                                    }};
          Multiply multiply;
          multiply.opcode = fmt::format("mma.sync.aligned.m8n8k4.{}.{}.{}.f16.f16.{}",
                                        a_rows ? "row" : "col", b_rows ? "row" : "col", d, c);
          multiply.shape = {8, 8, 4};
          multiply.a_type = multiply.b_type = "f16";
          multiply.c_type = c;
          multiply.d_type = d;
          multiply.a = a;
          multiply.b = b;
          multiply.c = c == "f16" ? half_sums : float_sums;
          multiply.d = d == "f16" ? half_sums : float_sums;
          if (c == "f32" && d == "f16") continue;  // PTX does not have it
          expect_product(multiply, 4);
        }
      }
    }
  }
}

/// The first f32 of a product of 16 x 8 x 16 whose A, B and C are the same everywhere.
std::uint64_t first_of(std::uint32_t a_pair, std::uint32_t b_pair, std::uint32_t c) {
  return lane_test::run(
             "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%rd, %r1, %r2, %r3}, "
             "{%ra, %ra, %ra, %ra}, {%rb, %rb}, {%rc, %rc, %rc, %rc};",
             'r', lane_test::Rows(32, {a_pair, b_pair, c, 0}))
      .front();
}

TEST(MatrixMultiply, SumsAreMadeInF32OneByOne) {
  const std::uint32_t ones = 0x3C003C00;
  const float large = 16777216.0F;  // 2^24, which one more does not change
  EXPECT_EQ(first_of(ones, ones, std::bit_cast<std::uint32_t>(large)),
            std::bit_cast<std::uint32_t>(large));
  EXPECT_EQ(first_of(ones, ones, std::bit_cast<std::uint32_t>(-large)),
            std::bit_cast<std::uint32_t>(-large + 16.0F));
}

TEST(MatrixMultiply, NothingIsNegativeZero) {
  const std::uint32_t zeros = 0x80008000;
  const std::uint32_t ones = 0x3C003C00;
  EXPECT_EQ(first_of(zeros, ones, 0x80000000), 0U);
  const std::uint64_t zero = 0x8000000000000000;
  EXPECT_EQ(lane_test::run("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%ld, %l1}, {%la}, "
                           "{%lb}, {%la, %la};",
                           'l', lane_test::Rows(32, {zero, 0x3FF0000000000000, 0, 0}))
                .front(),
            zero);
}

TEST(MatrixMultiply, WhatPtxDoesNotHaveIsRefused) {
  const std::string two = "{%ra, %rb}";
  const std::string four = "{%ra, %rb, %rc, %re}";
  for (const std::string& text :
       {"mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32 " + four + ", " + four + ", " + two,
        "mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32 " + four + ", " + two + ", {%ra}",
        "mma.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 " + four + ", " + four + ", " + two,
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16 " + four + ", " + four + ", " + two,
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + four + ", " + two + ", " + two,
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + four + ", " + two + ", " + two}) {
    lane_test::expect_refused(text + ", " + four + ";");
  }
}

}  // namespace
}  // namespace kiln::emulated
