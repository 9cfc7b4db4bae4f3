// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async for every type, against sums of small numbers that are exact in any order.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

#include "runtime/emulated/arith/small_floats.hpp"
#include "runtime/emulated/matrix/fragment_layout.hpp"
#include "runtime/emulated/matrix/matrix_descriptor.hpp"
#include "runtime/emulated/matrix/matrix_elements.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::kernel_text;
using test::PtxRunner;

constexpr int kWgmmaRows = 64;
constexpr std::uint32_t kImage = 32768;

struct Product {
  std::string types;  ///< "f32.bf16.bf16"
  MatrixType a = MatrixType::f16;
  MatrixType b = MatrixType::f16;
  MatrixType d = MatrixType::f32;
  int n = 16;
  Swizzle swizzle = Swizzle::none;
  bool a_in_registers = false;
  bool a_along_m = false;
  bool b_along_n = false;
  bool accumulates = true;
  std::string immediates = ", 1, 1, 0, 0";
  int sign = 1;
  std::string suffix = "";  ///< ".satfinite"
};

std::uint32_t bits_of_value(MatrixType type, int value) {
  const auto real = static_cast<float>(value);
  switch (type) {
    case MatrixType::f16:
      return f16_of_f32(real);
    case MatrixType::bf16:
      return bf16_of_f32(real);
    case MatrixType::e4m3:
      return e4m3_of_f32(real);
    case MatrixType::e5m2:
      return e5m2_of_f32(real);
    case MatrixType::s8:
    case MatrixType::u8:
      return static_cast<std::uint32_t>(value) & 0xffU;
    default:
      return std::bit_cast<std::uint32_t>(real);
  }
}

/// Small numbers of every sign that the type has.
int a_value(MatrixType type, int m, int k) {
  return (m * 3 + k * 5) % 7 - (type == MatrixType::u8 ? 0 : 3);
}
int b_value(MatrixType type, int k, int n) {
  return (k * 2 + n * 7) % 5 - (type == MatrixType::u8 ? 0 : 2);
}
int c_value(int m, int n) {
  return (m + 2 * n) % 9 - 4;
}

/// Places of a matrix without swizzle: core matrices of 128 bytes follow each other along K (or,
/// where neighbours lie along M or N, along that), then along the other dimension.
MatrixDescriptor plain_descriptor(std::uint32_t start, bool along_k, int minor_or_major) {
  MatrixDescriptor descriptor;
  descriptor.start = start;
  if (along_k) {
    descriptor.leading = 128;
    descriptor.stride = 256;
  } else {
    descriptor.stride = 128;
    descriptor.leading = static_cast<std::uint32_t>(minor_or_major) / 8 * 128;
  }
  return descriptor;
}

MatrixDescriptor descriptor_of(Swizzle swizzle, std::uint32_t start, bool along_k, int count) {
  if (swizzle == Swizzle::none) return plain_descriptor(start, along_k, count);
  MatrixDescriptor descriptor;
  descriptor.start = start;
  descriptor.swizzle = swizzle;
  descriptor.stride = swizzle_period(swizzle);
  descriptor.leading = 2 * swizzle_period(swizzle);
  return descriptor;
}

void put_bits(std::vector<std::uint8_t>& image, std::uint32_t address, int bytes,
              std::uint32_t bits) {
  for (int i = 0; i < bytes; ++i) {
    image[address - kSharedBase + static_cast<std::uint32_t>(i)] =
        static_cast<std::uint8_t>(bits >> (8 * i));
  }
}

std::uint32_t address_of(const MatrixDescriptor& descriptor, bool along_k, int bytes, int k,
                         int other) {
  const int major = along_k ? k : other;
  const int minor = along_k ? other : k;
  return element_address<1>(descriptor, along_k, major * bytes, minor);
}

/// Loads the image of shared memory and accumulators, runs `body`, stores the accumulators.
/// %rd8 and %rd9 are the descriptors, d0.. the accumulators, a0..a3 registers of A.
std::string multiply_kernel(const std::string& body, int registers, bool fence = true) {
  std::string text = R"(
    .reg .pred %p<8>; .reg .b32 %r<32>, d<256>, e<256>, a<4>; .reg .b64 %rd<16>;
    .shared .align 1024 .b8 image[32768];
    .shared .align 8 .b64 barrier;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    ld.param.u64 %rd3, [p2];
    ld.param.u64 %rd8, [p3];
    ld.param.u64 %rd9, [p4];
    mov.u32 %r2, barrier;
    mov.u32 %r3, image;
    setp.ne.u32 %p1, %r1, 0;
    @!%p1 mbarrier.init.shared.b64 [%r2], 1;
    fence.mbarrier_init.release.cluster;
    bar.sync 0;
    @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 32768;
    @!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
        [%r3], [%rd1], 32768, [%r2];
  WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
    @!%p2 bra WAIT;
    mul.wide.u32 %rd4, %r1, 16;
    add.s64 %rd4, %rd3, %rd4;
    ld.global.v4.b32 {a0, a1, a2, a3}, [%rd4];
  )";
  text += fmt::format("mul.wide.u32 %rd5, %r1, {};\nadd.s64 %rd5, %rd2, %rd5;\n", registers * 4);
  for (int i = 0; i < registers; ++i) {
    text += fmt::format("ld.global.b32 d{}, [%rd5+{}];\n", i, 4 * i);
  }
  if (fence) text += "wgmma.fence.sync.aligned;\n";
  text += body;
  for (int i = 0; i < registers; ++i) {
    text += fmt::format("st.global.b32 [%rd5+{}], d{};\n", 4 * i, i);
  }
  return kernel_text(text + "ret;", 5);
}

std::string register_list(std::string_view prefix, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += fmt::format("{}{}{}", i == 0 ? "" : ", ", prefix, i);
  return text + "}";
}

const std::string kCommit = "wgmma.commit_group.sync.aligned;\n";
const std::string kWait = "wgmma.wait_group.sync.aligned 0;\n";

/// One case's operands in memory.
struct Operands {
  explicit Operands(const Product& at)
      : with(at), bytes(bits_of(at.a) / 8), k(32 / bytes), image(kImage) {
    a_descriptor = descriptor_of(at.swizzle, kSharedBase, !at.a_along_m, kWgmmaRows);
    b_descriptor = descriptor_of(at.swizzle, kSharedBase + kImage / 2, !at.b_along_n, at.n);
    layout = wgmma_accumulator(at.n, bits_of(at.d));
    for (int m = 0; m < kWgmmaRows; ++m) {
      for (int i = 0; i < k; ++i) {
        put_bits(image, address_of(a_descriptor, !at.a_along_m, bytes, i, m), bytes,
                 bits_of_value(at.a, a_value(at.a, m, i)));
      }
    }
    for (int n = 0; n < at.n; ++n) {
      for (int i = 0; i < k; ++i) {
        put_bits(image, address_of(b_descriptor, !at.b_along_n, bytes, i, n), bytes,
                 bits_of_value(at.b, b_value(at.b, i, n)));
      }
    }
    const FragmentLayout& a_layout = *wgmma_a_fragment(bits_of(at.a));
    a_registers = fragment(a_layout, bits_of(at.a),
                           [&](int m, int i) { return bits_of_value(at.a, a_value(at.a, m, i)); });
    before = fragment(*layout, bits_of(at.d), [&](int m, int n) { return d_bits(c_value(m, n)); });
  }

  [[nodiscard]] std::uint32_t d_bits(int value) const {
    return with.d == MatrixType::s32 ? static_cast<std::uint32_t>(value)
                                     : bits_of_value(with.d, value);
  }
  [[nodiscard]] int product(int m, int n) const {
    int sum = 0;
    for (int i = 0; i < k; ++i) sum += a_value(with.a, m, i) * b_value(with.b, i, n);
    return sum * with.sign;
  }
  /// The registers of 128 threads, one thread after the other.
  template <class Value>
  static std::vector<std::uint32_t> fragment(const FragmentLayout& layout, int bits,
                                             const Value& value) {
    std::vector<std::uint32_t> words(static_cast<std::size_t>(128 * layout.registers));
    for (int thread = 0; thread < 128; ++thread) {
      for (int e = 0; e < layout.elements(); ++e) {
        const auto place = layout.at(thread % 32, e);
        const std::uint32_t element = value(thread / 32 * 16 + place.row, place.col);
        words[static_cast<std::size_t>(thread * layout.registers +
                                       e / layout.elements_per_register)] |=
            element << (e % layout.elements_per_register * bits);
      }
    }
    return words;
  }
  [[nodiscard]] std::vector<std::uint32_t> expected(int times) const {
    return fragment(*layout, bits_of(with.d), [&](int m, int n) {
      return d_bits((with.accumulates ? c_value(m, n) : 0) + times * product(m, n));
    });
  }
  [[nodiscard]] std::string instruction(std::string_view registers = "d") const {
    return fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}.{}{} {}, {}, %rd9, {}{};\n", with.n,
                       k, with.types, with.suffix, register_list(registers, layout->registers),
                       with.a_in_registers ? register_list("a", 4) : "%rd8",
                       with.accumulates ? "%p3" : "%p4", with.immediates);
  }

  Product with;
  int bytes;
  int k;
  std::vector<std::uint8_t> image;
  MatrixDescriptor a_descriptor;
  MatrixDescriptor b_descriptor;
  const FragmentLayout* layout = nullptr;
  std::vector<std::uint32_t> a_registers;
  std::vector<std::uint32_t> before;
};

const std::string kScales = "setp.eq.u32 %p3, %r1, %r1;\nsetp.ne.u32 %p4, %r1, %r1;\n";

struct WgmmaOutcome {
  LaunchResult result;
  std::vector<std::uint32_t> words;
};

WgmmaOutcome run_body(const Operands& operands, const std::string& body, bool fence = true) {
  PtxRunner run(multiply_kernel(kScales + body, operands.layout->registers, fence));
  const auto image = run.buffer(operands.image);
  const auto d = run.buffer(operands.before);
  WgmmaOutcome outcome;
  outcome.result = run.launch({1, 1, 1}, {128, 1, 1}, image, d, run.buffer(operands.a_registers),
                              encode_descriptor(operands.a_descriptor),
                              encode_descriptor(operands.b_descriptor));
  outcome.words = run.read<std::uint32_t>(d, operands.before.size());
  return outcome;
}

void expect_clean(const WgmmaOutcome& outcome, const std::vector<std::uint32_t>& words) {
  EXPECT_FALSE(outcome.result.fault) << outcome.result.fault->describe();
  for (const Report& report : outcome.result.reports) ADD_FAILURE() << report.describe();
  EXPECT_EQ(outcome.words, words);
}

class WgmmaTypes : public ::testing::TestWithParam<Product> {};

TEST_P(WgmmaTypes, MultiplyAndAdd) {
  const Operands operands(GetParam());
  expect_clean(run_body(operands, operands.instruction() + kCommit + kWait), operands.expected(1));
}

std::vector<Product> cases() {
  using enum MatrixType;
  std::vector<Product> all;
  const std::string scales = ", 1, 1";
  const std::string whole;
  all.push_back({"f32.f16.f16", f16, f16, f32});
  all.push_back({"f16.f16.f16", f16, f16, f16, 24});
  all.push_back({"f32.bf16.bf16", bf16, bf16, f32, 256});
  all.push_back({"f32.tf32.tf32", tf32, tf32, f32, 8});
  all.back().immediates = scales;
  for (const auto& [name, a, b] :
       {std::tuple("e4m3.e4m3", e4m3, e4m3), std::tuple("e4m3.e5m2", e4m3, e5m2),
        std::tuple("e5m2.e4m3", e5m2, e4m3)}) {
    all.push_back({std::string("f32.") + name, a, b, f32});
    all.back().immediates = scales;
  }
  all.push_back({"f16.e5m2.e5m2", e5m2, e5m2, f16});
  all.back().immediates = scales;
  for (const auto& [name, a, b] :
       {std::tuple("s8.s8", s8, s8), std::tuple("u8.s8", u8, s8), std::tuple("u8.u8", u8, u8)}) {
    all.push_back({std::string("s32.") + name, a, b, s32});
    all.back().immediates = whole;
  }
  all.push_back({"f32.f16.f16", f16, f16, f32, 64, Swizzle::bytes128});
  all.push_back({"f32.f16.f16", f16, f16, f32, 32, Swizzle::bytes64});
  all.push_back({"f32.f16.f16", f16, f16, f32, 32, Swizzle::bytes32});
  // Neighbours along M and N.
  all.push_back({"f32.bf16.bf16", bf16, bf16, f32, 16, Swizzle::none, false, true, true});
  all.back().immediates = ", 1, 1, 1, 1";
  all.push_back({"f32.f16.f16", f16, f16, f32, 64, Swizzle::bytes128, false, true, true});
  all.back().immediates = ", 1, 1, 1, 1";
  // A in registers.
  all.push_back({"f32.f16.f16", f16, f16, f32, 16, Swizzle::none, true});
  all.back().immediates = ", 1, 1, 0";
  all.push_back({"f32.f16.f16", f16, f16, f32, 16, Swizzle::none, true, false, true});
  all.back().immediates = ", 1, 1, 1";
  all.push_back({"s32.s8.u8", s8, u8, s32, 32, Swizzle::none, true});
  all.back().immediates = whole;
  all.push_back({"f32.tf32.tf32", tf32, tf32, f32, 16, Swizzle::none, true});
  all.back().immediates = scales;
  // Without C, and negated.
  all.push_back({"f32.f16.f16", f16, f16, f32});
  all.back().accumulates = false;
  all.push_back({"f32.f16.f16", f16, f16, f32});
  all.back().immediates = ", -1, 1, 0, 0";
  all.back().sign = -1;
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, WgmmaTypes, ::testing::ValuesIn(cases()));

TEST(Wgmma, BitsCountWhatBothHave) {
  Product with{"s32.b1.b1.and.popc", MatrixType::u8, MatrixType::u8, MatrixType::s32};
  with.immediates = "";
  Operands operands(with);
  std::string instruction = operands.instruction();
  instruction.replace(instruction.find("k32"), 3, "k256");
  const auto outcome = run_body(operands, instruction + kCommit + kWait);
  const auto expected = Operands::fragment(*operands.layout, 32, [&](int m, int n) {
    int sum = c_value(m, n);
    for (int i = 0; i < operands.k; ++i) {
      sum += std::popcount(static_cast<std::uint32_t>(a_value(with.a, m, i)) &
                           static_cast<std::uint32_t>(b_value(with.b, i, n)));
    }
    return static_cast<std::uint32_t>(sum);
  });
  expect_clean(outcome, expected);
}

TEST(Wgmma, IntegersSaturateWhereTheySaySo) {
  // From the largest number, and with signs from the smallest, products lead out of the range.
  for (const auto& [types, type, begin] :
       {std::tuple("s32.u8.u8", MatrixType::u8, std::int32_t{0x7fffffff}),
        std::tuple("s32.s8.s8", MatrixType::s8, std::int32_t{0x7fffffff}),
        std::tuple("s32.s8.s8", MatrixType::s8, -std::int32_t{0x7fffffff} - 1)}) {
    for (const bool saturates : {false, true}) {
      SCOPED_TRACE(fmt::format("{} from {}, saturates: {}", types, begin, saturates));
      Product with{types, type, type, MatrixType::s32};
      with.immediates = "";
      if (saturates) with.suffix = ".satfinite";
      Operands operands(with);
      std::fill(operands.before.begin(), operands.before.end(), static_cast<std::uint32_t>(begin));
      const auto sums = Operands::fragment(*operands.layout, 32, [&](int m, int n) {
        const std::int64_t sum = std::int64_t{begin} + operands.product(m, n);
        using Limits = std::numeric_limits<std::int32_t>;
        const std::int64_t clamped = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
        return static_cast<std::uint32_t>(saturates ? clamped : sum);
      });
      expect_clean(run_body(operands, operands.instruction() + kCommit + kWait), sums);
    }
  }
}

TEST(Wgmma, ChainsGoOnWithoutWaits) {
  const Operands operands(Product{"f32.f16.f16"});
  const std::string one = operands.instruction() + kCommit;
  expect_clean(run_body(operands, one + one + operands.instruction() + one +
                                      "wgmma.wait_group.sync.aligned 1;" + one + kWait),
               operands.expected(5));
}

TEST(Wgmma, UnfinishedAccumulatorsMayBeMoved) {
  // The compiler goes on in other registers and comes back.
  const Operands operands(Product{"f32.f16.f16"});
  std::string to;
  std::string back;
  for (int i = 0; i < operands.layout->registers; ++i) {
    to += fmt::format("mov.b32 e{0}, d{0};\n", i);
    back += fmt::format("mov.f32 d{0}, e{0};\n", i);
  }
  expect_clean(run_body(operands, operands.instruction() + kCommit + to +
                                      operands.instruction("e") + kCommit + back + kWait),
               operands.expected(2));
}

::testing::AssertionResult only(const WgmmaOutcome& outcome, Finding finding) {
  return test::found_only(outcome.result, finding);
}

TEST(Wgmma, AMissingWaitIsFound) {
  const Operands operands(Product{"f32.f16.f16"});
  const auto outcome = run_body(operands, operands.instruction() + kCommit);
  EXPECT_TRUE(only(outcome, Finding::missing_wait));
  EXPECT_NE(outcome.words, operands.expected(1));
}

TEST(Wgmma, AMissingCommitIsFound) {
  const Operands operands(Product{"f32.f16.f16"});
  EXPECT_TRUE(only(run_body(operands, operands.instruction() + kWait), Finding::missing_wait));
}

TEST(Wgmma, WritingAccumulatorsBeforeTheWaitIsFound) {
  const Operands operands(Product{"f32.f16.f16"});
  EXPECT_TRUE(
      only(run_body(operands, operands.instruction() + kCommit + "add.u32 d0, %r1, 1;\n" + kWait),
           Finding::missing_wait));
}

TEST(Wgmma, AMissingFenceIsFound) {
  const Operands operands(Product{"f32.f16.f16"});
  const std::string once = operands.instruction() + kCommit + kWait;
  EXPECT_TRUE(only(run_body(operands, once, false), Finding::missing_fence));
  const std::string change = "add.f32 d1, d1, d1;\n";
  EXPECT_TRUE(only(run_body(operands, once + change + once), Finding::missing_fence));
  const auto fenced = run_body(operands, once + change + "wgmma.fence.sync.aligned;" + once);
  EXPECT_TRUE(findings(fenced.result).empty());
}

TEST(Wgmma, OverwritingATileTooEarlyIsFound) {
  const Operands operands(Product{"f32.f16.f16"});
  for (const int row : {0, 16, 32, 48}) {
    const std::uint32_t at = address_of(operands.a_descriptor, true, 2, 0, row) - kSharedBase;
    const auto outcome =
        run_body(operands, operands.instruction() + kCommit +
                               fmt::format("@!%p1 st.shared.u32 [%r3+{}], %r1;\n", at) + kWait);
    // Rows of other warps, which may not even have begun to read.
    const std::vector<Finding> others{Finding::race, Finding::missing_wait};
    EXPECT_TRUE(row == 0 ? only(outcome, Finding::missing_wait)
                         : test::found_only(outcome.result, others))
        << row;
  }
}

TEST(Wgmma, GenericWritesNeedAProxyFence) {
  const Operands operands(Product{"f32.f16.f16"});
  const std::string write = "@!%p1 ld.shared.u32 %r4, [%r3];\n@!%p1 st.shared.u32 [%r3], %r4;\n";
  const std::string rest = "bar.sync 0;\n" + operands.instruction() + kCommit + kWait;
  EXPECT_TRUE(only(run_body(operands, write + rest), Finding::missing_fence));
  expect_clean(run_body(operands, write + "fence.proxy.async;\n" + rest), operands.expected(1));
}

TEST(Wgmma, AWarpThatEndsWithoutWaitingIsFound) {
  const Operands operands(Product{"f32.f16.f16"});
  EXPECT_TRUE(
      only(run_body(operands, operands.instruction() + kCommit + "ret;\n"), Finding::missing_wait));
}

TEST(Wgmma, AWarpOfTheGroupThatLeavesOneOutIsFound) {
  const Operands operands(Product{"f32.f16.f16"});
  const std::string last = "setp.ge.u32 %p5, %r1, 96;\n";  // the fourth warp
  const std::string product = operands.instruction();
  const std::string left_out = last + "@%p5 bra LEFT;\n" + product + "LEFT:\n" + kCommit + kWait;
  const auto outcome = run_body(operands, left_out);
  EXPECT_TRUE(only(outcome, Finding::divergent));
  ASSERT_EQ(outcome.result.reports.size(), 1U);
  const std::string& text = outcome.result.reports.front().text;
  EXPECT_EQ(text.rfind("wgmma.mma_async", 0), 0U) << text;
  EXPECT_NE(text.find("is not executed by warp 3"), std::string::npos) << text;

  // Of these two each warp executes one.
  EXPECT_TRUE(only(run_body(operands, last + "@%p5 bra OTHER;\n" + product + "bra BOTH;\nOTHER:\n" +
                                          product + "BOTH:\n" + kCommit + kWait),
                   Finding::divergent));
  // It ends before the others multiply, and after.
  const std::string together = "bar.sync 1, 96;\n";
  for (const std::string& before : {std::string("@%p5 ret;\n"), "@%p5 ret;\n" + together}) {
    EXPECT_TRUE(
        test::found_only(run_body(operands, last + before + product + kCommit + kWait).result,
                         {Finding::divergent, Finding::deadlock}))
        << before;
  }
  // It waits where the others never come.
  EXPECT_TRUE(test::found_only(
      run_body(operands, last + "@%p5 bar.sync 1, 64;\n" + product + kCommit + kWait).result,
      {Finding::divergent, Finding::deadlock}));
}

TEST(Wgmma, BadDescriptorsAreFaults) {
  Operands operands(Product{"f32.f16.f16"});
  operands.b_descriptor.start = kSharedBase + kImage;
  const std::string body = operands.instruction() + kCommit + kWait;
  EXPECT_TRUE(only(run_body(operands, body), Finding::out_of_bounds));
  const Operands good(Product{"f32.f16.f16"});
  EXPECT_TRUE(
      only(run_body(good, "or.b64 %rd9, %rd9, 0x4000;\n" + body), Finding::invalid_operand));
}

}  // namespace
}  // namespace kiln::emulated
