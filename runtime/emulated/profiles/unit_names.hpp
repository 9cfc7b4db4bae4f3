// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "runtime/emulated/decode/program.hpp"

namespace kiln::emulated {

/// The units' names, in the order of the enumeration: the spelling of profiles and reports.
inline constexpr std::array<std::string_view, kUnits> kUnitNames{
    "control", "integer", "integer64", "multiply", "fp32",     "fp64",       "fp16",    "convert",
    "special", "tensor",  "shared",    "global",   "constant", "async_copy", "shuffle", "barrier"};

}  // namespace kiln::emulated
