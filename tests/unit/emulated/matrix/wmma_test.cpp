// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// wmma: load, multiply, store. PTX does not say which lane holds what, so whole matrices are
// compared, in all types, shapes and orders, from global and shared memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/emulated/arith/small_floats.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::kernel_text;
using test::PtxRunner;

int bits_of(std::string_view type) {
  if (type == "f64") return 64;
  if (type == "f16" || type == "bf16") return 16;
  if (type == "s8" || type == "u8") return 8;
  if (type == "s4" || type == "u4") return 4;
  return type == "b1" ? 1 : 32;
}

std::uint64_t encode_wmma(std::string_view type, std::int64_t value) {
  const auto number = static_cast<float>(value);
  if (type == "f64") return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  if (type == "f32" || type == "tf32") return std::bit_cast<std::uint32_t>(number);
  if (type == "f16") return f16_of_f32(number);
  if (type == "bf16") return bf16_of_f32(number);
  return static_cast<std::uint64_t>(value);
}

/// A matrix in memory: its lines are rows or columns, `stride` elements apart.
struct Stored {
  std::string type;
  int rows;
  int cols;
  bool row_major;
  int stride;
  std::vector<std::int64_t> values;  ///< row by row

  [[nodiscard]] std::int64_t at(int row, int col) const {
    return values[static_cast<std::size_t>(row * cols + col)];
  }
  /// The bytes in memory; what lies between the lines is all ones.
  [[nodiscard]] std::vector<std::uint8_t> bytes() const {
    const int bits = bits_of(type);
    const int lines = row_major ? rows : cols;
    std::vector<std::uint8_t> all(static_cast<std::size_t>(lines * stride * bits / 8), 0xFF);
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) {
        const int place = (row_major ? row * stride + col : col * stride + row) * bits;
        const std::uint64_t element = encode_wmma(type, at(row, col));
        const auto byte = static_cast<std::size_t>(place / 8);
        if (bits >= 8) {
          std::memcpy(&all[byte], &element, static_cast<std::size_t>(bits / 8));
          continue;
        }
        const int mask = ((1 << bits) - 1) << place % 8;
        const int shifted = static_cast<int>(element << place % 8) & mask;
        all[byte] = static_cast<std::uint8_t>((all[byte] & ~mask) | shifted);
      }
    }
    return all;
  }
};

struct Wmma {
  int m, n, k;
  std::string a_type;
  std::string b_type;
  std::string c_type;
  std::string d_type;
  bool a_rows = true;
  bool b_rows = false;
  bool c_rows = true;
  bool d_rows = true;
  std::string operation;  ///< "xor.popc" of bits
  std::string behind;     ///< ".satfinite", ".rn"
};

/// How many registers a lane has for a matrix, as the PTX ISA lists them.
int registers_of(const Wmma& wmma, const std::string& type, bool a, bool sums) {
  const int elements = (sums ? wmma.m * wmma.n : a ? wmma.m * wmma.k : wmma.k * wmma.n) / 32;
  if (type == "f16" && !sums) return 8;  // with repetitions
  if (type == "f64") return sums ? 2 : 1;
  return std::max(1, elements * bits_of(type) / 32);
}

std::string registers(char name, int count, bool wide) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    all += fmt::format("{}%{}{}{}", i == 0 ? "" : ", ", wide ? "w" : "", name, i);
  }
  return "{" + all + "}";
}

/// A, B and C lie in p0, p1 and p2, D goes to p3; through shared memory if told so.
std::string wmma_kernel(const Wmma& wmma, const Stored (&stored)[4], bool shared) {
  const std::string shape = fmt::format("m{}n{}k{}", wmma.m, wmma.n, wmma.k);
  std::string text = R"(
    .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
    .reg .b32 %a<8>, %b<8>, %c<8>, %d<8>; .reg .b64 %wa<2>, %wb<2>, %wc<2>, %wd<2>;
    .shared .align 32 .b8 place[8192];
    mov.u32 %r1, %tid.x;
  )";
  const auto order = [](bool rows) { return rows ? "row" : "col"; };
  const auto list = [&](int which) {
    const std::string& type = stored[which].type;
    const int count = registers_of(wmma, type, which == 0, which >= 2);
    return registers("abcd"[which], count, type == "f64");
  };
  // Moves p`which` into shared memory, or shared memory into it, byte by byte.
  const auto copy = [&](int which, bool in) {
    text += fmt::format(R"(
    bar.sync 0;
    mov.u64 %rd2, place;
    mov.u32 %r2, %r1;
  COPY{0}{1}:
    cvt.u64.u32 %rd3, %r2;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
    {2}
    add.u32 %r2, %r2, 32;
    setp.lt.u32 %p1, %r2, {3};
    @%p1 bra COPY{0}{1};
    bar.sync 0;
    )",
                        which, in ? "IN" : "OUT",
                        in ? "ld.global.u8 %r3, [%rd4]; st.shared.u8 [%rd5], %r3;"
                           : "ld.shared.u8 %r3, [%rd5]; st.global.u8 [%rd4], %r3;",
                        stored[which].bytes().size());
  };
  const std::string space = shared ? "shared" : "global";
  const std::string address = shared ? "%rd2" : "%rd1";
  for (int which = 0; which < 3; ++which) {
    text += fmt::format("ld.param.u64 %rd1, [p{}];\n", which);
    if (shared) copy(which, true);
    text += fmt::format("wmma.load.{}.sync.aligned.{}.{}.{}.{} {}, [{}], {};\n", "abc"[which],
                        order(stored[which].row_major), shape, space, stored[which].type,
                        list(which), address, stored[which].stride);
  }
  const std::string operation = wmma.operation.empty() ? "" : "." + wmma.operation;
  const std::string types = wmma.a_type == "f16" ? wmma.d_type + "." + wmma.c_type
                                                 : wmma.d_type + "." + wmma.a_type + "." +
                                                       wmma.b_type + "." + wmma.c_type;
  text += fmt::format("wmma.mma{}.sync.aligned.{}.{}.{}{}.{}{} {}, {}, {}, {};\n", operation,
                      order(wmma.a_rows), order(wmma.b_rows), shape,
                      wmma.behind == ".rn" ? ".rn" : "", types,
                      wmma.behind == ".rn" ? "" : wmma.behind, list(3), list(0), list(1), list(2));
  text += "ld.param.u64 %rd1, [p3];\n";
  if (shared) copy(3, true);
  text += fmt::format("wmma.store.d.sync.aligned.{}.{}.{}.{} [{}], {}, {};\n", order(wmma.d_rows),
                      shape, space, wmma.d_type, address, list(3), stored[3].stride);
  if (shared) copy(3, false);
  return kernel_text(text + "ret;", 4);
}

void expect_product(const Wmma& wmma, std::mt19937_64& random, int pad, bool shared) {
  const auto [m, n, k] = std::array{wmma.m, wmma.n, wmma.k};
  Stored stored[4] = {{wmma.a_type, m, k, wmma.a_rows, 0, {}},
                      {wmma.b_type, k, n, wmma.b_rows, 0, {}},
                      {wmma.c_type, m, n, wmma.c_rows, 0, {}},
                      {wmma.d_type, m, n, wmma.d_rows, 0, {}}};
  for (Stored& each : stored) {
    // Strides are multiples of 16 bytes.
    each.stride = (each.row_major ? each.cols : each.rows) + pad * 128 / bits_of(each.type);
    each.values.resize(static_cast<std::size_t>(each.rows * each.cols));
    const std::string& type = each.type;
    const std::int64_t most = type == "s8"                ? 127
                              : type == "u8"              ? 255
                              : type == "s4"              ? 7
                              : type == "u4"              ? 15
                              : type == "b1"              ? 1
                              : type == "f16"             ? 4
                              : type == "bf16"            ? 10
                              : type == "s32" && pad == 1 ? std::numeric_limits<int>::max()
                                                          : 1000;
    const bool is_unsigned = type.starts_with('u') || type == "b1";
    std::uniform_int_distribution<std::int64_t> draw(is_unsigned ? 0 : -most, most);
    for (std::int64_t& value : each.values) value = draw(random);
  }
  PtxRunner run(wmma_kernel(wmma, stored, shared));
  const auto before = stored[3];
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < n; ++col) {
      std::int64_t sum = stored[2].at(row, col);
      for (int i = 0; i < k; ++i) {
        const std::int64_t left = stored[0].at(row, i);
        const std::int64_t right = stored[1].at(i, col);
        sum += wmma.operation == "xor.popc"   ? (left ^ right)
               : wmma.operation == "and.popc" ? (left & right)
                                              : left * right;
      }
      if (wmma.behind == ".satfinite") {
        using Limits = std::numeric_limits<std::int32_t>;
        sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
      }
      stored[3].values[static_cast<std::size_t>(row * n + col)] = sum;
    }
  }
  const auto out = run.buffer(before.bytes());
  run.launch_clean({1, 1, 1}, {32, 1, 1}, run.buffer(stored[0].bytes()),
                   run.buffer(stored[1].bytes()), run.buffer(stored[2].bytes()), out);
  const auto expected = stored[3].bytes();
  ASSERT_EQ(run.read<std::uint8_t>(out, expected.size()), expected)
      << fmt::format("m{}n{}k{} {} {} {} {}, a {}, b {}, c {}, d {}, pad {}, shared {}", m, n, k,
                     wmma.a_type, wmma.b_type, wmma.c_type, wmma.d_type, wmma.a_rows, wmma.b_rows,
                     wmma.c_rows, wmma.d_rows, pad, shared);
}

/// In all orders of A and B (if both are free) and of C and D.
void expect_products(Wmma wmma, bool orders_are_free = true) {
  std::mt19937_64 random(77);
  for (int orders = 0; orders < 16; ++orders) {
    wmma.a_rows = !orders_are_free || (orders & 1) == 0;
    wmma.b_rows = orders_are_free && (orders & 2) == 0;
    wmma.c_rows = (orders & 4) == 0;
    wmma.d_rows = (orders & 8) == 0;
    if (!orders_are_free && (orders & 3) != 0) continue;
    for (const int pad : {0, 1, 3}) {
      for (const bool shared : {false, true}) {
        expect_product(wmma, random, pad, shared);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

const std::vector<std::array<int, 3>>& deep_shapes() {
  static const std::vector<std::array<int, 3>> kShapes{{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};
  return kShapes;
}

TEST(Wmma, F16) {
  for (const auto& [m, n, k] : deep_shapes()) {
    for (const std::string c : {"f16", "f32"}) {
      for (const std::string d : {"f16", "f32"}) {
        expect_products({m, n, k, "f16", "f16", c, d, true, true, true, true, "", ""});
      }
    }
  }
}

TEST(Wmma, Bf16) {
  for (const auto& [m, n, k] : deep_shapes()) {
    expect_products({m, n, k, "bf16", "bf16", "f32", "f32", true, true, true, true, "", ""});
  }
}

TEST(Wmma, Tf32) {
  expect_products({16, 16, 8, "tf32", "tf32", "f32", "f32", true, true, true, true, "", ""});
}

TEST(Wmma, F64) {
  for (const std::string rounding : {"", ".rn"}) {
    expect_products({8, 8, 4, "f64", "f64", "f64", "f64", true, true, true, true, "", rounding});
  }
}

TEST(Wmma, Bytes) {
  for (const auto& [m, n, k] : deep_shapes()) {
    for (const std::string type : {"s8", "u8"}) {
      for (const std::string behind : {"", ".satfinite"}) {
        expect_products({m, n, k, type, type, "s32", "s32", true, true, true, true, "", behind});
      }
    }
  }
}

TEST(Wmma, HalfBytes) {
  for (const std::string type : {"s4", "u4"}) {
    for (const std::string behind : {"", ".satfinite"}) {
      expect_products({8, 8, 32, type, type, "s32", "s32", true, false, true, true, "", behind},
                      false);
    }
  }
}

TEST(Wmma, Bits) {
  for (const std::string operation : {"xor.popc", "and.popc"}) {
    expect_products({8, 8, 128, "b1", "b1", "s32", "s32", true, false, true, true, operation, ""},
                    false);
  }
}

}  // namespace
}  // namespace kiln::emulated
