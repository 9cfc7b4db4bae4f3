// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/emulated/decode/decoder.hpp"

/// \file
/// Asynchronous instructions whose first part cp shares: its family calls here once it has taken
/// `async`. And what waits have in common.

namespace kiln::emulated {

/// cp.async.bulk with all that follows it, and cp.reduce.async.bulk; `bulk` is taken.
void decode_bulk(DecodeContext& context, Instr& out, bool reduces);
/// The same for tensors; `tensor` is taken. `prefetch` has no effect.
void decode_bulk_tensor(DecodeContext& context, Instr& out, bool reduces, bool prefetch);
/// cp.async.mbarrier.arrive; `mbarrier` is taken.
void decode_copy_arrival(DecodeContext& context, Instr& out);
/// The operand of a wait: how many of the newest groups may be unfinished.
[[nodiscard]] std::uint32_t take_group_count(DecodeContext& context);

}  // namespace kiln::emulated
