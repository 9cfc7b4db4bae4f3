// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// cvta and isspacep: addresses of a space and generic ones.
#include <bit>
#include <string_view>

#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/engine/cluster.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"
#include "runtime/emulated/engine/warp.hpp"
#include "runtime/emulated/memory/global_memory.hpp"
#include "runtime/emulated/memory/memory_operands.hpp"

namespace kiln::emulated {
namespace {

using ptx::Space;
using ptx::Type;

constexpr std::uint64_t window_of(Space space) {
  switch (space) {
    case Space::shared:
      return kSharedWindow;
    case Space::local:
      return kLocalWindow;
    case Space::param:
      return kParamWindow;
    default:
      return 0;
  }
}

/// A generic address of shared memory names the block; one within the space may leave it out.
std::uint64_t to_generic(std::uint64_t address, std::uint64_t window, std::uint32_t rank) {
  if (window == kSharedWindow && (address >> kSharedRankShift) == 0) {
    address |= (std::uint64_t{rank} + 1) << kSharedRankShift;
  }
  return address | window;
}

std::uint64_t from_generic(std::uint64_t address, std::uint64_t window, std::uint32_t rank) {
  address &= ~window;
  if (window == kSharedWindow && (address >> kSharedRankShift) == std::uint64_t{rank} + 1) {
    address &= (std::uint64_t{1} << kSharedRankShift) - 1;
  }
  return address;
}

void execute_cvta(Warp& warp, const Instr& instr, LaneMask active) {
  const auto window = static_cast<std::uint64_t>(instr.immediate);
  const std::uint32_t rank = warp.block().rank();
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const auto in = instr.bytes == 8 ? get<std::uint64_t>(warp.row(instr.a), lane)
                                     : get<std::uint32_t>(warp.row(instr.a), lane);
    const std::uint64_t value =
        instr.variant == 0 ? to_generic(in, window, rank) : from_generic(in, window, rank);
    if (instr.bytes == 8) {
      put(warp.row(instr.d), lane, value);
    } else {
      put(warp.row(instr.d), lane, static_cast<std::uint32_t>(value));
    }
  }
}

void decode_cvta(DecodeContext& context, Instr& out) {
  out.variant = context.take("to") ? 1 : 0;
  const Space space = take_space(context);
  const Type type = context.take_type();
  context.expect_operands(2);
  out.d = context.destination(0, type);
  out.a = context.source(1, type);
  out.bytes = static_cast<std::uint8_t>(lane_bytes(type));
  if (out.bytes != 8 && (out.bytes != 4 || window_of(space) != 0)) {
    context.fail("must produce a 64-bit address, because all generic addresses have 64 bits");
  }
  out.immediate = static_cast<std::int64_t>(window_of(space));
  out.execute = &execute_cvta;
}

/// What isspacep asks beyond the window that an address lies in.
enum class Asks : std::uint8_t { window, own_block, constants, no_constants };

void execute_isspacep(Warp& warp, const Instr& instr, LaneMask active) {
  const auto asks = static_cast<Asks>(instr.variant);
  LaneMask result = 0;
  for_active(active, [&](int lane) {
    const auto address = get<std::uint64_t>(warp.row(instr.a), lane);
    bool is = (address & kWindowMask) == static_cast<std::uint64_t>(instr.immediate);
    if (asks == Asks::own_block) {
      const std::uint64_t rank = (address & ~kWindowMask) >> kSharedRankShift;
      is = is && (rank == 0 || rank == std::uint64_t{warp.block().rank()} + 1);
    } else if (asks != Asks::window) {
      // Constants lie among the allocations; they are those that nobody may write.
      const Allocation* at = warp.block().cluster().launch().memory->find(address);
      const bool constant = at != nullptr && at->read_only;
      is = is && constant == (asks == Asks::constants);
    }
    if (is) result |= LaneMask{1} << lane;
  });
  warp.set_predicate(instr.d, result, active);
}

void decode_isspacep(DecodeContext& context, Instr& out) {
  const std::string_view name = context.in().parts.back();
  const Space space = take_space(context);
  const Asks asks = name == "shared" || name == "shared::cta" ? Asks::own_block
                    : space == Space::constant                ? Asks::constants
                    : space == Space::global                  ? Asks::no_constants
                                                              : Asks::window;
  context.expect_operands(2);
  out.variant = static_cast<std::uint8_t>(asks);
  out.d = context.destination(0, Type::pred);
  out.a = context.source(1, Type::u64);
  out.immediate = static_cast<std::int64_t>(window_of(space));
  out.execute = &execute_isspacep;
}

constexpr Opcode kAddressOpcodes[] = {
    {"cvta", {}, &decode_cvta, Unit::integer, {.slots = 0.0F}},
    {"isspacep", {}, &decode_isspacep, Unit::integer, {.flow = Flow::number}},
};

}  // namespace

std::span<const Opcode> address_opcodes() {
  return kAddressOpcodes;
}

}  // namespace kiln::emulated
