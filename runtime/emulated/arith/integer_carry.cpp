// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/arith/integer_decode.hpp"
#include "runtime/emulated/arith/integer_functions.hpp"
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

/// "addc" reads the carry, ".cc" writes it.
void take_carry(DecodeContext& context, Instr& out) {
  const bool reads = context.in().parts.front().back() == 'c';
  const bool writes = context.take("cc");
  out.variant =
      static_cast<std::uint8_t>((reads ? kReadsCarry : 0U) | (writes ? kWritesCarry : 0U));
  out.e = context.carry_row();
}

template <class Step>
void decode_step(DecodeContext& context, Instr& out) {
  take_carry(context, out);
  const Type type = take_type_of(context, {Type::u32, Type::s32, Type::u64, Type::s64});
  context.expect_operands(3);
  out.d = context.destination(0, type);
  out.a = context.source(1, type);
  out.c = context.source(2, type);
  const int bits = ptx::bits_of(type);
  out.unit = integer_unit(bits);
  out.execute = bits == 32 ? execute_carry<Step, PlainLeft, uint32_t>
                           : execute_carry<Step, PlainLeft, uint64_t>;
}

template <class Product, class Factor, class T>
constexpr Execute kMadCarry = execute_carry<AddStep, ProductLeft<Product, Factor>, T>;

}  // namespace

// add.cc, addc and addc.cc.
void decode_add_carry(DecodeContext& context, Instr& out) {
  decode_step<AddStep>(context, out);
}

// sub.cc, subc and subc.cc.
void decode_sub_carry(DecodeContext& context, Instr& out) {
  decode_step<SubStep>(context, out);
}

// mad.{lo,hi}.cc, madc.{lo,hi} and madc.{lo,hi}.cc.
void decode_mad_carry(DecodeContext& context, Instr& out) {
  const bool high = context.take("hi");
  if (!high && !context.take("lo")) context.fail("needs .lo or .hi");
  take_carry(context, out);
  const Type type = take_type_of(context, {Type::u32, Type::s32, Type::u64, Type::s64});
  take_operands(context, out, 3, type);
  out.unit = Unit::multiply;
  const bool narrow = ptx::bits_of(type) == 32;
  if (!high) {
    out.execute =
        narrow ? kMadCarry<MulLo, uint32_t, uint32_t> : kMadCarry<MulLo, uint64_t, uint64_t>;
  } else if (is_signed(type)) {
    out.execute =
        narrow ? kMadCarry<MulHi, int32_t, uint32_t> : kMadCarry<MulHi, int64_t, uint64_t>;
  } else {
    out.execute =
        narrow ? kMadCarry<MulHi, uint32_t, uint32_t> : kMadCarry<MulHi, uint64_t, uint64_t>;
  }
}

}  // namespace kiln::emulated::integer
