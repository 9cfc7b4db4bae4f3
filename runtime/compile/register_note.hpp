// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace kiln {

/// Registers per thread, for each kernel by its symbol.
using KernelRegisters = std::map<std::string, int, std::less<>>;

/// Comments at the end of PTX text that record what only assembling it could tell: the registers of
/// each kernel, without which an emulated GPU would not know how many blocks fit.
[[nodiscard]] std::string register_note(const KernelRegisters& kernels);

/// What the notes in a PTX text say; anything else is skipped.
[[nodiscard]] KernelRegisters noted_registers(std::string_view ptx);

}  // namespace kiln
