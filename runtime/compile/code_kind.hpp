// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kiln {

/// What a compiler produces and a device loads.
enum class CodeKind : std::uint8_t {
  cubin,       ///< machine code of one architecture
  ptx,         ///< PTX text with source lines, which the emulated GPU executes
  driver_ptx,  ///< PTX text that ends with a zero, which a GPU's driver compiles for its device
};

}  // namespace kiln
