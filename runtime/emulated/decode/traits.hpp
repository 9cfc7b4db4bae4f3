// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// \file
/// What the decoder knows of an instruction besides how to execute it.

namespace kiln::emulated {

/// How an instruction takes part in the timing of its warp.
enum class Work : std::uint8_t {
  compute,    ///< on the pipe of its unit
  issue,      ///< only an issue slot is known of it
  product,    ///< of matrices
  transpose,  ///< of a matrix of 8 by 8, on the pipe of shared memory
  load,       ///< of whatever memory it turns out to be
  store,
  copy,     ///< cp.async: global to shared memory, in the background
  commit,   ///< closes a group of copies
  wait,     ///< for groups of copies
  barrier,  ///< for all warps of the block
  jump,     ///< to one target; a short one ahead becomes a guard
  branch,   ///< any other, and an exit
};

/// What an instruction does with its first operand if that is a register, a vector or a pair.
/// Others are read.
enum class Result : std::uint8_t { written, accumulated, none };

/// Where a result comes from, as far as AddressBases wants to know it.
enum class Flow : std::uint8_t {
  computed,    ///< from the operands
  moved,       ///< likewise, by a mov
  difference,  ///< of two operands
  chosen,      ///< one of the operands
  loaded,      ///< out of memory
  number,      ///< not an address, whatever it was computed from
  copied,      ///< to the first address, the only one in shared memory
};

/// Which of a profile's rates the matrix units have for an instruction.
enum class MatrixRate : std::uint8_t { f16, tf32, f64, s8, e4m3 };

/// The row of an instruction has these, and its decode function refines what depends on modifiers
/// and operands.
struct Traits {
  /// Instructions that the assembler makes of it: PTX is not what runs, moves and conversions of
  /// addresses vanish, divisions grow. Typical of what ptxas does.
  float slots = 1.0F;
  Work work = Work::compute;
  Result result = Result::written;
  Flow flow = Flow::computed;
  MatrixRate rate = MatrixRate::f16;  ///< of a product
  bool by_warpgroup = false;          ///< a product of four warps: wgmma
  float multiply_adds = 0.0F;         ///< of a product
  float transposes = 0.0F;            ///< of a load: by movmatrix after it
  int groups = 0;  ///< of a wait: that may stay open; -1: none, nor copies of no group
};

/// Traits::slots of integers of 64 bits: two instructions, some of which the assembler saves.
inline constexpr float kLongSlots = 1.5F;

}  // namespace kiln::emulated
