// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// How many registers the kernels of a PTX text have.
enum class PtxRegisters : std::uint8_t {
  noted,           ///< what the register_note() says
  left_to_driver,  ///< what the driver's compiler makes of the text, and of its bounds
};

/// code_digest() of a PTX text.
[[nodiscard]] std::string ptx_digest(std::string_view ptx, const std::vector<std::string>& kernels,
                                     PtxRegisters registers_are = PtxRegisters::noted);

}  // namespace kiln
