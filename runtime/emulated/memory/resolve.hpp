// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/emulated/decode/access.hpp"
#include "runtime/emulated/decode/program.hpp"

namespace kiln::emulated {

class Warp;

/// Finds the host's bytes of every lane in `access`, whatever the space; checks bounds and
/// alignment, and notifies the observer. Throws KernelFault.
void resolve(Warp& warp, const Instr& instr, WarpAccess& access);

}  // namespace kiln::emulated
