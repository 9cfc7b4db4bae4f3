// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <span>

#include "runtime/emulated/arith/convert_decode.hpp"
#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"

namespace kiln::emulated {
namespace converts {
namespace {

using ptx::Type;

struct RoundingName {
  std::string_view name;
  Rounding rounding;
  bool integral;
};
constexpr RoundingName kRoundings[] = {
    {"rni", Rounding::nearest_even, true}, {"rzi", Rounding::toward_zero, true},
    {"rmi", Rounding::down, true},         {"rpi", Rounding::up, true},
    {"rn", Rounding::nearest_even, false}, {"rz", Rounding::toward_zero, false},
    {"rm", Rounding::down, false},         {"rp", Rounding::up, false},
    {"rna", Rounding::nearest_away, false}};

const RoundingName* take_rounding(DecodeContext& context) {
  for (const RoundingName& entry : kRoundings) {
    if (context.take(entry.name)) return &entry;
  }
  return nullptr;
}

/// A register may be wider than the type that it holds.
Type register_type_for(const DecodeContext& context, std::size_t i, Type type) {
  const Type declared = context.register_type(context.operand(i));
  if (declared == Type::none || lane_bytes(declared) == lane_bytes(type)) return type;
  if (declared == Type::pred || lane_bytes(declared) > 8 ||
      lane_bytes(declared) < lane_bytes(type)) {
    context.fail(
        fmt::format("uses a .{} register as operand {}; this register cannot hold a .{} value",
                    ptx::name_of(declared), i + 1, ptx::name_of(type)));
  }
  return declared;
}

struct WideConversion {
  Conversion conversion;
  int to_bytes = 4;
  int from_bytes = 4;
};

std::uint64_t load(const std::byte* row, int lane, int bytes) {
  switch (bytes) {
    case 2:
      return get<std::uint16_t>(row, lane);
    case 4:
      return get<std::uint32_t>(row, lane);
    default:
      return get<std::uint64_t>(row, lane);
  }
}
void store(std::byte* row, int lane, int bytes, std::uint64_t value) {
  switch (bytes) {
    case 2:
      return put(row, lane, static_cast<std::uint16_t>(value));
    case 4:
      return put(row, lane, static_cast<std::uint32_t>(value));
    default:
      return put(row, lane, value);
  }
}

void execute_any(Warp& warp, const Instr& instr, LaneMask active) {
  const auto& form = *static_cast<const WideConversion*>(instr.detail);
  for_active(active, [&](int lane) {
    const std::uint64_t source = load(warp.row(instr.a), lane, form.from_bytes);
    store(warp.row(instr.d), lane, form.to_bytes, convert(form.conversion, source));
  });
}

/// Moves and extensions of integers need no conversion unit, nor does bf16 to f32.
Unit unit_of(const Conversion& conversion) {
  const bool moves = !is_float(conversion.to) && conversion.to != Type::tf32 &&
                     !is_float(conversion.from) && !conversion.saturate;
  if (moves) return Unit::integer;
  const bool shifts = conversion.to == Type::f32 && conversion.from == Type::bf16;
  return shifts ? Unit::integer : Unit::convert;
}

/// Conversions between addresses of 32 and 64 bits vanish, or do so half of the time.
float slots_of(const Conversion& form, bool plain) {
  const auto is = [&](Type to, Type from) { return plain && form.to == to && form.from == from; };
  if (is(Type::u64, Type::u32) || is(Type::u32, Type::u64)) return 0.0F;
  if (is(Type::s64, Type::s32)) return 0.5F;
  const bool is_long = (kLongIntegers.has(form.to) && form.from != Type::f64) ||
                       (kLongIntegers.has(form.from) && form.to != Type::f64);
  return is_long ? kLongSlots : 1.0F;
}

/// Says what a conversion lacks or has too much of; "" if it is one of PTX's.
std::string_view objection(const Conversion& form, const RoundingName* rounding) {
  const bool to_integer = !is_float(form.to) && form.to != Type::tf32;
  const bool from_integer = !is_float(form.from);
  const bool given = rounding != nullptr;
  const bool halves = form.from == Type::f32 &&
                      (form.to == Type::f16 || form.to == Type::bf16 || form.to == Type::tf32);
  if (form.relu || form.saturate_finite) {
    if (!halves)
      return "has .relu or .satfinite, which are allowed only in conversions from .f32 to .f16, "
             ".bf16 or .tf32";
    if (form.rounding == Rounding::down || form.rounding == Rounding::up) {
      return "cannot combine .relu or .satfinite with .rm or .rp";
    }
  }
  if (to_integer && from_integer && given)
    return "converts an integer to an integer, so a rounding modifier is not allowed";
  if (form.flush && form.to != Type::f32 && form.from != Type::f32)
    return "has .ftz, which is allowed only if the source or the result has type .f32";
  if (to_integer) {
    return form.integral || from_integer ? ""
                                         : "converts a floating-point number to an integer, and "
                                           "therefore needs .rni, .rzi, .rmi or .rpi";
  }
  if (form.to == Type::tf32) {
    if (form.flush || form.saturate)
      return "has .ftz or .sat, which are not allowed in a conversion to .tf32";
    if (form.from != Type::f32 || !given)
      return "converts to .tf32, and therefore needs the source type .f32 and one of .rna, .rn and "
             ".rz";
    const bool known = form.rounding == Rounding::nearest_away ||
                       form.rounding == Rounding::nearest_even ||
                       form.rounding == Rounding::toward_zero;
    if (!known || form.integral) return "converts to .tf32, and therefore needs .rna, .rn or .rz";
    return form.relu && form.rounding == Rounding::nearest_away
               ? "has .relu, and therefore needs .rn or .rz instead of .rna"
               : "";
  }
  if (form.rounding == Rounding::nearest_away)
    return "has .rna, which is allowed only in a conversion to .tf32";
  if (form.integral) {
    return form.to == form.from
               ? ""
               : "has an integer rounding modifier (such as .rni), which is allowed only from a "
                 "floating-point type to an integer type or to the same type";
  }
  const bool narrows = from_integer || ptx::bits_of(form.to) < ptx::bits_of(form.from) ||
                       (form.to != form.from && ptx::bits_of(form.to) == 16);
  return narrows && !given ? "may lose precision, and therefore needs .rn, .rz, .rm or .rp" : "";
}

Type type_named(const DecodeContext& context, std::string_view name, bool is_result) {
  const Type type = ptx::type_of(name);
  const bool single = is_integer(type) || type == Type::f16 || type == Type::bf16 ||
                      type == Type::f32 || type == Type::f64 || (type == Type::tf32 && is_result);
  if (!single) {
    context.fail(std::string("converts a type that the emulator does not support: .")
                     .append(name.empty() ? "?" : name));
  }
  return type;
}

// cvt{.ROUNDING}{.ftz}{.sat}{.satfinite}{.relu}.TO.FROM d, a, and the forms of the other
// functions here.
void decode_cvt(DecodeContext& context, Instr& out) {
  const RoundingName* const rounding = take_rounding(context);
  Conversion form;
  if (rounding != nullptr) {
    form.rounding = rounding->rounding;
    form.integral = rounding->integral;
  }
  if (works_on_packed(context)) {
    if (form.integral)
      context.fail(
          "has an integer rounding modifier (such as .rni), which is not allowed in a packed "
          "conversion");
    return decode_packed(context, out, form.rounding, rounding != nullptr);
  }
  form.flush = context.take("ftz");
  form.saturate = context.take("sat");
  form.saturate_finite = context.take("satfinite");
  form.relu = context.take("relu");
  form.to = type_named(context, context.take_next(), true);
  form.from = type_named(context, context.take_next(), false);
  if (const std::string_view wrong = objection(form, rounding); !wrong.empty()) {
    context.fail(std::string(wrong));
  }
  context.expect_operands(2);
  const Type to_register = register_type_for(context, 0, form.to);
  const Type from_register = register_type_for(context, 1, form.from);
  out.d = context.destination(0, to_register);
  out.a = context.source(1, from_register);
  out.unit = unit_of(form);
  context.traits().slots = slots_of(form, rounding == nullptr && !form.saturate);
  WideConversion wide;
  wide.conversion = form;
  wide.to_bytes = lane_bytes(to_register);
  wide.from_bytes = lane_bytes(from_register);
  out.execute = quick_form(form, wide.to_bytes, wide.from_bytes);
  if (out.execute != nullptr) return;
  out.detail = context.keep(wide);
  out.execute = execute_any;
}

}  // namespace
}  // namespace converts

namespace {

constexpr Opcode kConvertOpcodes[] = {
    {"cvt", {}, converts::decode_cvt, Unit::convert},
    {"cvt.pack", {}, converts::decode_pack, Unit::convert},
};

}  // namespace

std::span<const Opcode> convert_opcodes() {
  return kConvertOpcodes;
}

}  // namespace kiln::emulated
