// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "runtime/emulated/arith/convert_decode.hpp"
#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"

namespace kiln::emulated::converts {
namespace {

using ptx::Type;

struct PackedName {
  std::string_view name;
  PackedFormat part;
};
constexpr PackedName kPackedNames[] = {
    {"f16x2", {&kF16, 16}},
    {"bf16x2", {&kBf16, 16}},
    {"e4m3x2", {&kE4m3, 8}},
    {"e5m2x2", {&kE5m2, 8}},
};

const PackedName* find_packed(std::string_view name) {
  const auto* const end = std::end(kPackedNames);
  const auto* const at = std::find_if(std::begin(kPackedNames), end,
                                      [&](const PackedName& entry) { return entry.name == name; });
  return at == end ? nullptr : at;
}

struct PackedConversion {
  PackedFormat to;
  PackedFormat from;  ///< no format: two f32
  Rounding rounding = Rounding::nearest_even;
  bool saturate_finite = false;
  bool relu = false;
};

std::uint32_t load_parts(const std::byte* row, int lane, int bits) {
  return bits == 16 ? get<std::uint32_t>(row, lane) : get<std::uint16_t>(row, lane);
}
void store_parts(std::byte* row, int lane, int bits, std::uint32_t upper, std::uint32_t lower) {
  const std::uint32_t both = (upper << static_cast<unsigned>(bits)) | lower;
  if (bits == 16) {
    put<std::uint32_t>(row, lane, both);
  } else {
    put<std::uint16_t>(row, lane, static_cast<std::uint16_t>(both));
  }
}

/// Two f32, the first one into the upper part.
void execute_pack(Warp& warp, const Instr& instr, LaneMask active) {
  const auto& form = *static_cast<const PackedConversion*>(instr.detail);
  const auto part = [&](std::uint32_t row, int lane) {
    return narrow(form.to, get<float>(warp.row(row), lane), form.rounding, form.saturate_finite,
                  form.relu);
  };
  for_active(active, [&](int lane) {
    store_parts(warp.row(instr.d), lane, form.to.bits, part(instr.a, lane), part(instr.b, lane));
  });
}

/// The common forms, with vector code.
template <std::uint16_t (*round)(float)>
void execute_quick_pack(Warp& warp, const Instr& instr, LaneMask active) {
  const std::byte* a = warp.row(instr.a);
  const std::byte* b = warp.row(instr.b);
  alignas(64) std::uint32_t out[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const std::uint32_t upper = round(get<float>(a, i));
    out[i] = (upper << 16U) | round(get<float>(b, i));
  }
  store_lanes<4>(warp.row(instr.d), reinterpret_cast<const std::byte*>(out), active);
}

/// The f16 of every e4m3 or e5m2; all are exact.
constexpr std::array<std::uint16_t, 256> halves_of(const FloatFormat& format) {
  std::array<std::uint16_t, 256> halves{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    const auto value = static_cast<double>(decode(format, i));
    halves[i] = static_cast<std::uint16_t>(encode(kF16, value));
  }
  return halves;
}
constexpr std::array<std::uint16_t, 256> kE4m3Halves = halves_of(kE4m3);
constexpr std::array<std::uint16_t, 256> kE5m2Halves = halves_of(kE5m2);

template <const std::array<std::uint16_t, 256>& halves>
void execute_widen(Warp& warp, const Instr& instr, LaneMask active) {
  for_active(active, [&](int lane) {
    const auto bytes = get<std::uint16_t>(warp.row(instr.a), lane);
    store_parts(warp.row(instr.d), lane, 16, halves[bytes >> 8U], halves[bytes & 0xFFU]);
  });
}

/// Part by part from one packed type to another.
void execute_repack(Warp& warp, const Instr& instr, LaneMask active) {
  const auto& form = *static_cast<const PackedConversion*>(instr.detail);
  const auto width = static_cast<unsigned>(form.from.bits);
  const std::uint32_t mask = (1U << width) - 1U;
  for_active(active, [&](int lane) {
    const std::uint32_t parts = load_parts(warp.row(instr.a), lane, form.from.bits);
    const auto part = [&](std::uint32_t bits) {
      return narrow(form.to, decode(*form.from.format, bits), form.rounding, form.saturate_finite,
                    form.relu);
    };
    store_parts(warp.row(instr.d), lane, form.to.bits, part(parts >> width), part(parts & mask));
  });
}

Type register_of(const PackedFormat& format) {
  return format.bits == 16 ? Type::b32 : Type::b16;
}

void execute_pack_saturated(Warp& warp, const Instr& instr, LaneMask active) {
  for_active(active, [&](int lane) {
    const std::uint32_t above =
        instr.c == kNoRow ? 0U : get<std::uint32_t>(warp.row(instr.c), lane);
    const std::uint32_t packed = pack_saturated(get<std::int32_t>(warp.row(instr.a), lane),
                                                get<std::int32_t>(warp.row(instr.b), lane), above,
                                                instr.bytes, instr.variant != 0);
    put<std::uint32_t>(warp.row(instr.d), lane, packed);
  });
}

}  // namespace

bool works_on_packed(const DecodeContext& context) {
  return std::any_of(context.left().begin(), context.left().end(),
                     [](std::string_view part) { return find_packed(part) != nullptr; });
}

// cvt.{rn,rz}{.relu}{.satfinite}.{f16x2,bf16x2}.f32 d, upper, lower;
// cvt.rn.satfinite{.relu}.{e4m3x2,e5m2x2}.f32 d, upper, lower, or .f16x2 d, a;
// cvt.rn{.relu}.f16x2.{e4m3x2,e5m2x2} d, a.
void decode_packed(DecodeContext& context, Instr& out, Rounding rounding, bool rounding_given) {
  PackedConversion form;
  form.rounding = rounding;
  form.saturate_finite = context.take("satfinite");
  form.relu = context.take("relu");
  const PackedName* const to = find_packed(context.take_next());
  const std::string_view source = context.take_next();
  const PackedName* const from = find_packed(source);
  if (to == nullptr || (from == nullptr && source != "f32")) {
    context.fail(
        "has a combination of result type and source type that the emulator does not support");
  }
  form.to = to->part;
  const bool narrow_result = to->part.bits == 8;
  const bool nearest = rounding_given && rounding == Rounding::nearest_even;
  const bool cut = rounding_given && rounding == Rounding::toward_zero;
  if (!nearest && (narrow_result || !cut)) {
    context.fail(narrow_result ? "needs .rn" : "needs .rn or .rz");
  }
  if (narrow_result && !form.saturate_finite) context.fail("needs .satfinite");
  if (from == nullptr) {
    context.expect_operands(3);
    out.d = context.destination(0, register_of(form.to));
    out.a = context.source(1, Type::f32);
    out.b = context.source(2, Type::f32);
    const bool quick = nearest && !form.saturate_finite && !form.relu;
    out.execute = !quick                    ? execute_pack
                  : form.to.format == &kF16 ? execute_quick_pack<f16_of_f32>
                                            : execute_quick_pack<bf16_of_f32>;
  } else {
    const bool known = narrow_result ? from->name == "f16x2"
                                     : to->name == "f16x2" && from->part.bits == 8 && nearest;
    if (!known) {
      context.fail(
          "has a combination of result type and source type that the emulator does not support");
    }
    if (!narrow_result && form.saturate_finite) {
      context.fail("converts to a wider type, so .satfinite is not allowed");
    }
    form.from = from->part;
    context.expect_operands(2);
    out.d = context.destination(0, register_of(form.to));
    out.a = context.source(1, register_of(form.from));
    out.execute = execute_repack;
    if (!narrow_result && !form.relu) {
      out.execute =
          form.from.format == &kE4m3 ? execute_widen<kE4m3Halves> : execute_widen<kE5m2Halves>;
    }
  }
  out.detail = context.keep(form);
}

// cvt.pack.sat.{u16,s16}.s32 d, a, b; cvt.pack.sat.{u2,s2,u4,s4,u8,s8}.s32.b32 d, a, b, c.
void decode_pack(DecodeContext& context, Instr& out) {
  struct Name {
    std::string_view name;
    std::uint8_t bits;
    bool is_signed_result;
  };
  constexpr Name kNames[] = {{"u2", 2, false},   {"s2", 2, true},  {"u4", 4, false},
                             {"s4", 4, true},    {"u8", 8, false}, {"s8", 8, true},
                             {"u16", 16, false}, {"s16", 16, true}};
  if (!context.take("sat")) context.fail("needs .sat");
  const std::string_view result = context.take_next();
  const auto* const at = std::find_if(std::begin(kNames), std::end(kNames),
                                      [&](const Name& entry) { return entry.name == result; });
  if (at == std::end(kNames)) context.fail("packs a type that the emulator does not support");
  static_cast<void>(take_type_of(context, {Type::s32}));
  const bool appends = at->bits != 16;
  if (appends) static_cast<void>(take_type_of(context, {Type::b32}));
  take_operands(context, out, appends ? 3 : 2, Type::b32);
  out.bytes = at->bits;
  out.variant = at->is_signed_result ? 1 : 0;
  out.execute = execute_pack_saturated;
}

}  // namespace kiln::emulated::converts
