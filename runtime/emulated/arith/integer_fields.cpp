// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/arith/integer_bits.hpp"
#include "runtime/emulated/arith/integer_decode.hpp"
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
  out.unit = integer_unit(ptx::bits_of(type));
}

template <class F>
void decode_count(DecodeContext& context, Instr& out) {
  const Type type = take_type_of(context, {Type::b32, Type::b64});
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

}  // namespace

// popc.{b32,b64} d, a. The result has 32 bits, as that of clz and bfind.
void decode_popc(DecodeContext& context, Instr& out) {
  decode_count<Popc>(context, out);
}

// clz.{b32,b64} d, a.
void decode_clz(DecodeContext& context, Instr& out) {
  decode_count<Clz>(context, out);
}

// bfind{.shiftamt}.{u32,u64,s32,s64} d, a.
void decode_bfind(DecodeContext& context, Instr& out) {
  const bool shift = context.take("shiftamt");
  const Type type = take_type_of(context, {Type::u32, Type::u64, Type::s32, Type::s64});
  take_count(context, out, type);
  out.execute = shift ? bfind_of<BfindShift>(type) : bfind_of<Bfind>(type);
}

// fns.b32 d, mask, base, offset.
void decode_fns(DecodeContext& context, Instr& out) {
  take_operands(context, out, 3, take_type_of(context, {Type::b32}));
  out.unit = Unit::integer;
  out.execute = execute_ternary_each<Fns, uint32_t, uint32_t>;
}

// brev.{b32,b64} d, a.
void decode_brev(DecodeContext& context, Instr& out) {
  const Type type = take_type_of(context, {Type::b32, Type::b64});
  take_operands(context, out, 1, type);
  out.unit = integer_unit(ptx::bits_of(type));
  out.execute = type == Type::b32 ? execute_unary<Brev, uint32_t, uint32_t>
                                  : execute_unary<Brev, uint64_t, uint64_t>;
}

// bfe.{u32,u64,s32,s64} d, a, start, length.
void decode_bfe(DecodeContext& context, Instr& out) {
  const Type type = take_type_of(context, {Type::u32, Type::u64, Type::s32, Type::s64});
  context.expect_operands(4);
  out.d = context.destination(0, type);
  out.a = context.source(1, type);
  out.b = context.source(2, Type::u32);
  out.c = context.source(3, Type::u32);
  const int bits = ptx::bits_of(type);
  out.unit = integer_unit(bits);
  if (is_signed(type)) {
    out.execute = bits == 32 ? kBfe<int32_t> : kBfe<int64_t>;
  } else {
    out.execute = bits == 32 ? kBfe<uint32_t> : kBfe<uint64_t>;
  }
}

// bfi.{b32,b64} d, field, into, start, length.
void decode_bfi(DecodeContext& context, Instr& out) {
  const Type type = take_type_of(context, {Type::b32, Type::b64});
  context.expect_operands(5);
  out.d = context.destination(0, type);
  out.a = context.source(1, type);
  out.b = context.source(2, type);
  out.c = context.source(3, Type::u32);
  out.e = context.source(4, Type::u32);
  out.unit = integer_unit(ptx::bits_of(type));
  out.execute = type == Type::b32 ? execute_bfi<uint32_t> : execute_bfi<uint64_t>;
}

// bmsk.{clamp,wrap}.b32 d, start, width.
void decode_bmsk(DecodeContext& context, Instr& out) {
  const bool wrap = take_wrap(context);
  take_operands(context, out, 2, take_type_of(context, {Type::b32}));
  out.unit = Unit::integer;
  out.execute = wrap ? execute_binary<Bmsk<true>, uint32_t, uint32_t>
                     : execute_binary<Bmsk<false>, uint32_t, uint32_t>;
}

// szext.{clamp,wrap}.{u32,s32} d, a, width.
void decode_szext(DecodeContext& context, Instr& out) {
  const bool wrap = take_wrap(context);
  const Type type = take_type_of(context, {Type::u32, Type::s32});
  take_operands(context, out, 2, type);
  out.unit = Unit::integer;
  if (is_signed(type)) {
    out.execute = wrap ? execute_binary<Szext<true>, int32_t, int32_t, uint32_t>
                       : execute_binary<Szext<false>, int32_t, int32_t, uint32_t>;
  } else {
    out.execute = wrap ? execute_binary<Szext<true>, uint32_t, uint32_t>
                       : execute_binary<Szext<false>, uint32_t, uint32_t>;
  }
}

}  // namespace kiln::emulated::integer
