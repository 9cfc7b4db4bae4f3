// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/arith/integer_functions.hpp"
#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"

namespace kiln::emulated::integer {
namespace {

using ptx::Type;
using std::int32_t;
using std::int64_t;
using std::uint32_t;
using std::uint64_t;

constexpr std::uint8_t kReadsCarry = 1;
constexpr std::uint8_t kWritesCarry = 2;

/// A sum and whether it wrapped around.
struct AddStep {
  static constexpr bool kStart = false;
  template <class T>
  static T of(T a, T b, bool& carry) {
    const T sum = a + b;
    const T all = sum + (carry ? T{1} : T{0});
    carry = sum < a || all < sum;
    return all;
  }
};
/// A difference and whether it needed no borrow. PTX speaks of a borrow, but the flag is the carry
/// of a + ~b + 1, which shows where sums and differences follow each other: CUDA's division of
/// __int128 has addc read what subc.cc wrote. Measured on an H200.
struct SubStep {
  static constexpr bool kStart = true;
  template <class T>
  static T of(T a, T b, bool& carry) {
    const T difference = a - b;
    const T all = difference - (carry ? T{0} : T{1});
    carry = a >= b && all <= difference;
    return all;
  }
};

/// Left operand of the sum: a register, or a product of two.
struct PlainLeft {
  template <class T>
  static T of(Warp& warp, const Instr& instr, int lane) {
    return get<T>(warp.row(instr.a), lane);
  }
};
template <class Product, class Factor>
struct ProductLeft {
  template <class T>
  static T of(Warp& warp, const Instr& instr, int lane) {
    return static_cast<T>(
        Product::of(get<Factor>(warp.row(instr.a), lane), get<Factor>(warp.row(instr.b), lane)));
  }
};

/// The carry row is `e`, the right operand `c`.
template <class Step, class Left, class T>
void execute_carry(Warp& warp, const Instr& instr, LaneMask active) {
  const bool reads = (instr.variant & kReadsCarry) != 0;
  const LaneMask before = reads ? warp.predicate(instr.e) : 0U;
  LaneMask after = 0;
  for_active(active, [&](int lane) {
    bool carry = reads ? (before & kLaneBit[lane]) != 0 : Step::kStart;
    const T left = Left::template of<T>(warp, instr, lane);
    put<T>(warp.row(instr.d), lane, Step::of(left, get<T>(warp.row(instr.c), lane), carry));
    if (carry) after |= kLaneBit[lane];
  });
  if ((instr.variant & kWritesCarry) != 0) warp.set_predicate(instr.e, after, active);
}

template <std::uint8_t kCarry>
void use_carry(DecodeContext& context, Instr& out) {
  out.variant = kCarry;
  out.e = context.carry_row();
}

// {add,sub}{c}{.cc}.TYPE d, a, b.
template <class Step, std::uint8_t kCarry>
void decode_step(DecodeContext& context, Instr& out) {
  use_carry<kCarry>(context, out);
  const Type type = context.take_type();
  context.expect_operands(3);
  out.d = context.destination(0, type);
  out.a = context.source(1, type);
  out.c = context.source(2, type);
  out.execute = ptx::bits_of(type) == 32 ? execute_carry<Step, PlainLeft, uint32_t>
                                         : execute_carry<Step, PlainLeft, uint64_t>;
}

template <class Product, class Factor, class T>
constexpr Execute kMadCarry = execute_carry<AddStep, ProductLeft<Product, Factor>, T>;

// mad{c}.lo{.cc}.TYPE d, a, b, c.
template <std::uint8_t kCarry>
void decode_mad_low(DecodeContext& context, Instr& out) {
  use_carry<kCarry>(context, out);
  const Type type = context.take_type();
  take_operands(context, out, 3, type);
  out.execute = ptx::bits_of(type) == 32 ? kMadCarry<MulLo, uint32_t, uint32_t>
                                         : kMadCarry<MulLo, uint64_t, uint64_t>;
}

// mad{c}.hi{.cc}.TYPE d, a, b, c.
template <std::uint8_t kCarry>
void decode_mad_high(DecodeContext& context, Instr& out) {
  use_carry<kCarry>(context, out);
  const Type type = context.take_type();
  take_operands(context, out, 3, type);
  const bool narrow = ptx::bits_of(type) == 32;
  if (is_signed(type)) {
    out.execute =
        narrow ? kMadCarry<MulHi, int32_t, uint32_t> : kMadCarry<MulHi, int64_t, uint64_t>;
  } else {
    out.execute =
        narrow ? kMadCarry<MulHi, uint32_t, uint32_t> : kMadCarry<MulHi, uint64_t, uint64_t>;
  }
}

constexpr std::uint8_t kReads = kReadsCarry;
constexpr std::uint8_t kWrites = kWritesCarry;
constexpr std::uint8_t kBoth = kReadsCarry | kWritesCarry;
constexpr Traits kDifference{.flow = Flow::difference};
constexpr Traits kLongDifference{.slots = kLongSlots, .flow = Flow::difference};

constexpr Opcode kOpcodes[] = {
    {"add.cc", kWords, decode_step<AddStep, kWrites>, Unit::integer},
    {"add.cc", kLongIntegers, decode_step<AddStep, kWrites>, Unit::integer64, kLong},
    {"addc", kWords, decode_step<AddStep, kReads>, Unit::integer},
    {"addc", kLongIntegers, decode_step<AddStep, kReads>, Unit::integer64, kLong},
    {"addc.cc", kWords, decode_step<AddStep, kBoth>, Unit::integer},
    {"addc.cc", kLongIntegers, decode_step<AddStep, kBoth>, Unit::integer64, kLong},
    {"sub.cc", kWords, decode_step<SubStep, kWrites>, Unit::integer, kDifference},
    {"sub.cc", kLongIntegers, decode_step<SubStep, kWrites>, Unit::integer64, kLongDifference},
    {"subc", kWords, decode_step<SubStep, kReads>, Unit::integer},
    {"subc", kLongIntegers, decode_step<SubStep, kReads>, Unit::integer64, kLong},
    {"subc.cc", kWords, decode_step<SubStep, kBoth>, Unit::integer},
    {"subc.cc", kLongIntegers, decode_step<SubStep, kBoth>, Unit::integer64, kLong},
    {"mad.lo.cc", kWords, decode_mad_low<kWrites>, Unit::multiply},
    {"mad.lo.cc", kLongIntegers, decode_mad_low<kWrites>, Unit::multiply, kLong},
    {"mad.hi.cc", kWords, decode_mad_high<kWrites>, Unit::multiply},
    {"mad.hi.cc", kLongIntegers, decode_mad_high<kWrites>, Unit::multiply, kLong},
    {"madc.lo", kWords, decode_mad_low<kReads>, Unit::multiply},
    {"madc.lo", kLongIntegers, decode_mad_low<kReads>, Unit::multiply, kLong},
    {"madc.hi", kWords, decode_mad_high<kReads>, Unit::multiply},
    {"madc.hi", kLongIntegers, decode_mad_high<kReads>, Unit::multiply, kLong},
    {"madc.lo.cc", kWords, decode_mad_low<kBoth>, Unit::multiply},
    {"madc.lo.cc", kLongIntegers, decode_mad_low<kBoth>, Unit::multiply, kLong},
    {"madc.hi.cc", kWords, decode_mad_high<kBoth>, Unit::multiply},
    {"madc.hi.cc", kLongIntegers, decode_mad_high<kBoth>, Unit::multiply, kLong},
};

}  // namespace
}  // namespace kiln::emulated::integer

namespace kiln::emulated {

std::span<const Opcode> carry_opcodes() {
  return integer::kOpcodes;
}

}  // namespace kiln::emulated
