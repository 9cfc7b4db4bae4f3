// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/emulated/decode/access.hpp"
#include "runtime/emulated/decode/program.hpp"

namespace kiln::emulated {

class Warp;
struct Allocation;

/// The allocation at an address of global memory; null if there is none. Usually one of two that
/// the warp accessed last, which takes no lock: kernels read A and B in turn.
[[nodiscard]] const Allocation* allocation_at(Warp& warp, std::uint64_t address,
                                              std::int64_t bytes);

/// Finds the host's bytes of every lane in `access`, whatever the space; checks bounds and
/// alignment, and notifies the observer. Throws KernelFault.
void resolve(Warp& warp, const Instr& instr, WarpAccess& access);

}  // namespace kiln::emulated
