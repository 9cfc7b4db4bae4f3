// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/arith/data_permute.hpp"

#include <cstdint>

#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"

namespace kiln::emulated::data {
namespace {

using std::uint32_t;

/// The selector is the same for all lanes: byte by byte, which vectorises.
void execute_uniform(Warp& warp, const Instr& instr, LaneMask active) {
  const auto selector = get<uint32_t>(warp.row(instr.c), 0);
  alignas(64) uint32_t out[kLanes] = {};
  for (unsigned k = 0; k < 4; ++k) {
    const uint32_t nibble = selector >> (4 * k);
    const std::byte* from = warp.row((nibble & 4U) != 0 ? instr.b : instr.a);
    const unsigned down = 8 * (nibble & 3U);
    const unsigned up = 8 * k;
    if ((nibble & 8U) != 0) {
      for (int i = 0; i < kLanes; ++i) {
        const uint32_t negative = (get<uint32_t>(from, i) >> (down + 7)) & 1U;
        out[i] |= ((0U - negative) & 0xFFU) << up;
      }
    } else {
      for (int i = 0; i < kLanes; ++i) {
        out[i] |= ((get<uint32_t>(from, i) >> down) & 0xFFU) << up;
      }
    }
  }
  store_lanes<4>(warp.row(instr.d), reinterpret_cast<const std::byte*>(out), active);
}

void execute_mode(Warp& warp, const Instr& instr, LaneMask active) {
  const PermuteMode& mode = kPermuteModes[instr.variant];
  for_active(active, [&](int lane) {
    const uint32_t selector = mode.selectors[get<uint32_t>(warp.row(instr.c), lane) & 3U];
    put<uint32_t>(warp.row(instr.d), lane,
                  Permute::of(get<uint32_t>(warp.row(instr.a), lane),
                              get<uint32_t>(warp.row(instr.b), lane), selector));
  });
}

// prmt.b32{.MODE} d, a, b, c.
void decode_prmt(DecodeContext& context, Instr& out) {
  take_operands(context, out, 3, context.take_type());
  for (const PermuteMode& mode : kPermuteModes) {
    if (!context.take(mode.name)) continue;
    out.variant = static_cast<std::uint8_t>(&mode - kPermuteModes);
    out.execute = execute_mode;
    return;
  }
  out.execute = context.is_immediate(context.operand(3))
                    ? execute_uniform
                    : execute_ternary<Permute, uint32_t, uint32_t>;
}

constexpr Opcode kOpcodes[] = {{"prmt", {ptx::Type::b32}, decode_prmt, Unit::integer}};

}  // namespace
}  // namespace kiln::emulated::data

namespace kiln::emulated {

std::span<const Opcode> permute_opcodes() {
  return data::kOpcodes;
}

}  // namespace kiln::emulated
