// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/emulated/decoder.hpp"

/// \file
/// Asynchronous instructions whose first part others share (cp, st, red). The families that own
/// these names call here once they have taken `async`.

namespace kiln::emulated {

/// cp.async.bulk with all that follows it, and cp.reduce.async.bulk; `bulk` is taken.
void decode_bulk(DecodeContext& context, Instr& out, bool reduces);
/// The same for tensors; `tensor` is taken. `prefetch` has no effect.
void decode_bulk_tensor(DecodeContext& context, Instr& out, bool reduces, bool prefetch);
/// cp.async.mbarrier.arrive; `mbarrier` is taken.
void decode_copy_arrival(DecodeContext& context, Instr& out);
void decode_async_store(DecodeContext& context, Instr& out);
void decode_async_reduction(DecodeContext& context, Instr& out);

}  // namespace kiln::emulated
