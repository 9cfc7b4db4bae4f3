// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "runtime/emulated/decode/decoder.hpp"

/// \file
/// Instructions that decide where a warp goes on, which the decoder itself has to know.

namespace kiln::emulated {

void execute_branch(Warp& warp, const Instr& instr, LaneMask active);
/// brx.idx: `rows` are the targets, row `a` the index.
void execute_branch_table(Warp& warp, const Instr& instr, LaneMask active);
void execute_exit(Warp& warp, const Instr& instr, LaneMask active);
void execute_trap(Warp& warp, const Instr& instr, LaneMask active);

/// Fills `execute` for calls that the driver answers on a GPU: __assertfail, which is a finding,
/// and vprintf, whose text goes nowhere. False for any other name.
[[nodiscard]] bool decode_host_call(const std::string& name, Instr& out);

}  // namespace kiln::emulated
