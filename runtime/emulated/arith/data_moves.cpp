// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"

namespace kiln::emulated::data {
namespace {

using ptx::Clock;
using ptx::Type;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;

/// 16 bytes, for .b128 and for copying only.
struct Quad {
  uint64_t low;
  uint64_t high;
};

template <class Word>
void execute_copy(Warp& warp, const Instr& instr, LaneMask active) {
  std::byte* d = warp.row(instr.d);
  const std::byte* a = warp.row(instr.a);
  if (active == kAllLanes) {
    std::memmove(d, a, kLanes * sizeof(Word));
  } else {
    blend_lanes(d, a, static_cast<int>(sizeof(Word)), active);
  }
}

void execute_copy_predicate(Warp& warp, const Instr& instr, LaneMask active) {
  const LaneMask value = warp.predicate(instr.a) ^ (instr.variant != 0 ? kAllLanes : 0U);
  warp.set_predicate(instr.d, value, active);
}

// ---- vectors ----

/// Bytes of an element's lane: registers of 8 bits take two.
template <class Element>
constexpr std::size_t kElementLane = sizeof(Element) < 2 ? 2 : sizeof(Element);

/// d = {rows[0], rows[1], ...}, the first in the lowest bits.
template <class Element, class Word>
void execute_pack(Warp& warp, const Instr& instr, LaneMask active) {
  alignas(64) std::byte out[kLanes * sizeof(Word)];
  for (std::size_t k = 0; k < sizeof(Word) / sizeof(Element); ++k) {
    const std::byte* from = warp.row(instr.rows[k]);
    for (std::size_t i = 0; i < kLanes; ++i) {
      std::memcpy(out + i * sizeof(Word) + k * sizeof(Element), from + i * kElementLane<Element>,
                  sizeof(Element));
    }
  }
  store_lanes<sizeof(Word)>(warp.row(instr.d), out, active);
}

/// {rows[0], rows[1], ...} = a
template <class Element, class Word>
void execute_unpack(Warp& warp, const Instr& instr, LaneMask active) {
  // A copy, because an element may be the source's own register in another guise.
  alignas(64) std::byte from[kLanes * sizeof(Word)];
  std::memcpy(from, warp.row(instr.a), sizeof from);
  for (std::size_t k = 0; k < sizeof(Word) / sizeof(Element); ++k) {
    alignas(64) std::byte out[kLanes * kElementLane<Element>] = {};
    for (std::size_t i = 0; i < kLanes; ++i) {
      std::memcpy(out + i * kElementLane<Element>, from + i * sizeof(Word) + k * sizeof(Element),
                  sizeof(Element));
    }
    store_lanes<kElementLane<Element>>(warp.row(instr.rows[k]), out, active);
  }
}

struct VectorForms {
  int bits;
  std::size_t elements;
  Type element;
  Execute pack;
  Execute unpack;
};

template <class Element, class Word>
constexpr VectorForms forms_of(Type element) {
  return {8 * static_cast<int>(sizeof(Word)), sizeof(Word) / sizeof(Element), element,
          execute_pack<Element, Word>, execute_unpack<Element, Word>};
}

constexpr VectorForms kVectors[] = {
    forms_of<std::uint8_t, uint16_t>(Type::b8), forms_of<uint16_t, uint32_t>(Type::b16),
    forms_of<std::uint8_t, uint32_t>(Type::b8), forms_of<uint32_t, uint64_t>(Type::b32),
    forms_of<uint16_t, uint64_t>(Type::b16),    forms_of<uint64_t, Quad>(Type::b64),
    forms_of<uint32_t, Quad>(Type::b32)};

void decode_vector(DecodeContext& context, Instr& out, Type type, bool packs) {
  const ptx::Operand& list = context.operand(packs ? 1 : 0);
  const int bits = ptx::bits_of(type);
  for (const VectorForms& form : kVectors) {
    if (form.bits != bits || form.elements != list.elements.size()) continue;
    if (packs) {
      out.d = context.destination(0, type);
      context.set_rows(out, context.sources(list, form.element));
      out.execute = form.pack;
    } else {
      out.a = context.source(1, type);
      context.set_rows(out, context.destinations(list, form.element));
      out.execute = form.unpack;
    }
    return;
  }
  context.fail("moves a vector whose elements do not fill the type");
}

// ---- clocks ----

/// All lanes see one time, in nanoseconds, which stands for the cycles of a GPU at 1 GHz.
template <class Word>
void execute_clock(Warp& warp, const Instr& instr, LaneMask active) {
  using std::chrono::nanoseconds;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  auto time = static_cast<uint64_t>(std::chrono::duration_cast<nanoseconds>(now).count());
  if (static_cast<Clock>(instr.variant) == Clock::high) time >>= 32U;
  for_active(active,
             [&](int lane) { put<Word>(warp.row(instr.d), lane, static_cast<Word>(time)); });
}

bool decode_clock(DecodeContext& context, Instr& out, Type type) {
  const ptx::Operand& operand = context.operand(1);
  if (operand.kind != ptx::Operand::Kind::special) return false;
  const auto use = ptx::special_of(operand.name);
  if (!use || use->special->clock == Clock::none) return false;
  const int bits = use->special->clock == Clock::whole ? 64 : 32;
  if (ptx::bits_of(type) != bits)
    context.fail(
        fmt::format("reads a {0}-bit clock register, and therefore needs a {0}-bit type", bits));
  out.d = context.destination(0, type);
  out.variant = static_cast<std::uint8_t>(use->special->clock);
  out.unit = Unit::control;
  out.execute = bits == 64 ? execute_clock<uint64_t> : execute_clock<uint32_t>;
  return true;
}

/// Where whole words of registers may have gone: see Program::moved_rows.
constexpr TypeSet kSingleWords{Type::b32, Type::u32, Type::s32, Type::f32};

void decode_copy(DecodeContext& context, Instr& out, Type type) {
  take_operands(context, out, 1, type);
  if (context.operand(1).kind == ptx::Operand::Kind::special) out.unit = Unit::control;
  out.execute = type == Type::b128 ? execute_copy<Quad>
                                   : by_width(ptx::bits_of(type), execute_copy<uint16_t>,
                                              execute_copy<uint32_t>, execute_copy<uint64_t>);
}

// mov.pred d, a.
void decode_predicate(DecodeContext& context, Instr& out) {
  context.expect_operands(2);
  bool negated = false;
  out.d = context.destination(0, context.take_type());
  out.a = context.predicate(context.operand(1), &negated);
  out.variant = negated ? 1 : 0;
  out.execute = execute_copy_predicate;
}

// mov.TYPE d, a; mov.TYPE d, {a, b, ...}; mov.TYPE {d, e, ...}, a. The unit of a special register
// is control, because nothing is computed.
void decode_mov(DecodeContext& context, Instr& out) {
  const Type type = context.take_type();
  context.expect_operands(2);
  const bool unpacks = context.operand(0).kind == ptx::Operand::Kind::vector;
  const bool packs = context.operand(1).kind == ptx::Operand::Kind::vector;
  if (unpacks && packs) context.fail("moves a vector to a vector");
  if (unpacks || packs) {
    decode_vector(context, out, type, packs);
  } else if (!decode_clock(context, out, type)) {
    decode_copy(context, out, type);
  }
  if (kSingleWords.has(type) && out.d != kNoRow) context.note_moved_word(out.d);
}

constexpr Traits kVanishes{.slots = 0.0F, .flow = Flow::moved};

constexpr Opcode kOpcodes[] = {
    {"mov", {Type::pred}, decode_predicate, Unit::integer, kVanishes},
    {"mov", kShortBits | kShortIntegers | kHalves | kSingle, decode_mov, Unit::integer, kVanishes},
    {"mov", kLongBits | kLongIntegers | kDouble, decode_mov, Unit::integer64, kVanishes},
    {"mov", {Type::b128}, decode_mov, Unit::integer64, kVanishes},
};

}  // namespace
}  // namespace kiln::emulated::data

namespace kiln::emulated {

std::span<const Opcode> move_opcodes() {
  return data::kOpcodes;
}

}  // namespace kiln::emulated
