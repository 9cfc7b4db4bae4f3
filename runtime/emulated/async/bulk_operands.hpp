// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "runtime/emulated/async/bulk_jobs.hpp"
#include "runtime/emulated/async/mbarrier_access.hpp"
#include "runtime/emulated/decode/decoder.hpp"

/// \file
/// What linear and tensor bulk copies share while they are decoded and begun.

namespace kiln::emulated {

enum class BulkWay : std::uint8_t { global_to_shared, shared_to_global, shared_to_shared };

/// Takes destination, source and completion mechanism; fails for pairs that do not exist.
[[nodiscard]] BulkWay take_bulk_way(DecodeContext& context);
/// Takes the operation of a reduction; fails if there is none.
[[nodiscard]] std::string_view take_reduction(DecodeContext& context);
/// Rows of the optional operands, which begin at `i`: the mask of blocks if the instruction is
/// multicast, else kNoRow. The cache policy changes no value.
[[nodiscard]] std::uint32_t decode_multicast(DecodeContext& context, std::size_t i, bool multicast);

/// The blocks that a load goes to: those of the mask in row `mask`, or the destination's.
[[nodiscard]] std::vector<Block*> bulk_targets(Warp& warp, const Instr& instr, int lane,
                                               std::uint32_t mask, const SharedSpot& to);
/// Offset of the mbarrier of a load; it must be one in every target.
[[nodiscard]] std::uint32_t bulk_barrier(Warp& warp, const Instr& instr, int lane,
                                         const AddressOperand& operand, const SharedSpot& to,
                                         const std::vector<Block*>& targets);

}  // namespace kiln::emulated
