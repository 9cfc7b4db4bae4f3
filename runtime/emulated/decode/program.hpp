// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/emulated/decode/traits.hpp"
#include "runtime/emulated/ptx/ptx_module.hpp"
#include "runtime/emulated/ptx/special_registers.hpp"
#include "runtime/model/units.hpp"

/// \file
/// The decoded form of one kernel: a flat list of instructions with a function to execute each,
/// calls inlined, operands resolved to rows of the warp's register file.

namespace kiln::emulated {

class Warp;
struct Instr;

inline constexpr int kLanes = 32;
using LaneMask = std::uint32_t;
inline constexpr LaneMask kAllLanes = 0xffffffffU;

/// Executes an instruction for the lanes of `active`, which is never empty.
using Execute = void (*)(Warp& warp, const Instr& instr, LaneMask active);

/// No row of the register file.
inline constexpr std::uint32_t kNoRow = 0xffffffffU;

/// One decoded instruction. The register file of a warp is an array of bytes; an operand is the
/// byte offset of its row, which holds the values of all 32 lanes side by side: a predicate as one
/// LaneMask, others 32 times 2, 4, 8 or 16 bytes. Immediates and special registers are rows, too,
/// filled before the kernel starts.
struct Instr {
  Execute execute = nullptr;
  std::uint32_t guard = kNoRow;
  bool guard_negated = false;
  Unit unit = Unit::control;
  std::uint8_t variant = 0;  ///< for the executing function to use as it likes
  std::uint8_t bytes = 0;    ///< of one element in memory
  std::uint32_t d = kNoRow;  ///< destination
  std::uint32_t a = kNoRow;
  std::uint32_t b = kNoRow;
  std::uint32_t c = kNoRow;
  std::uint32_t e = kNoRow;             ///< a fourth source, or a second destination
  std::uint32_t target = 0;             ///< of branches
  std::uint32_t reconverge = 0;         ///< where lanes that part at this branch meet again
  std::uint32_t index = 0;              ///< its place in the code
  std::uint32_t count = 0;              ///< of `rows`
  const std::uint32_t* rows = nullptr;  ///< of vectors, fragments and lists
  std::int64_t immediate = 0;
  const void* detail = nullptr;  ///< what rare instructions need besides; kept by the program
};

struct ConstantRow {
  std::uint32_t row = 0;
  std::uint8_t lane_bytes = 4;  ///< 0: a predicate
  std::uint64_t low = 0;
  std::uint64_t high = 0;  ///< of 16-byte values
};

/// A special register, which is a row like any other.
struct SpecialRow {
  std::uint32_t row = 0;
  std::uint8_t lane_bytes = 4;  ///< 0: a predicate
  ptx::SpecialUse use;
};

/// Which registers an instruction writes and reads, as PTX states them: rows of Program::used_rows,
/// writes first. Only the performance model asks.
struct RegisterUse {
  std::uint32_t first = 0;
  std::uint16_t writes = 0;
  std::uint16_t reads = 0;
};

/// "kernel.cu:37" or "PTX line 120", for people. `files` are those that origins name.
[[nodiscard]] std::string place_text(const ptx::Origin& at, const std::vector<std::string>& files);

/// A static variable in shared memory.
struct SharedVariable {
  std::string name;         ///< as C++ has it
  std::uint32_t begin = 0;  ///< its offset in the block's shared memory
  std::uint32_t bytes = 0;
};

/// A kernel, ready to run. Immutable; shared by all warps.
struct Program {
  std::string name;  ///< as lowered
  std::vector<Instr> code;
  std::vector<ptx::Origin> origins;  ///< of each instruction
  std::vector<std::string> opcodes;  ///< of each instruction, for messages
  std::vector<Traits> traits;        ///< of each instruction
  std::vector<std::string> files;    ///< that origins name
  std::vector<RegisterUse> uses;     ///< of each instruction
  std::vector<std::uint32_t> used_rows;
  std::uint32_t register_bytes = 0;  ///< of one warp
  std::vector<ConstantRow> constants;
  std::vector<SpecialRow> specials;
  /// Rows of 32-bit values that some mov writes, sorted: where unfinished accumulators of wgmma may
  /// have gone.
  std::vector<std::uint32_t> moved_rows;
  std::uint32_t parameter_bytes = 0;  ///< that a launch must give
  int registers = 0;                  ///< per thread after assembling; 0: nobody noted them
  std::uint32_t static_smem_bytes = 0;
  std::vector<SharedVariable> shared_variables;  ///< in the order of their offsets
  /// That of the kernel's `extern __shared__` array, which begins behind the static ones; "" if it
  /// has none, or several, which share their bytes.
  std::string dynamic_shared_name;
  /// Of each instruction, which of the static ones its first address is computed from, as its index
  /// + 1. 0: none, several, or nobody knows. Empty if there are fewer than two.
  std::vector<std::uint32_t> address_bases;
  std::uint32_t local_bytes = 0;  ///< per thread
  std::array<int, 3> max_threads{0, 0, 0};
  std::array<int, 3> required_threads{0, 0, 0};
  std::array<int, 3> cluster{0, 0, 0};
  std::vector<std::unique_ptr<std::uint32_t[]>> lists;
  std::vector<std::shared_ptr<const void>> details;

  /// place_text() of an instruction.
  [[nodiscard]] std::string place_of(std::uint32_t index) const;
  /// Where the outermost inlined call that brought the instruction stands, if elsewhere; else "".
  [[nodiscard]] std::string caller_of(std::uint32_t index) const;
  /// Both in one: "kernel.cu:37 (called at kernel.cu:80)".
  [[nodiscard]] std::string site_of(std::uint32_t index) const;
  /// The static variable that holds a byte of shared memory; null if none does.
  [[nodiscard]] const SharedVariable* shared_variable_at(std::uint32_t offset) const;
  /// A byte of shared memory, for people: place_within() its array, just the name of a variable
  /// that is one element, or "offset 1080" if no array is known.
  [[nodiscard]] std::string shared_text(std::uint32_t offset, int element_bytes) const;
};

}  // namespace kiln::emulated
