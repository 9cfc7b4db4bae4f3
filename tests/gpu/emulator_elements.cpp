// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/emulator_elements.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "runtime/emulated/arith/small_floats.hpp"

namespace kiln::testing {
namespace {

constexpr std::size_t kCount = 4096;
constexpr std::uint32_t kThreads = 128;

int bytes_of_kind(Kind kind) {
  switch (kind) {
    case Kind::i16:
    case Kind::f16:
    case Kind::bf16:
      return 2;
    case Kind::i64:
    case Kind::f64:
      return 8;
    default:
      return 4;
  }
}

const char* c_type(Kind kind) {
  const int bytes = bytes_of_kind(kind);
  return bytes == 2 ? "u16" : bytes == 4 ? "u32" : "u64";
}
char constraint(Kind kind) {
  const int bytes = bytes_of_kind(kind);
  return bytes == 2 ? 'h' : bytes == 4 ? 'r' : 'l';
}

/// Values at which arithmetic behaves differently.
std::vector<std::uint64_t> special_values(Kind kind) {
  switch (kind) {
    case Kind::small:
      return {0,  1,  2,  3,  5,  7,  8,   15,  16,  17,  23,
              31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 1000};
    case Kind::i16:
      return {0, 1, 2, 3, 0x7f, 0x80, 0xff, 0x100, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff};
    case Kind::i32:
      return {0,          1,          2,          3,          7,          31,         32,
              0x7f,       0x80,       0xff,       0xffff,     0x10000,    0x7ffffffe, 0x7fffffff,
              0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x55555555, 0xaaaaaaaa};
    case Kind::i64:
      return {0,
              1,
              2,
              3,
              63,
              64,
              0xffffffff,
              0x100000000,
              0x7fffffffffffffff,
              0x8000000000000000,
              0x8000000000000001,
              0xfffffffffffffffe,
              0xffffffffffffffff};
    case Kind::f16:
    case Kind::f16x2:
      return {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3800, 0x3bff, 0x3c00, 0x3c01,
              0xbc00, 0x4000, 0x4200, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x6400};
    case Kind::bf16:
    case Kind::bf16x2:
      return {0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080, 0x3f00, 0x3f7f, 0x3f80, 0x3f81,
              0xbf80, 0x4000, 0x4040, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x4b00};
    case Kind::f32:
      return {0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x80800000, 0x3f000000,
              0x3f7fffff, 0x3f800000, 0x3f800001, 0xbf800000, 0x40000000, 0x40400000, 0x40a00000,
              0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc01234, 0x3fc00000,
              0x4f000000, 0xcf000000, 0x4effffff, 0x5f000000, 0x43800000, 0x437f0000, 0x477fe000,
              0x477ff000, 0x38800000, 0x33800000, 0x33000000, 0x40200000, 0xc0200000, 0x3f800fff};
    case Kind::f64:
      return {0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x000fffffffffffff,
              0x0010000000000000, 0x3fe0000000000000, 0x3ff0000000000000, 0xbff0000000000000,
              0x4000000000000000, 0x4008000000000000, 0x7fefffffffffffff, 0x7ff0000000000000,
              0xfff0000000000000, 0x7ff8000000000000, 0x41dfffffffc00000, 0x41e0000000000000,
              0xc1e0000000000000, 0x43e0000000000000, 0x36a0000000000000, 0x47efffffe0000000,
              0x47effffff0000000, 0x3810000000000000, 0x3690000000000000, 0x4004000000000000};
  }
  return {0};
}

std::uint64_t random_value(Kind kind, std::mt19937_64& random) {
  const std::uint64_t bits = random();
  // Of floating-point values, half are of like size, so that sums round in all ways.
  const bool near = random() % 2 == 0;
  const auto pair = [&](std::uint64_t mask, std::uint64_t one) {
    return near ? (bits & mask) | one : bits;
  };
  switch (kind) {
    case Kind::small:
      return bits % 70;
    case Kind::i16:
      return bits & 0xffffU;
    case Kind::i32:
      return (bits & 0xffffffffU) >> (random() % 3 == 0 ? random() % 32 : 0);
    case Kind::i64:
      return bits >> (random() % 3 == 0 ? random() % 64 : 0);
    case Kind::f16:
      return pair(0x87ff, 0x3800) & 0xffffU;
    case Kind::bf16:
      return pair(0x81ff, 0x3e00) & 0xffffU;
    case Kind::f16x2:
      return pair(0x87ff87ff, 0x38003800) & 0xffffffffU;
    case Kind::bf16x2:
      return pair(0x81ff81ff, 0x3e003e00) & 0xffffffffU;
    case Kind::f32:
      return pair(0x81ffffff, 0x3e000000) & 0xffffffffU;
    case Kind::f64:
      return pair(0x803fffffffffffff, 0x3fc0000000000000);
  }
  return bits;
}

/// Three in eight values are special, at different positions for each operand.
Bytes operand_values(Kind kind, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto specials = special_values(kind);
  const bool packed = kind == Kind::f16x2 || kind == Kind::bf16x2;
  const auto size = static_cast<std::size_t>(bytes_of_kind(kind));
  Bytes bytes(kCount * size);
  for (std::size_t i = 0; i < kCount; ++i) {
    std::uint64_t value = random_value(kind, random);
    if (random() % 8 < 3) {
      value = specials[random() % specials.size()];
      if (packed) value |= specials[random() % specials.size()] << 16U;
    }
    std::memcpy(bytes.data() + i * size, &value, size);
  }
  return bytes;
}

std::uint64_t element(const Bytes& bytes, Kind kind, std::size_t i) {
  std::uint64_t value = 0;
  const auto size = static_cast<std::size_t>(bytes_of_kind(kind));
  std::memcpy(&value, bytes.data() + i * size, size);
  return value;
}

double number(Kind kind, std::uint64_t bits) {
  switch (kind) {
    case Kind::f16:
    case Kind::f16x2:
      return emulated::f32_of_f16(static_cast<std::uint16_t>(bits));
    case Kind::bf16:
    case Kind::bf16x2:
      return emulated::f32_of_bf16(static_cast<std::uint16_t>(bits));
    case Kind::f32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case Kind::f64:
      return std::bit_cast<double>(bits);
    default:
      return 0.0;
  }
}

/// In place of an infinity, the power of two from which on numbers are rounded to it: the other
/// result may be the largest number, but nothing farther.
double rounded_from(Kind kind, double value) {
  if (!std::isinf(value) || kind == Kind::f64) return value;
  const bool is_half = kind == Kind::f16 || kind == Kind::f16x2;
  return std::copysign(std::ldexp(1.0, is_half ? 16 : 128), value);
}

bool one_agrees(Kind kind, const ElementOp& op, std::uint64_t gpu, std::uint64_t emulated) {
  if (gpu == emulated) return true;
  if (kind == Kind::i16 || kind == Kind::i32 || kind == Kind::i64 || kind == Kind::small) {
    return false;
  }
  const double x = number(kind, gpu);
  const double y = number(kind, emulated);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  // Zeros of the two signs differ, too.
  if (op.relative == 0.0 && op.absolute == 0.0) return false;
  const double x_near = rounded_from(kind, x);
  const double y_near = rounded_from(kind, y);
  if (std::isinf(x_near) || std::isinf(y_near)) return x == y;
  return std::abs(x_near - y_near) <= op.relative * std::abs(y_near) + op.absolute;
}

bool agrees(Kind kind, const ElementOp& op, std::uint64_t gpu, std::uint64_t emulated) {
  if (kind == Kind::f16x2 || kind == Kind::bf16x2) {
    return one_agrees(kind, op, gpu & 0xffffU, emulated & 0xffffU) &&
           one_agrees(kind, op, gpu >> 16U, emulated >> 16U);
  }
  return one_agrees(kind, op, gpu, emulated);
}

std::string source_of(const ElementKernel& kernel) {
  std::string text = "extern \"C\" __global__ void k(const __grid_constant__ Args args) {\n";
  text += fmt::format("  const u32 i = blockIdx.x * {} + threadIdx.x;\n", kThreads);
  std::string operands;
  for (std::size_t n = 0; n < kernel.operands.size(); ++n) {
    const Kind kind = kernel.operands[n];
    text += fmt::format("  const {0} x{1} = static_cast<const {0}*>(args.in[{1}])[i];\n",
                        c_type(kind), n);
    operands += fmt::format("{}\"{}\"(x{})", n == 0 ? "" : ", ", constraint(kind), n);
  }
  text += fmt::format("  {0}* const out = static_cast<{0}*>(args.out) + i;\n  {0} d;\n",
                      c_type(kernel.result));
  for (std::size_t n = 0; n < kernel.ops.size(); ++n) {
    std::string op = kernel.ops[n].text;
    for (std::size_t at = op.find('\n'); at != op.npos; at = op.find('\n')) {
      op.replace(at, 1, "\\n");
    }
    text += fmt::format("  asm volatile(\"{{\\n{}\\n}}\" : \"=&{}\"(d) : {});\n  out[{}] = d;\n",
                        op, constraint(kernel.result), operands, n * kCount);
  }
  return text + "}\n";
}

}  // namespace

std::vector<ElementOp> each(const std::string& pattern, const std::vector<std::string>& parts,
                            double relative, double absolute) {
  std::vector<ElementOp> ops;
  for (const std::string& part : parts) {
    std::string text = pattern;
    for (std::size_t at = text.find("{}"); at != text.npos; at = text.find("{}")) {
      text.replace(at, 2, part);
    }
    for (std::size_t at = text.find(".."); at != text.npos; at = text.find("..")) {
      text.erase(at, 1);
    }
    ops.push_back({text, relative, absolute});
  }
  return ops;
}

std::vector<ElementOp> joined(const std::vector<std::vector<ElementOp>>& parts) {
  std::vector<ElementOp> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

void ElementTest::compare(const ElementKernel& kernel) {
  PairRun run;
  run.source = source_of(kernel);
  run.geometry = {{kCount / kThreads, 1, 1}, {kThreads, 1, 1}, {1, 1, 1}, 0};
  for (std::size_t n = 0; n < kernel.operands.size(); ++n) {
    run.inputs.push_back(operand_values(kernel.operands[n], 100 + n));
  }
  const auto size = static_cast<std::size_t>(bytes_of_kind(kernel.result));
  run.out_bytes = kCount * kernel.ops.size() * size;
  const auto result = this->run(run);
  if (!result) return;
  for (std::size_t n = 0; n < kernel.ops.size(); ++n) {
    int wrong = 0;
    std::string examples;
    for (std::size_t i = 0; i < kCount; ++i) {
      const std::uint64_t gpu = element(result->gpu, kernel.result, n * kCount + i);
      const std::uint64_t emulated = element(result->emulated, kernel.result, n * kCount + i);
      if (agrees(kernel.result, kernel.ops[n], gpu, emulated)) continue;
      if (++wrong > 4) continue;
      examples += fmt::format("\n  GPU {:#x}, emulated {:#x}, of", gpu, emulated);
      for (std::size_t k = 0; k < kernel.operands.size(); ++k) {
        examples += fmt::format(" {:#x}", element(run.inputs[k], kernel.operands[k], i));
      }
    }
    EXPECT_EQ(wrong, 0) << kernel.ops[n].text << examples;
  }
}

}  // namespace kiln::testing
