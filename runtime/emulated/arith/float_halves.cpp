// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/arith/float_functions.hpp"
#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"

namespace kiln::emulated::floats {
namespace {

using ptx::Type;
using std::uint16_t;

/// Modifiers travel in `variant`, the number of halves in a lane in `bytes`.
constexpr std::uint8_t kFlush = 1;
constexpr std::uint8_t kSaturate = 2;
constexpr std::uint8_t kRelu = 4;
constexpr std::uint8_t kXorSign = 8;

std::uint8_t pack(const HalfModifiers& modifiers) {
  return static_cast<std::uint8_t>(
      (modifiers.flush ? kFlush : 0U) | (modifiers.saturate ? kSaturate : 0U) |
      (modifiers.relu ? kRelu : 0U) | (modifiers.xor_sign ? kXorSign : 0U));
}

HalfModifiers unpack(std::uint8_t variant) {
  HalfModifiers modifiers;
  modifiers.flush = (variant & kFlush) != 0;
  modifiers.saturate = (variant & kSaturate) != 0;
  modifiers.relu = (variant & kRelu) != 0;
  modifiers.xor_sign = (variant & kXorSign) != 0;
  return modifiers;
}

/// What .ftz makes of a * b + c, given the rounded result. It exists for f16 alone.
uint16_t flush_unrounded(uint16_t result, uint16_t a, uint16_t b, uint16_t c) {
  const double product = double{f32_of_f16(a)} * double{f32_of_f16(b)};
  const bool below = flushes_least_normal(product, f32_of_f16(c), f32_of_f16(result), 0x1p-14, 11);
  return below ? static_cast<uint16_t>(result & kF16.sign) : result;
}

/// Any operation of one to three operands with any modifiers.
template <class H, class F, int operands>
void execute_modified(Warp& warp, const Instr& instr, LaneMask active) {
  const HalfModifiers modifiers = unpack(instr.variant);
  const int per = instr.bytes;
  for_active(active, [&](int lane) {
    for (int i = lane * per; i < (lane + 1) * per; ++i) {
      const auto load = [&](std::uint32_t row) {
        const auto value = get<uint16_t>(warp.row(row), i);
        return modifiers.flush ? flush_half<H>(value) : value;
      };
      uint16_t result = 0;
      if constexpr (operands == 1) {
        result = F::of(load(instr.a));
      } else if constexpr (operands == 2) {
        const uint16_t a = load(instr.a);
        const uint16_t b = load(instr.b);
        if (modifiers.xor_sign) {
          result = F::of(HalfAbs::of(a), HalfAbs::of(b));
          const bool number = !is_nan(H::kFormat, result);
          if (number) result = static_cast<uint16_t>(result | ((a ^ b) & H::kFormat.sign));
        } else {
          result = F::of(a, b);
        }
        if constexpr (std::is_same_v<F, HalfMul<F16>>) {
          if (modifiers.flush) result = flush_unrounded(result, a, b, 0);
        }
      } else {
        const uint16_t a = load(instr.a);
        const uint16_t b = load(instr.b);
        const uint16_t c = load(instr.c);
        result = F::of(a, b, c);
        if constexpr (std::is_same_v<F, HalfFma<F16>>) {
          if (modifiers.flush) result = flush_unrounded(result, a, b, c);
        }
      }
      put<uint16_t>(warp.row(instr.d), i, finish_half<H>(result, modifiers));
    }
  });
}

/// Single or packed, with or without modifiers.
template <class H, class F>
Execute unary_of(bool pair, bool modified) {
  if (modified) return execute_modified<H, F, 1>;
  return pair ? execute_unary<F, uint16_t, uint16_t, 2> : execute_unary<F, uint16_t, uint16_t>;
}
template <class H, class F>
Execute costly_unary_of(bool pair, bool modified) {
  if (modified) return execute_modified<H, F, 1>;
  return pair ? execute_unary_each<F, uint16_t, uint16_t, 2>
              : execute_unary_each<F, uint16_t, uint16_t>;
}
template <class H, class F>
Execute binary_of(bool pair, bool modified) {
  if (modified) return execute_modified<H, F, 2>;
  return pair ? execute_binary<F, uint16_t, uint16_t, uint16_t, 2>
              : execute_binary<F, uint16_t, uint16_t>;
}
template <class H, class F>
Execute ternary_of(bool pair, bool modified) {
  if (modified) return execute_modified<H, F, 3>;
  return pair ? execute_ternary<F, uint16_t, uint16_t, uint16_t, uint16_t, 2>
              : execute_ternary<F, uint16_t, uint16_t>;
}

enum class HalfOperation { add, sub, mul, fma, abs, neg, min, max, ex2, tanh };

template <class H>
Execute execute_of(HalfOperation operation, bool pair, bool modified, bool nan_wins) {
  switch (operation) {
    case HalfOperation::add:
      return binary_of<H, HalfAdd<H>>(pair, modified);
    case HalfOperation::sub:
      return binary_of<H, HalfSub<H>>(pair, modified);
    case HalfOperation::mul:
      return binary_of<H, HalfMul<H>>(pair, modified);
    case HalfOperation::fma:
      return ternary_of<H, HalfFma<H>>(pair, modified);
    case HalfOperation::abs:
      return unary_of<H, HalfAbs>(pair, modified);
    case HalfOperation::neg:
      return unary_of<H, HalfNeg>(pair, modified);
    case HalfOperation::min:
      return nan_wins ? binary_of<H, HalfChoose<H, false, true>>(pair, modified)
                      : binary_of<H, HalfChoose<H, false, false>>(pair, modified);
    case HalfOperation::max:
      return nan_wins ? binary_of<H, HalfChoose<H, true, true>>(pair, modified)
                      : binary_of<H, HalfChoose<H, true, false>>(pair, modified);
    case HalfOperation::ex2:
      return costly_unary_of<H, HalfEx2<H>>(pair, modified);
    case HalfOperation::tanh:
      break;
  }
  return costly_unary_of<H, HalfTanh<H>>(pair, modified);
}

bool is_sum(HalfOperation operation) {
  return operation == HalfOperation::add || operation == HalfOperation::sub ||
         operation == HalfOperation::mul || operation == HalfOperation::fma;
}
bool is_choice(HalfOperation operation) {
  return operation == HalfOperation::min || operation == HalfOperation::max;
}
bool is_approximate(HalfOperation operation) {
  return operation == HalfOperation::ex2 || operation == HalfOperation::tanh;
}

/// The modifiers that an operation has for some type; what is left over is refused.
HalfModifiers take_modifiers(DecodeContext& context, HalfOperation operation) {
  HalfModifiers modifiers;
  const bool exact = is_sum(operation);
  if (exact) context.take("rn");
  if (is_approximate(operation) && !context.take("approx")) context.fail("needs .approx");
  if (operation != HalfOperation::tanh) modifiers.flush = context.take("ftz");
  if (exact) modifiers.saturate = context.take("sat");
  if (operation == HalfOperation::fma) modifiers.relu = context.take("relu");
  if (is_choice(operation)) {
    modifiers.xor_sign = context.take("xorsign");
    if (modifiers.xor_sign && !context.take("abs")) context.fail(".xorsign needs .abs");
  }
  return modifiers;
}

// OPERATION{.rn}{.ftz}{.sat}{.relu}{.NaN}{.xorsign.abs}.{f16,f16x2,bf16,bf16x2} d, a{, b{, c}};
// Each operation has some of the modifiers, and bf16 fewer than f16.
template <HalfOperation operation>
void decode_halves(DecodeContext& context, Instr& out) {
  const bool nan_wins = is_choice(operation) && context.take("NaN");
  const HalfModifiers modifiers = take_modifiers(context, operation);
  const Type type = context.take_type();
  const bool brain = type == Type::bf16 || type == Type::bf16x2;
  if (brain && modifiers.saturate) context.fail(".sat does not exist for this type");
  if (brain && modifiers.flush && operation != HalfOperation::ex2) {
    context.fail(".ftz does not exist for this type");
  }
  const bool pair = type == Type::f16x2 || type == Type::bf16x2;
  const bool unary = operation == HalfOperation::abs || operation == HalfOperation::neg ||
                     is_approximate(operation);
  take_operands(context, out, operation == HalfOperation::fma ? 3 : unary ? 1 : 2, type);
  out.variant = pack(modifiers);
  out.bytes = pair ? 2 : 1;
  out.execute = brain ? execute_of<Bf16>(operation, pair, out.variant != 0, nan_wins)
                      : execute_of<F16>(operation, pair, out.variant != 0, nan_wins);
}

/// What copies of tensors may fill elements outside of a tensor with (fill_nan()); a sign does not
/// matter.
constexpr uint16_t kOutside = 0x7FF7;

/// 0 if a factor lies outside of its tensor, whatever the others are. Measured on an H100.
template <class H>
struct InsideFma {
  static uint16_t of(uint16_t a, uint16_t b, uint16_t c) {
    const bool outside = HalfAbs::of(a) == kOutside || HalfAbs::of(b) == kOutside;
    return outside ? uint16_t{0} : H::fma(a, b, c);
  }
};

// fma.rn.oob{.relu}.{f16,f16x2,bf16,bf16x2} d, a, b, c.
void decode_inside_fma(DecodeContext& context, Instr& out) {
  if (!context.take("rn")) context.fail("needs .rn");
  HalfModifiers modifiers;
  modifiers.relu = context.take("relu");
  const Type type = context.take_type();
  const bool brain = type == Type::bf16 || type == Type::bf16x2;
  const bool pair = type == Type::f16x2 || type == Type::bf16x2;
  take_operands(context, out, 3, type);
  out.variant = pack(modifiers);
  out.bytes = pair ? 2 : 1;
  out.execute = brain ? ternary_of<Bf16, InsideFma<Bf16>>(pair, modifiers.relu)
                      : ternary_of<F16, InsideFma<F16>>(pair, modifiers.relu);
}

constexpr Traits kChosen{.flow = Flow::chosen};

constexpr Opcode kOpcodes[] = {
    {"add", kHalves, decode_halves<HalfOperation::add>, Unit::fp16},
    {"sub", kHalves, decode_halves<HalfOperation::sub>, Unit::fp16, {.flow = Flow::difference}},
    {"mul", kHalves, decode_halves<HalfOperation::mul>, Unit::fp16},
    {"fma", kHalves, decode_halves<HalfOperation::fma>, Unit::fp16},
    {"fma.oob", kHalves, decode_inside_fma, Unit::fp16},
    {"abs", kHalves, decode_halves<HalfOperation::abs>, Unit::fp16},
    {"neg", kHalves, decode_halves<HalfOperation::neg>, Unit::fp16},
    {"min", kHalves, decode_halves<HalfOperation::min>, Unit::fp16, kChosen},
    {"max", kHalves, decode_halves<HalfOperation::max>, Unit::fp16, kChosen},
    {"ex2", kHalves, decode_halves<HalfOperation::ex2>, Unit::special},
    {"tanh", kHalves, decode_halves<HalfOperation::tanh>, Unit::special},
};

}  // namespace
}  // namespace kiln::emulated::floats

namespace kiln::emulated {

std::span<const Opcode> half_opcodes() {
  return floats::kOpcodes;
}

}  // namespace kiln::emulated
