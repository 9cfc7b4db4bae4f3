// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/memory/memory_operands.hpp"

#include <bit>
#include <string_view>

namespace kiln::emulated {

ptx::Space decode_address(DecodeContext& context, std::size_t i, Instr& out) {
  const AddressOperand address = context.address(i);
  out.a = address.row;
  out.immediate = address.offset;
  out.variant = address.lane_bytes == 4 ? 1 : 0;
  return address.space;
}

void fill_addresses(Warp& warp, const Instr& instr, LaneMask active,
                    std::uint64_t (&addresses)[kLanes]) {
  const auto offset = static_cast<std::uint64_t>(instr.immediate);
  if (instr.a == kNoRow) {
    for (std::uint64_t& address : addresses) address = offset;
    return;
  }
  const std::byte* const base = warp.row(instr.a);
  if (instr.variant == 0) {
    for (int lane = 0; lane < kLanes; ++lane) {
      addresses[lane] = get<std::uint64_t>(base, lane) + offset;
    }
    return;
  }
  // Addresses of 32 bits wrap within their space.
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    addresses[lane] = get<std::uint32_t>(base, lane) + static_cast<std::uint32_t>(instr.immediate);
  }
}

std::uint64_t address_at(Warp& warp, const AddressOperand& operand, int lane) {
  const auto offset = static_cast<std::uint64_t>(operand.offset);
  if (operand.row == kNoRow) return offset;
  if (operand.lane_bytes == 4) {
    return get<std::uint32_t>(warp.row(operand.row), lane) + static_cast<std::uint32_t>(offset);
  }
  return get<std::uint64_t>(warp.row(operand.row), lane) + offset;
}

ptx::Space take_space(DecodeContext& context, bool* in_cluster) {
  const std::string_view name =
      context.take_one_of({"const", "global", "local", "param", "param::entry", "param::func",
                           "shared", "shared::cta", "shared::cluster"});
  if (in_cluster != nullptr) *in_cluster = name == "shared::cluster";
  if (name.empty()) return ptx::Space::generic;
  if (name == "const") return ptx::Space::constant;
  if (name == "global") return ptx::Space::global;
  if (name == "local") return ptx::Space::local;
  return name.starts_with("param") ? ptx::Space::param : ptx::Space::shared;
}

Unit unit_of(ptx::Space space) {
  switch (space) {
    case ptx::Space::shared:
      return Unit::shared;
    case ptx::Space::param:
    case ptx::Space::constant:
      return Unit::constant;
    default:
      return Unit::global;
  }
}

}  // namespace kiln::emulated
