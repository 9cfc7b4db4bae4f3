// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace kiln::emulated {

/// What kind of work an instruction is; facts and the performance model count by it.
enum class Unit : std::uint8_t {
  control,    ///< branches, exits, moves of special registers
  integer,    ///< 32-bit integer, logic, predicates, moves
  integer64,  ///< 64-bit integer, which the hardware does in two or more steps
  multiply,   ///< integer multiply and multiply-add
  fp32,
  fp64,
  fp16,  ///< packed and single halves of either kind
  convert,
  special,  ///< reciprocal, square root, exponential, integer division
  tensor,
  shared,    ///< loads, stores and atomics of shared memory, and matrix loads from it
  global,    ///< loads, stores and atomics of global, local and generic memory
  constant,  ///< parameters and constants
  async_copy,
  shuffle,  ///< shuffles, votes, matches
  barrier,  ///< barriers, fences, waits
};
inline constexpr int kUnits = static_cast<int>(Unit::barrier) + 1;

/// The units' names, in the order of the enumeration: the spelling of profiles and reports.
inline constexpr std::array<std::string_view, kUnits> kUnitNames{
    "control", "integer", "integer64", "multiply", "fp32",     "fp64",       "fp16",    "convert",
    "special", "tensor",  "shared",    "global",   "constant", "async_copy", "shuffle", "barrier"};

}  // namespace kiln::emulated
