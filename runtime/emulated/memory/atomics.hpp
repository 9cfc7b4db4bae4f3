// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "runtime/emulated/ptx/ptx_module.hpp"

namespace kiln::emulated {

/// Updates `memory` with `value`, and stores what it held in `old`. For cas, `value` is what is
/// compared with and `swap` what is stored if equal. Atomic among the emulator's host threads.
using AtomicFunction = void (*)(std::byte* memory, const std::byte* value, const std::byte* swap,
                                std::byte* old);

/// The function of "add", "min", "max", "and", "or", "xor", "exch", "cas", "inc" or "dec" for a
/// type in shared memory, or null when PTX has none.
[[nodiscard]] AtomicFunction find_atomic(std::string_view operation, ptx::Type type);

/// The same in global memory, where additions of f32 flush subnormal numbers to zero.
[[nodiscard]] AtomicFunction find_global_atomic(std::string_view operation, ptx::Type type);

/// The same for cp.reduce.async.bulk, which has min and max of halves besides.
[[nodiscard]] AtomicFunction find_bulk_reduction(std::string_view operation, ptx::Type type);

/// The same for one element of a vector in global memory: additions of f32, and of halves and their
/// pairs min and max besides.
[[nodiscard]] AtomicFunction find_vector_atomic(std::string_view operation, ptx::Type type);

}  // namespace kiln::emulated
