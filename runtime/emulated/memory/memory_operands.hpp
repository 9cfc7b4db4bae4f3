// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/emulated/decode/decoder.hpp"
#include "runtime/emulated/engine/warp.hpp"

/// \file
/// Address operands, as instructions that touch memory keep them: row `a` (kNoRow for a constant
/// address) plus `immediate`, with `variant` telling the width of the row.

namespace kiln::emulated {

/// Takes the part of an opcode that names a space, generic if there is none. `in_cluster` becomes
/// whether it is the cluster's shared memory.
[[nodiscard]] ptx::Space take_space(DecodeContext& context, bool* in_cluster = nullptr);

/// Decodes operand `i` into `a`, `immediate` and `variant`; the space of the variable it names.
ptx::Space decode_address(DecodeContext& context, std::size_t i, Instr& out);

/// The addresses of the active lanes; others are left alone.
void fill_addresses(Warp& warp, const Instr& instr, LaneMask active,
                    std::uint64_t (&addresses)[kLanes]);

/// The address that an operand kept by itself names in a lane.
[[nodiscard]] std::uint64_t address_at(Warp& warp, const AddressOperand& operand, int lane);

/// What a plain store writes in a lane; empty for other instructions.
[[nodiscard]] std::vector<std::byte> stored_value(Warp& warp, const Instr& instr, int lane);

/// Which unit an access to a space occupies.
[[nodiscard]] Unit unit_of(ptx::Space space);

}  // namespace kiln::emulated
