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
using std::int32_t;
using std::int64_t;
using std::uint32_t;
using std::uint64_t;

/// A count of 32 bits, of values of `type`.
void take_count(DecodeContext& context, Instr& out, Type type) {
  context.expect_operands(2);
  out.d = context.destination(0, Type::u32);
  out.a = context.source(1, type);
}

// popc.{b32,b64} d, a. The result has 32 bits, as that of clz and bfind. clz likewise.
template <class F>
void decode_count(DecodeContext& context, Instr& out) {
  const Type type = context.take_type();
  take_count(context, out, type);
  out.execute = type == Type::b32 ? execute_unary<F, uint32_t, uint32_t>
                                  : execute_unary<F, uint32_t, uint64_t>;
}

template <class F>
Execute bfind_of(Type type) {
  switch (type) {
    case Type::u32:
      return execute_unary<F, uint32_t, uint32_t>;
    case Type::s32:
      return execute_unary<F, uint32_t, int32_t>;
    case Type::u64:
      return execute_unary<F, uint32_t, uint64_t>;
    default:
      return execute_unary<F, uint32_t, int64_t>;
  }
}

/// bfi has four sources.
template <class T>
void execute_bfi(Warp& warp, const Instr& instr, LaneMask active) {
  map_lanes<Bfi, T, 1, T, T, uint32_t, uint32_t>(warp.row(instr.d), active, warp.row(instr.a),
                                                 warp.row(instr.b), warp.row(instr.c),
                                                 warp.row(instr.e));
}

template <class T>
constexpr Execute kBfe = execute_ternary<Bfe, T, T, uint32_t, uint32_t>;

/// .clamp and .wrap; one of them must be there.
bool take_wrap(DecodeContext& context) {
  if (context.take("wrap")) return true;
  if (!context.take("clamp")) context.fail("needs .clamp or .wrap");
  return false;
}

// bfind{.shiftamt}.{u32,u64,s32,s64} d, a.
void decode_bfind(DecodeContext& context, Instr& out) {
  const bool shift = context.take("shiftamt");
  const Type type = context.take_type();
  take_count(context, out, type);
  out.execute = shift ? bfind_of<BfindShift>(type) : bfind_of<Bfind>(type);
}

// fns.b32 d, mask, base, offset.
void decode_fns(DecodeContext& context, Instr& out) {
  take_operands(context, out, 3, context.take_type());
  out.execute = execute_ternary_each<Fns, uint32_t, uint32_t>;
}

// brev.{b32,b64} d, a.
void decode_brev(DecodeContext& context, Instr& out) {
  const Type type = context.take_type();
  take_operands(context, out, 1, type);
  out.execute = type == Type::b32 ? execute_unary<Brev, uint32_t, uint32_t>
                                  : execute_unary<Brev, uint64_t, uint64_t>;
}

// bfe.{u32,u64,s32,s64} d, a, start, length.
void decode_bfe(DecodeContext& context, Instr& out) {
  const Type type = context.take_type();
  context.expect_operands(4);
  out.d = context.destination(0, type);
  out.a = context.source(1, type);
  out.b = context.source(2, Type::u32);
  out.c = context.source(3, Type::u32);
  const int bits = ptx::bits_of(type);
  if (is_signed(type)) {
    out.execute = bits == 32 ? kBfe<int32_t> : kBfe<int64_t>;
  } else {
    out.execute = bits == 32 ? kBfe<uint32_t> : kBfe<uint64_t>;
  }
}

// bfi.{b32,b64} d, field, into, start, length.
void decode_bfi(DecodeContext& context, Instr& out) {
  const Type type = context.take_type();
  context.expect_operands(5);
  out.d = context.destination(0, type);
  out.a = context.source(1, type);
  out.b = context.source(2, type);
  out.c = context.source(3, Type::u32);
  out.e = context.source(4, Type::u32);
  out.execute = type == Type::b32 ? execute_bfi<uint32_t> : execute_bfi<uint64_t>;
}

// bmsk.{clamp,wrap}.b32 d, start, width.
void decode_bmsk(DecodeContext& context, Instr& out) {
  const bool wrap = take_wrap(context);
  take_operands(context, out, 2, context.take_type());
  out.execute = wrap ? execute_binary<Bmsk<true>, uint32_t, uint32_t>
                     : execute_binary<Bmsk<false>, uint32_t, uint32_t>;
}

// szext.{clamp,wrap}.{u32,s32} d, a, width.
void decode_szext(DecodeContext& context, Instr& out) {
  const bool wrap = take_wrap(context);
  const Type type = context.take_type();
  take_operands(context, out, 2, type);
  if (is_signed(type)) {
    out.execute = wrap ? execute_binary<Szext<true>, int32_t, int32_t, uint32_t>
                       : execute_binary<Szext<false>, int32_t, int32_t, uint32_t>;
  } else {
    out.execute = wrap ? execute_binary<Szext<true>, uint32_t, uint32_t>
                       : execute_binary<Szext<false>, uint32_t, uint32_t>;
  }
}

constexpr TypeSet kWord{Type::b32};

constexpr Opcode kOpcodes[] = {
    {"popc", kWord, decode_count<Popc>, Unit::integer},
    {"popc", kLongBits, decode_count<Popc>, Unit::integer64, kLong},
    {"clz", kWord, decode_count<Clz>, Unit::integer},
    {"clz", kLongBits, decode_count<Clz>, Unit::integer64, kLong},
    {"bfind", kWords, decode_bfind, Unit::integer},
    {"bfind", kLongIntegers, decode_bfind, Unit::integer64, kLong},
    {"fns", kWord, decode_fns, Unit::integer},
    {"brev", kWord, decode_brev, Unit::integer},
    {"brev", kLongBits, decode_brev, Unit::integer64, kLong},
    {"bfe", kWords, decode_bfe, Unit::integer},
    {"bfe", kLongIntegers, decode_bfe, Unit::integer64, kLong},
    {"bfi", kWord, decode_bfi, Unit::integer},
    {"bfi", kLongBits, decode_bfi, Unit::integer64, kLong},
    {"bmsk", kWord, decode_bmsk, Unit::integer},
    {"szext", kWords, decode_szext, Unit::integer},
};

}  // namespace
}  // namespace kiln::emulated::integer

namespace kiln::emulated {

std::span<const Opcode> field_opcodes() {
  return integer::kOpcodes;
}

}  // namespace kiln::emulated
