// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>

#include "runtime/emulated/arith/data_comparisons.hpp"
#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"

namespace kiln::emulated::data {
namespace {

using ptx::Type;
using std::uint16_t;
using std::uint32_t;

enum class Combine : std::uint8_t { none, conjunction, disjunction, difference };

/// What set and setp have in common: a comparison, combined with a predicate.
struct Comparing {
  LaneComparison comparison;
  Combine combine = Combine::none;
  bool c_negated = false;
  int parts = 1;
  uint32_t when_true = 0;  ///< of set: bits of one part

  [[nodiscard]] LaneMask combined(LaneMask mask, Warp& warp, const Instr& instr) const {
    if (combine == Combine::none) return mask;
    const LaneMask c = warp.predicate(instr.c) ^ (c_negated ? kAllLanes : 0U);
    switch (combine) {
      case Combine::conjunction:
        return mask & c;
      case Combine::disjunction:
        return mask | c;
      default:
        return mask ^ c;
    }
  }
};

/// Pairs compare low halves for p and high halves for q; for others q is the contrary of p.
void execute_setp(Warp& warp, const Instr& instr, LaneMask active) {
  const auto& form = *static_cast<const Comparing*>(instr.detail);
  const std::byte* a = warp.row(instr.a);
  const std::byte* b = warp.row(instr.b);
  const LaneMask first = form.comparison.of(a, b);
  const LaneMask p = form.combined(first, warp, instr);
  if (instr.e != kNoRow) {
    const LaneMask second = form.parts == 2 ? form.comparison.of(a, b, 1) : ~first;
    const LaneMask q = form.combined(second, warp, instr);
    warp.set_predicate(instr.e, q, active);
  }
  warp.set_predicate(instr.d, p, active);
}

template <class Word>
void execute_set(Warp& warp, const Instr& instr, LaneMask active) {
  const auto& form = *static_cast<const Comparing*>(instr.detail);
  const std::byte* a = warp.row(instr.a);
  const std::byte* b = warp.row(instr.b);
  const LaneMask first = form.combined(form.comparison.of(a, b), warp, instr);
  const LaneMask second =
      form.parts == 2 ? form.combined(form.comparison.of(a, b, 1), warp, instr) : 0U;
  alignas(64) Word out[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    uint32_t value = (first & kLaneBit[i]) != 0 ? form.when_true : 0U;
    value |= (second & kLaneBit[i]) != 0 ? form.when_true << 16U : 0U;
    out[i] = static_cast<Word>(value);
  }
  store_lanes<sizeof(Word)>(warp.row(instr.d), reinterpret_cast<const std::byte*>(out), active);
}

/// Takes the comparison and the modifiers; the types are left.
std::string_view take_comparison(DecodeContext& context, Comparing& form, bool* flush) {
  const std::string_view name = context.take_next();
  const std::string_view with = context.take_one_of({"and", "or", "xor"});
  if (!with.empty()) {
    form.combine = with == "and"  ? Combine::conjunction
                   : with == "or" ? Combine::disjunction
                                  : Combine::difference;
  }
  *flush = context.take("ftz");
  return name;
}

/// Takes the compared values and the predicate, which are operands 1 to 3.
void take_compared(DecodeContext& context, Instr& out, Comparing& form, std::string_view name,
                   Type type, bool flush) {
  form.comparison = comparison_of(name, type, flush);
  if (form.comparison.test == nullptr) {
    context.fail(fmt::format("has the comparison .{}, which does not exist for type .{}", name,
                             ptx::name_of(type)));
  }
  form.parts = type == Type::f16x2 || type == Type::bf16x2 ? 2 : 1;
  const bool combines = form.combine != Combine::none;
  context.expect_operands(combines ? 4 : 3);
  out.a = context.source(1, type);
  out.b = context.source(2, type);
  if (combines) out.c = context.predicate(context.operand(3), &form.c_negated);
}

/// Bits of "true" in one part of a result of set.
uint32_t truth(Type result, int parts) {
  switch (result) {
    case Type::f32:
      return 0x3F800000U;
    case Type::f16:
    case Type::f16x2:
      return 0x3C00U;
    case Type::bf16:
    case Type::bf16x2:
      return 0x3F80U;
    default:
      return parts == 2 ? 0xFFFFU : 0xFFFFFFFFU;
  }
}

// setp.COMPARISON{.and,.or,.xor}{.ftz}.TYPE p{|q}, a, b{, {!}c}.
void decode_setp(DecodeContext& context, Instr& out) {
  Comparing form;
  bool flush = false;
  const std::string_view name = take_comparison(context, form, &flush);
  take_compared(context, out, form, name, context.take_type(), flush);
  const ptx::Operand& results = context.operand(0);
  if (results.kind == ptx::Operand::Kind::pair && results.elements.size() == 2) {
    out.d = context.destination(results.elements[0], Type::pred);
    out.e = context.destination(results.elements[1], Type::pred);
  } else {
    if (form.parts == 2)
      context.fail("compares packed pairs, and therefore needs two result predicates (p|q)");
    out.d = context.destination(results, Type::pred);
  }
  out.detail = context.keep(form);
  out.execute = execute_setp;
}

// set.COMPARISON{.and,.or,.xor}{.ftz}.RESULT.TYPE d, a, b{, {!}c}.
void decode_set(DecodeContext& context, Instr& out) {
  Comparing form;
  bool flush = false;
  const std::string_view name = take_comparison(context, form, &flush);
  const Type result = context.take_type();
  const Type type =
      take_type_of(context, {Type::b16, Type::b32, Type::b64, Type::u16, Type::u32, Type::u64,
                             Type::s16, Type::s32, Type::s64, Type::f16, Type::f16x2, Type::bf16,
                             Type::bf16x2, Type::f32, Type::f64});
  take_compared(context, out, form, name, type, flush);
  // What is compared decides, not the result.
  out.unit = type == Type::f64   ? Unit::fp64
             : type == Type::f32 ? Unit::fp32
             : is_float(type)    ? Unit::fp16
                                 : integer_unit(ptx::bits_of(type));
  if (out.unit == Unit::integer64) context.traits().slots = kLongSlots;
  const bool pair_result = result == Type::f16x2 || result == Type::bf16x2;
  const bool word_result = result == Type::u32 || result == Type::s32;
  if (form.parts == 2 ? result != type && !word_result : pair_result) {
    context.fail(
        form.parts == 2
            ? fmt::format("compares pairs of type .{0}, and therefore needs the result "
                          "type .{0}, .u32 or .s32",
                          ptx::name_of(type))
            : fmt::format("has the packed result type .{}, but compares values that are not packed",
                          ptx::name_of(result)));
  }
  out.d = context.destination(0, result);
  form.when_true = truth(result, form.parts);
  out.detail = context.keep(form);
  out.execute = ptx::bits_of(result) == 16 ? execute_set<uint16_t> : execute_set<uint32_t>;
}

constexpr TypeSet kResults = kHalves | kSingle | kShortIntegers;

constexpr Opcode kOpcodes[] = {
    {"setp", kShortBits | kShortIntegers, decode_setp, Unit::integer},
    {"setp", kLongBits | kLongIntegers, decode_setp, Unit::integer64, kLong},
    {"setp", kSingle, decode_setp, Unit::fp32},
    {"setp", kDouble, decode_setp, Unit::fp64},
    {"setp", kHalves, decode_setp, Unit::fp16},
    {"set", kResults, decode_set, Unit::integer},
};

}  // namespace
}  // namespace kiln::emulated::data

namespace kiln::emulated {

std::span<const Opcode> compare_opcodes() {
  return data::kOpcodes;
}

}  // namespace kiln::emulated
