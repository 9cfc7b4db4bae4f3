// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cache/records.hpp"
#include "runtime/compile/register_note.hpp"

namespace kiln {

/// What the assembler reports in a compiler log when asked to be verbose.
struct CompilerLog {
  KernelResources resources;          ///< each the maximum over the kernels
  KernelRegisters registers;          ///< of each kernel, by its symbol
  std::vector<std::string> warnings;  ///< "C7508 text", or only the text if it has no code
};

/// Reads a log; lines that are not the assembler's are skipped.
[[nodiscard]] CompilerLog parse_compiler_log(std::string_view log);

}  // namespace kiln
