// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/arith/integer_bits.hpp"
#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"

namespace kiln::emulated::integer {
namespace {

using ptx::Type;
using std::int16_t;
using std::int32_t;
using std::int64_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;

/// A shift by the same amount in all lanes, which vectorises.
template <class F, class T>
void execute_uniform_shift(Warp& warp, const Instr& instr, LaneMask active) {
  const std::byte* a = warp.row(instr.a);
  const auto amount = get<uint32_t>(warp.row(instr.b), 0);
  alignas(64) T out[kLanes];
  for (int i = 0; i < kLanes; ++i) out[i] = F::of(get<T>(a, i), amount);
  store_lanes<sizeof(T)>(warp.row(instr.d), reinterpret_cast<const std::byte*>(out), active);
}

template <class F, class T>
Execute shift_of(bool uniform) {
  return uniform ? execute_uniform_shift<F, T> : execute_binary<F, T, T, uint32_t>;
}

/// The amount has 32 bits, whatever is shifted.
bool take_shift(DecodeContext& context, Instr& out, Type type) {
  context.expect_operands(3);
  out.d = context.destination(0, type);
  out.a = context.source(1, type);
  out.b = context.source(2, Type::u32);
  return context.is_immediate(context.operand(2));
}

// and.TYPE d, a, b with b16, b32, b64; or and xor likewise.
template <class F>
void decode_binary(DecodeContext& context, Instr& out) {
  const Type type = context.take_type();
  take_operands(context, out, 2, type);
  const int bits = ptx::bits_of(type);
  out.execute =
      by_width(bits, execute_binary<F, uint16_t, uint16_t>, execute_binary<F, uint32_t, uint32_t>,
               execute_binary<F, uint64_t, uint64_t>);
}

// not.TYPE d, a; cnot likewise.
template <class F>
void decode_unary(DecodeContext& context, Instr& out) {
  const Type type = context.take_type();
  take_operands(context, out, 1, type);
  const int bits = ptx::bits_of(type);
  out.execute =
      by_width(bits, execute_unary<F, uint16_t, uint16_t>, execute_unary<F, uint32_t, uint32_t>,
               execute_unary<F, uint64_t, uint64_t>);
}

void execute_lop3(Warp& warp, const Instr& instr, LaneMask active) {
  const LookUp3 table(instr.variant);
  const std::byte* a = warp.row(instr.a);
  const std::byte* b = warp.row(instr.b);
  const std::byte* c = warp.row(instr.c);
  alignas(64) uint32_t out[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    out[i] = table.of(get<uint32_t>(a, i), get<uint32_t>(b, i), get<uint32_t>(c, i));
  }
  store_lanes<4>(warp.row(instr.d), reinterpret_cast<const std::byte*>(out), active);
}

/// lop3 with a predicate: whether the result is not zero, combined with another.
struct Lop3Test {
  std::uint32_t p = kNoRow;
  std::uint32_t q = kNoRow;
  bool q_negated = false;
  bool conjunction = false;  ///< .and, else .or
};

void execute_lop3_test(Warp& warp, const Instr& instr, LaneMask active) {
  const auto& test = *static_cast<const Lop3Test*>(instr.detail);
  const LaneMask q = warp.predicate(test.q) ^ (test.q_negated ? kAllLanes : 0U);
  execute_lop3(warp, instr, active);
  LaneMask set = 0;
  for (int i = 0; i < kLanes; ++i) {
    set |= get<uint32_t>(warp.row(instr.d), i) != 0 ? kLaneBit[i] : 0U;
  }
  warp.set_predicate(test.p, test.conjunction ? set & q : set | q, active);
}

// shl.{b16,b32,b64} d, a, amount.
void decode_shl(DecodeContext& context, Instr& out) {
  const Type type = context.take_type();
  const bool uniform = take_shift(context, out, type);
  out.execute = by_width(ptx::bits_of(type), shift_of<Shl, uint16_t>(uniform),
                         shift_of<Shl, uint32_t>(uniform), shift_of<Shl, uint64_t>(uniform));
}

// shr.TYPE d, a, amount; signed types copy the sign.
void decode_shr(DecodeContext& context, Instr& out) {
  const Type type = context.take_type();
  const bool uniform = take_shift(context, out, type);
  const int bits = ptx::bits_of(type);
  if (is_signed(type)) {
    out.execute = by_width(bits, shift_of<Shr, int16_t>(uniform), shift_of<Shr, int32_t>(uniform),
                           shift_of<Shr, int64_t>(uniform));
  } else {
    out.execute = by_width(bits, shift_of<Shr, uint16_t>(uniform), shift_of<Shr, uint32_t>(uniform),
                           shift_of<Shr, uint64_t>(uniform));
  }
}

// shf.{l,r}.{clamp,wrap}.b32 d, low, high, amount.
void decode_shf(DecodeContext& context, Instr& out) {
  const bool left = context.take("l");
  if (!left && !context.take("r")) context.fail("needs .l or .r");
  const bool wrap = context.take("wrap");
  if (!wrap && !context.take("clamp")) context.fail("needs .clamp or .wrap");
  take_operands(context, out, 3, context.take_type());
  if (left) {
    out.execute = wrap ? execute_ternary<Shf<true, true>, uint32_t, uint32_t>
                       : execute_ternary<Shf<true, false>, uint32_t, uint32_t>;
  } else {
    out.execute = wrap ? execute_ternary<Shf<false, true>, uint32_t, uint32_t>
                       : execute_ternary<Shf<false, false>, uint32_t, uint32_t>;
  }
}

// lop3.b32 d, a, b, c, table; lop3.{and,or}.b32 d|p, a, b, c, table, q.
void decode_lop3(DecodeContext& context, Instr& out) {
  const bool conjunction = context.take("and");
  const bool tests = conjunction || context.take("or");
  static_cast<void>(context.take_type());
  context.expect_operands(tests ? 6 : 5);
  const ptx::Operand& results = context.operand(0);
  if (tests && (results.kind != ptx::Operand::Kind::pair || results.elements.size() != 2)) {
    context.fail("needs a pair of destinations, d|p, as the first operand");
  }
  out.d = context.destination(tests ? results.elements[0] : results, Type::b32);
  out.a = context.source(1, Type::b32);
  out.b = context.source(2, Type::b32);
  out.c = context.source(3, Type::b32);
  const std::int64_t table = context.immediate(4);
  if (table < 0 || table > 255)
    context.fail("needs a number from 0 to 0xff as operand 5 (the look-up table)");
  out.variant = static_cast<std::uint8_t>(table);
  out.execute = execute_lop3;
  if (!tests) return;
  Lop3Test test;
  test.conjunction = conjunction;
  test.p = context.destination(results.elements[1], Type::pred);
  test.q = context.predicate(context.operand(5), &test.q_negated);
  out.detail = context.keep(test);
  out.execute = execute_lop3_test;
}

constexpr TypeSet kWord{Type::b32};

constexpr Opcode kOpcodes[] = {
    {"shl", kShortBits, decode_shl, Unit::integer},
    {"shl", kLongBits, decode_shl, Unit::integer64, kLong},
    {"shr", kShortBits | kShortIntegers, decode_shr, Unit::integer},
    {"shr", kLongBits | kLongIntegers, decode_shr, Unit::integer64, kLong},
    {"shf", kWord, decode_shf, Unit::integer},
    {"and", kShortBits, decode_binary<And>, Unit::integer},
    {"and", kLongBits, decode_binary<And>, Unit::integer64, kLong},
    {"or", kShortBits, decode_binary<Or>, Unit::integer},
    {"or", kLongBits, decode_binary<Or>, Unit::integer64, kLong},
    {"xor", kShortBits, decode_binary<Xor>, Unit::integer},
    {"xor", kLongBits, decode_binary<Xor>, Unit::integer64, kLong},
    {"not", kShortBits, decode_unary<Not>, Unit::integer},
    {"not", kLongBits, decode_unary<Not>, Unit::integer64, kLong},
    {"cnot", kShortBits, decode_unary<Cnot>, Unit::integer},
    {"cnot", kLongBits, decode_unary<Cnot>, Unit::integer64, kLong},
    {"lop3", kWord, decode_lop3, Unit::integer},
};

}  // namespace
}  // namespace kiln::emulated::integer

namespace kiln::emulated {

std::span<const Opcode> logic_opcodes() {
  return integer::kOpcodes;
}

}  // namespace kiln::emulated
