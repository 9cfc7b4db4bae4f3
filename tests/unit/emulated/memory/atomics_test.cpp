// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// atom and red in global, shared and generic memory, alone and with lanes that meet at one place.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "runtime/emulated/arith/small_floats.hpp"
#include "tests/unit/emulated/lane_kernel.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::kernel_text;
using test::PtxRunner;

using Bits = std::uint64_t;
using Apply = std::function<Bits(Bits old, Bits value, Bits swap)>;

/// An operation as PTX names it, and what it leaves in memory.
struct Operation {
  std::string name;  ///< "add.u32"
  int bytes;
  Apply apply;
  bool commutes = true;  ///< the end does not depend on the order
  bool compares = false;
};

std::int32_t s32(Bits bits) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
}
std::int64_t s64(Bits bits) {
  return static_cast<std::int64_t>(bits);
}
Bits low(Bits bits, int bytes) {
  return bytes == 8 ? bits : bits & ((Bits{1} << (8 * bytes)) - 1);
}

std::vector<Operation> whole_number_operations() {
  return {
      {"add.u32", 4, [](Bits a, Bits b, Bits) { return a + b; }},
      {"add.s32", 4, [](Bits a, Bits b, Bits) { return a + b; }},
      {"add.u64", 8, [](Bits a, Bits b, Bits) { return a + b; }},
      {"min.u32", 4, [](Bits a, Bits b, Bits) { return a < b ? a : b; }},
      {"max.u32", 4, [](Bits a, Bits b, Bits) { return a > b ? a : b; }},
      {"min.s32", 4, [](Bits a, Bits b, Bits) { return s32(a) < s32(b) ? a : b; }},
      {"max.s32", 4, [](Bits a, Bits b, Bits) { return s32(a) > s32(b) ? a : b; }},
      {"min.u64", 8, [](Bits a, Bits b, Bits) { return a < b ? a : b; }},
      {"max.u64", 8, [](Bits a, Bits b, Bits) { return a > b ? a : b; }},
      {"min.s64", 8, [](Bits a, Bits b, Bits) { return s64(a) < s64(b) ? a : b; }},
      {"max.s64", 8, [](Bits a, Bits b, Bits) { return s64(a) > s64(b) ? a : b; }},
      {"and.b32", 4, [](Bits a, Bits b, Bits) { return a & b; }},
      {"or.b32", 4, [](Bits a, Bits b, Bits) { return a | b; }},
      {"xor.b32", 4, [](Bits a, Bits b, Bits) { return a ^ b; }},
      {"and.b64", 8, [](Bits a, Bits b, Bits) { return a & b; }},
      {"or.b64", 8, [](Bits a, Bits b, Bits) { return a | b; }},
      {"xor.b64", 8, [](Bits a, Bits b, Bits) { return a ^ b; }},
      {"inc.u32", 4, [](Bits a, Bits b, Bits) { return a >= b ? 0 : a + 1; }},
      {"dec.u32", 4, [](Bits a, Bits b, Bits) { return a == 0 || a > b ? b : a - 1; }},
  };
}

/// Those that red does not have.
std::vector<Operation> exchanges() {
  const Apply exchange = [](Bits, Bits value, Bits) { return value; };
  const Apply compare = [](Bits old, Bits value, Bits swap) { return old == value ? swap : old; };
  return {{"exch.b32", 4, exchange, false},
          {"exch.b64", 8, exchange, false},
          {"cas.b16", 2, compare, false, true},
          {"cas.b32", 4, compare, false, true},
          {"cas.b64", 8, compare, false, true}};
}

/// Sums of whole numbers, which are exact in any order.
Bits encode(const std::string& type, int value) {
  const auto number = static_cast<float>(value);
  if (type == "f64") return std::bit_cast<Bits>(static_cast<double>(value));
  if (type == "f32") return std::bit_cast<std::uint32_t>(number);
  return type.starts_with("bf16") ? bf16_of_f32(number) : f16_of_f32(number);
}

/// A kernel whose threads each do the operation once. p0 is memory, p1 each thread's offset in it,
/// p2 its value and swap (8 bytes each), p3 where it puts what was there before. Shared memory is
/// filled from p0, 8 bytes by each thread of one block, and copied back.
std::string atomic_kernel(const Operation& operation, const std::string& space, bool fetches) {
  const char letter = operation.bytes == 2 ? 'h' : operation.bytes == 4 ? 'r' : 'l';
  const std::string opcode = fmt::format("{}{}.{}", fetches ? "atom" : "red",
                                         space == "generic" ? "" : "." + space, operation.name);
  const std::string operands =
      fmt::format("{}[%address], %{}1{};", fetches ? fmt::format("%{}3, ", letter) : "", letter,
                  operation.compares ? fmt::format(", %{}2", letter) : "");
  return kernel_text(
      R"(
    .reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<8>, %me; .reg .b64 %l<16>, %address;
    .shared .align 16 .b8 place[2048];
    mov.u32 %me, %tid.x;
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ntid.x;
    mad.lo.u32 %r6, %r4, %r5, %me;
    ld.param.u64 %l4, [p0];
    ld.param.u64 %l5, [p1];
    ld.param.u64 %l6, [p2];
    ld.param.u64 %l7, [p3];
    mad.wide.u32 %l5, %r6, 4, %l5;
    mad.wide.u32 %l6, %r6, 16, %l6;
    mad.wide.u32 %l7, %r6, 8, %l7;
    ld.global.u32 %r7, [%l5];
    cvt.u64.u32 %l8, %r7;
  )" + std::string(space.starts_with("global") ? "add.u64 %address, %l4, %l8;" : R"(
    mov.u64 %l9, place;
    mad.wide.u32 %l10, %me, 8, %l9;
    mad.wide.u32 %l11, %me, 8, %l4;
    ld.global.u64 %l12, [%l11];
    st.shared.u64 [%l10], %l12;
    bar.sync 0;
    add.u64 %address, %l9, %l8;
  )") + (space == "generic" ? "cvta.shared.u64 %address, %address;" : "") +
          fmt::format(R"(
    mov.u64 %l3, 0;
    ld.global.u64 %l1, [%l6];
    ld.global.u64 %l2, [%l6+8];
    ld.global.u16 %h1, [%l6];
    ld.global.u16 %h2, [%l6+8];
    cvt.u32.u64 %r1, %l1;
    cvt.u32.u64 %r2, %l2;
    {} {}
    st.global.u64 [%l7], 0;
    st.global.b{} [%l7], %{}3;
  )",
                      opcode, operands, operation.bytes * 8, letter) +
          (space.starts_with("global") ? "ret;" : R"(
    bar.sync 0;
    ld.shared.u64 %l12, [%l10];
    st.global.u64 [%l11], %l12;
    ret;
  )"),
      4);
}

constexpr std::size_t kThreads = 256;
constexpr std::size_t kMemoryBytes = kThreads * 8;

struct Atomics {
  std::vector<std::byte> memory{kMemoryBytes};
  std::vector<std::uint32_t> offsets;  ///< of each thread
  std::vector<Bits> operands;          ///< value and swap of each
};

struct AtomicsRun {
  std::vector<std::byte> memory;
  std::vector<Bits> olds;
};

Bits bits_at(const std::vector<std::byte>& memory, std::size_t offset, int bytes) {
  Bits bits = 0;
  std::memcpy(&bits, memory.data() + offset, static_cast<std::size_t>(bytes));
  return bits;
}

/// In global memory by the threads of four blocks, else by those of one.
AtomicsRun run_atomics(const Operation& operation, const std::string& space, bool fetches,
                       const Atomics& in) {
  PtxRunner run(atomic_kernel(operation, space, fetches));
  const auto memory = run.buffer(in.memory);
  const auto olds = run.fresh_buffer(kThreads * 8);
  const std::uint32_t blocks = space.starts_with("global") ? 4 : 1;
  run.launch_clean({blocks, 1, 1}, {static_cast<std::uint32_t>(kThreads) / blocks, 1, 1}, memory,
                   run.buffer(in.offsets), run.buffer(in.operands), olds);
  return {run.read<std::byte>(memory, kMemoryBytes), run.read<Bits>(olds, kThreads)};
}

const std::vector<std::string>& spaces() {
  static const std::vector<std::string> kSpaces{"global", "shared", "shared::cta", "generic"};
  return kSpaces;
}

/// Runs `test` for every operation in every space, as atom and where there is one as red.
void for_all_forms(const std::vector<Operation>& operations, bool reductions,
                   const std::function<void(const Operation&, const std::string&, bool)>& test) {
  for (const std::string& space : spaces()) {
    for (const Operation& operation : operations) {
      for (const bool fetches : {true, false}) {
        if (!fetches && !reductions) continue;
        SCOPED_TRACE(fmt::format("{} {}, fetches {}", space, operation.name, fetches));
        test(operation, space, fetches);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

/// Every thread has a place of its own.
void expect_alone(const Operation& operation, const std::string& space, bool fetches,
                  const std::vector<std::array<Bits, 3>>& cases) {
  const int bytes = operation.bytes;
  Atomics in;
  for (std::size_t i = 0; i < kThreads; ++i) {
    const auto& [old, value, swap] = cases[i];
    in.operands.insert(in.operands.end(), {value, swap});
    in.offsets.push_back(static_cast<std::uint32_t>(i * 8));
    std::memcpy(in.memory.data() + i * 8, &old, 8);
  }
  const AtomicsRun out = run_atomics(operation, space, fetches, in);
  for (std::size_t i = 0; i < kThreads; ++i) {
    const Bits old = low(cases[i][0], bytes);
    const Bits value = low(cases[i][1], bytes);
    const Bits after = low(operation.apply(old, value, cases[i][2]), bytes);
    ASSERT_EQ(bits_at(out.memory, i * 8, bytes), after) << fmt::format("{:#x} {:#x}", old, value);
    const Bits behind = bytes == 8 ? 0 : cases[i][0] >> (8 * bytes);
    ASSERT_EQ(bits_at(out.memory, i * 8, 8) >> (4 * bytes) >> (4 * bytes), bytes == 8 ? 0 : behind);
    if (fetches) {
      ASSERT_EQ(out.olds[i], old);
    }
  }
}

/// Threads meet at four places. Whatever their order was, what was there at first and what each of
/// them left is what each of them found and what is there in the end.
void expect_meeting(const Operation& operation, const std::string& space, bool fetches,
                    const std::function<Bits()>& number) {
  const int bytes = operation.bytes;
  constexpr std::size_t kPlaces = 4;
  std::mt19937 random(17);
  Atomics in;
  std::vector<Bits> first(kPlaces);
  for (std::size_t i = 0; i < kPlaces; ++i) {
    first[i] = low(number(), bytes);
    std::memcpy(in.memory.data() + i * 8, &first[i], 8);
  }
  const bool one_value = operation.name.starts_with("inc") || operation.name.starts_with("dec");
  const Bits common = number();
  for (std::size_t i = 0; i < kThreads; ++i) {
    in.offsets.push_back(static_cast<std::uint32_t>(random() % kPlaces * 8));
    in.operands.push_back(low(one_value ? common : number(), bytes));
    in.operands.push_back(low(number(), bytes));
  }
  const AtomicsRun out = run_atomics(operation, space, fetches, in);
  for (std::size_t place = 0; place < kPlaces; ++place) {
    const Bits last = bits_at(out.memory, place * 8, bytes);
    std::vector<Bits> found{last};
    std::vector<Bits> left{first[place]};
    Bits folded = first[place];
    for (std::size_t i = 0; i < kThreads; ++i) {
      if (in.offsets[i] != place * 8) continue;
      const Bits value = in.operands[2 * i];
      const Bits swap = in.operands[2 * i + 1];
      folded = low(operation.apply(folded, value, swap), bytes);
      found.push_back(out.olds[i]);
      left.push_back(low(operation.apply(out.olds[i], value, swap), bytes));
    }
    if (operation.commutes) {
      ASSERT_EQ(last, folded);
    }
    if (!fetches) continue;
    std::sort(found.begin(), found.end());
    std::sort(left.begin(), left.end());
    ASSERT_EQ(found, left);
  }
}

std::vector<std::array<Bits, 3>> edge_cases(bool compares) {
  std::mt19937_64 random(99);
  const auto rows = lane_test::integer_rows();
  std::vector<std::array<Bits, 3>> cases;
  for (std::size_t i = 0; i < kThreads; ++i) {
    const auto& row = rows[i * rows.size() / kThreads + random() % 9];
    // Half of the comparisons hold.
    cases.push_back({row[0], compares && i % 2 == 0 ? row[0] : row[1], row[2]});
  }
  return cases;
}

TEST(Atomics, WholeNumbersAreAsTheirFormulas) {
  for_all_forms(whole_number_operations(), true,
                [](const auto& operation, auto& space, bool fetches) {
                  expect_alone(operation, space, fetches, edge_cases(false));
                });
}

TEST(Atomics, ExchangesAreAsTheirFormulas) {
  for_all_forms(exchanges(), false, [](const auto& operation, auto& space, bool fetches) {
    expect_alone(operation, space, fetches, edge_cases(operation.compares));
  });
}

TEST(Atomics, LanesThatMeetUpdateOneAfterTheOther) {
  for_all_forms(whole_number_operations(), true,
                [](const auto& operation, auto& space, bool fetches) {
                  std::mt19937_64 random(5);
                  expect_meeting(operation, space, fetches, [&] { return random(); });
                  // Small ones, so that inc and dec begin again.
                  expect_meeting(operation, space, fetches, [&] { return random() % 11 + 1; });
                });
}

TEST(Atomics, LanesThatMeetExchangeOneAfterTheOther) {
  for_all_forms(exchanges(), false, [](const auto& operation, auto& space, bool fetches) {
    Bits next = 1;
    std::mt19937_64 random(6);
    expect_meeting(operation, space, fetches, [&] { return next += 0x10001; });
    expect_meeting(operation, space, fetches, [&] { return random() % 3; });
  });
}

TEST(Atomics, SumsOfFloatsAreExactWhereTheyCanBe) {
  std::vector<Operation> operations;
  for (const std::string type :
       {"f32", "f64", "noftz.f16", "noftz.bf16", "noftz.f16x2", "noftz.bf16x2"}) {
    const std::string plain = type.substr(type.find('.') + 1);
    const bool pair = plain.ends_with("x2");
    const int bytes = plain == "f64" ? 8 : plain == "f32" || pair ? 4 : 2;
    const auto sum = [plain](Bits a, Bits b) -> Bits {
      if (plain == "f64") {
        return std::bit_cast<Bits>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
      }
      const auto left = static_cast<std::uint32_t>(a);
      const auto right = static_cast<std::uint32_t>(b);
      if (plain == "f32") {
        return std::bit_cast<std::uint32_t>(std::bit_cast<float>(left) +
                                            std::bit_cast<float>(right));
      }
      const auto half = [&](Bits bits) {
        const auto word = static_cast<std::uint16_t>(bits);
        return plain.starts_with("bf16") ? f32_of_bf16(word) : f32_of_f16(word);
      };
      return plain.starts_with("bf16") ? bf16_of_f32(half(a) + half(b))
                                       : f16_of_f32(half(a) + half(b));
    };
    operations.push_back({"add." + type, bytes, [sum, pair](Bits a, Bits b, Bits) {
                            const Bits upper = pair ? sum(a >> 16, b >> 16) << 16 : 0;
                            return sum(pair ? a & 0xFFFF : a, pair ? b & 0xFFFF : b) | upper;
                          }});
  }
  for_all_forms(operations, true, [](const auto& operation, auto& space, bool fetches) {
    std::mt19937 random(8);
    const std::string type = operation.name.substr(operation.name.rfind('.') + 1);
    // 256 of at most 1 stay within the 8 bits of bf16.
    const auto number = [&]() -> Bits {
      const auto one = [&] { return encode(type, static_cast<int>(random() % 3) - 1); };
      // +0, never -0: sums of 0 in any order.
      return type.ends_with("x2") ? one() | one() << 16 : one();
    };
    expect_meeting(operation, space, fetches, number);
    std::vector<std::array<Bits, 3>> cases;
    for (std::size_t i = 0; i < kThreads; ++i) {
      const auto some = [&] { return encode(type, static_cast<int>(random() % 255) - 127); };
      cases.push_back({some() | (type.ends_with("x2") ? some() << 16 : 0), some(), 0});
    }
    expect_alone(operation, space, fetches, cases);
  });
}

TEST(Atomics, CountingGivesEveryThreadANumberOfItsOwn) {
  for (const std::string operation : {"add.u32 %r3, [%l1], 1", "inc.u32 %r3, [%l1], 1000000"}) {
    PtxRunner run(kernel_text(R"(
      .reg .b32 %r<8>; .reg .b64 %l<4>;
      mov.u32 %r1, %tid.x;
      mov.u32 %r2, %ctaid.x;
      mad.lo.u32 %r1, %r2, 96, %r1;
      ld.param.u64 %l1, [p0];
      ld.param.u64 %l2, [p1];
      mad.wide.u32 %l2, %r1, 4, %l2;
      atom.acq_rel.gpu.global.)" + operation +
                                  R"(;
      st.global.u32 [%l2], %r3;
      ret;
    )",
                              2));
    const auto counter = run.buffer(std::vector<std::uint32_t>{1000});
    const auto out = run.fresh_buffer(96 * 20 * 4);
    run.launch_clean({20, 1, 1}, {96, 1, 1}, counter, out);
    auto numbers = run.read<std::uint32_t>(out, 96 * 20);
    std::sort(numbers.begin(), numbers.end());
    for (std::uint32_t i = 0; i < 96 * 20; ++i) ASSERT_EQ(numbers[i], 1000 + i);
    EXPECT_EQ(run.read<std::uint32_t>(counter, 1)[0], 1000U + 96 * 20);
  }
}

TEST(Atomics, LoopsOfCompareAndSwapLoseNothing) {
  PtxRunner run(kernel_text(R"(
    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %l<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %l1, [p0];
    ld.relaxed.gpu.global.u32 %r2, [%l1];
  AGAIN:
    mov.u32 %r4, %r2;
    mad.lo.u32 %r3, %r2, 3, 0;
    sub.u32 %r3, %r3, %r4;
    sub.u32 %r3, %r3, %r4;
    add.u32 %r3, %r3, %r1;
    atom.relaxed.gpu.global.cas.b32 %r2, [%l1], %r4, %r3;
    setp.ne.u32 %p1, %r2, %r4;
    @%p1 bra AGAIN;
    ret;
  )",
                            1));
  const auto sum = run.buffer(std::vector<std::uint32_t>{7});
  run.launch_clean({6, 1, 1}, {100, 1, 1}, sum);
  EXPECT_EQ(run.read<std::uint32_t>(sum, 1)[0], 7U + 6 * (99 * 100 / 2));
}

TEST(Atomics, SixteenBytesAreExchangedAtOnce) {
  PtxRunner run(kernel_text(R"(
    .reg .b32 %r<4>; .reg .b64 %l<12>; .reg .b128 %q<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %l1, [p0];
    ld.param.u64 %l2, [p1];
    mad.wide.u32 %l2, %r1, 16, %l2;
    cvt.u64.u32 %l3, %r1;
    add.u64 %l4, %l3, 100;
    mov.b128 %q1, {%l3, %l4};
    atom.global.exch.b128 %q2, [%l1], %q1;
    mov.b128 {%l5, %l6}, %q2;
    st.global.v2.u64 [%l2], {%l5, %l6};
    ret;
  )",
                            2));
  const auto place = run.buffer(std::vector<Bits>{500, 600});
  const auto out = run.fresh_buffer(32 * 16);
  run.launch_clean({1, 1, 1}, {32, 1, 1}, place, out);
  std::vector<std::array<Bits, 2>> found = run.read<std::array<Bits, 2>>(out, 32);
  found.push_back(run.read<std::array<Bits, 2>>(place, 1)[0]);
  std::sort(found.begin(), found.end());
  ASSERT_EQ(found.back(), (std::array<Bits, 2>{500, 600}));
  for (Bits i = 0; i < 32; ++i) EXPECT_EQ(found[i], (std::array<Bits, 2>{i, i + 100}));
}

TEST(Atomics, PlacesMustBeAlignedAndWithinBounds) {
  for (const auto& [offset, finding] :
       {std::pair{2, Finding::misaligned}, std::pair{64, Finding::out_of_bounds}}) {
    PtxRunner run(kernel_text(fmt::format(R"(
      .reg .b32 %r<4>; .reg .b64 %l<4>;
      ld.param.u64 %l1, [p0];
      atom.global.add.u32 %r1, [%l1+{}], 1;
      ret;
    )",
                                          offset),
                              1));
    const LaunchResult result =
        run.launch({1, 1, 1}, {1, 1, 1}, run.buffer(std::vector<std::uint32_t>(16)));
    EXPECT_EQ(findings(result), std::vector<Finding>{finding});
  }
}

/// All lanes of a warp add a vector to one place; its elements afterwards.
std::vector<std::uint32_t> added_vectors(const std::string& instruction,
                                         const std::vector<std::uint32_t>& before) {
  PtxRunner run(kernel_text(R"(
    .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %l<4>;
    ld.param.u64 %l1, [p0];
    mov.u32 %r1, 0x3f800000; mov.u32 %r2, 0x40000000; mov.u32 %r3, 0x40400000;
    mov.u32 %r4, 0xbf800000; mov.u32 %r5, 0x3c004000;
    mov.b16 %h1, 0x3c00; mov.b16 %h2, 0x4000; mov.b16 %h3, 0xc000; mov.b16 %h4, 0x3c00;
)" + instruction + " ret;",
                            1));
  const auto place = run.buffer(before);
  run.launch_clean({1, 1, 1}, {32, 1, 1}, place);
  return run.read<std::uint32_t>(place, before.size());
}

TEST(Atomics, VectorsAreUpdatedElementByElement) {
  using Words = std::vector<std::uint32_t>;
  const auto words = [](std::vector<float> values) {
    Words bits;
    for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
    return bits;
  };
  EXPECT_EQ(
      added_vectors("red.global.add.v4.f32 [%l1], {%r1, %r2, %r3, %r4};", words({1, 0, 0, 32})),
      words({33, 64, 96, 0}));
  EXPECT_EQ(
      added_vectors("red.relaxed.gpu.global.add.v2.f32 [%l1], {%r1, %r2};", words({0.5F, 0, 7, 8})),
      words({32.5F, 64, 7, 8}));
  // Halves: 1 and 2 in a word, 32 times.
  EXPECT_EQ(added_vectors("red.global.add.noftz.v2.f16x2 [%l1], {%r5, %r5};", {0, 0, 9, 9}),
            (Words{0x50005400, 0x50005400, 9, 9}));
  EXPECT_EQ(added_vectors("red.global.max.noftz.v4.f16 [%l1], {%h1, %h2, %h3, %h4};", {0, 0}),
            (Words{0x40003c00, 0x3c000000}));
  EXPECT_EQ(
      added_vectors("red.global.min.noftz.v2.bf16x2 [%l1], {%r4, %r4};", {0x00000000, 0x80000000}),
      (Words{0xbf800000, 0xbf800000}));
}

TEST(Atomics, VectorsGiveTheOldValues) {
  PtxRunner run(kernel_text(R"(
    .reg .f32 %f<8>; .reg .b64 %l<4>;
    ld.param.u64 %l1, [p0];
    mov.f32 %f1, 0f3f800000; mov.f32 %f2, 0f40000000;
    atom.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%l1], {%f2, %f1, %f1, %f2};
    ld.param.u64 %l2, [p1];
    st.global.v4.f32 [%l2], {%f1, %f2, %f3, %f4};
    ret;
  )",
                            2));
  const auto place = run.buffer(std::vector<float>{10, 20, 30, 40});
  const auto out = run.fresh_buffer(16);
  run.launch_clean({1, 1, 1}, {1, 1, 1}, place, out);
  EXPECT_EQ(run.read<float>(place, 4), (std::vector<float>{12, 21, 31, 42}));
  EXPECT_EQ(run.read<float>(out, 4), (std::vector<float>{10, 20, 30, 40}));
}

TEST(Atomics, VectorsLieInGlobalMemory) {
  const auto launched = [](const std::string& address) {
    PtxRunner run(
        kernel_text(".shared .align 16 .b32 s[4]; .reg .b32 %r<4>; .reg .b64 %l<4>;\n"
                    "ld.param.u64 %l1, [p0]; mov.u32 %r1, 0;\n" +
                        address + " red.add.v4.f32 [%l1], {%r1, %r1, %r1, %r1}; ret;",
                    1));
    return findings(run.launch({1, 1, 1}, {1, 1, 1}, run.buffer(std::vector<float>(4))));
  };
  EXPECT_EQ(launched(""), std::vector<Finding>{});
  EXPECT_EQ(launched("add.u64 %l1, %l1, 4;"), std::vector<Finding>{Finding::misaligned});
  EXPECT_EQ(launched("mov.u64 %l1, s; cvta.shared.u64 %l1, %l1;"),
            std::vector<Finding>{Finding::invalid_operand});
}

TEST(Atomics, WhatPtxDoesNotHaveIsRefused) {
  for (const std::string text :
       {"atom.global.add.b32 %rd, [%in], %ra;", "atom.global.min.f32 %rd, [%in], %ra;",
        "atom.global.inc.u64 %ld, [%in], %la;", "atom.global.and.u32 %rd, [%in], %ra;",
        "atom.global.cas.b32 %rd, [%in], %ra;", "atom.global.nand.b32 %rd, [%in], %ra;",
        "red.shared.add.v2.f32 [%in], {%ra, %rb};", "red.global.add.v8.f32 [%in], {%ra, %rb};",
        "red.global.min.v2.f32 [%in], {%ra, %rb};", "red.global.add.v2.u32 [%in], {%ra, %rb};",
        "red.global.add.v4.f32 [%in], {%ra, %rb};",
        "atom.global.add.v2.f32 {%ra, %rb, %rd}, [%in], {%ra};"}) {
    lane_test::expect_refused(text);
  }
}

TEST(Atomics, ReductionsHaveNoExchange) {
  for (const std::string text :
       {"red.global.exch.b32 [%in], %ra;", "red.global.cas.b32 [%in], %ra, %rb;"}) {
    lane_test::expect_refused(text);
  }
}

}  // namespace
}  // namespace kiln::emulated
