// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/emulated/decode/decoder.hpp"
#include "runtime/emulated/decode/program.hpp"
#include "runtime/emulated/decode/traits.hpp"

/// \file
/// The table of instructions: a row for each, beside the functions that it names. Whatever else
/// wants to know of an instruction asks its row; nothing reads the opcode's text again.

namespace kiln::emulated {

/// Types of PTX. Empty: any, or none.
class TypeSet {
 public:
  constexpr TypeSet() = default;
  constexpr TypeSet(std::initializer_list<ptx::Type> types) {
    for (const ptx::Type type : types) bits_ |= bit(type);
  }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  [[nodiscard]] constexpr bool has(ptx::Type type) const { return (bits_ & bit(type)) != 0; }
  [[nodiscard]] constexpr TypeSet operator|(TypeSet other) const {
    TypeSet both;
    both.bits_ = bits_ | other.bits_;
    return both;
  }

 private:
  static constexpr std::uint32_t bit(ptx::Type type) {
    return std::uint32_t{1} << static_cast<unsigned>(type);
  }
  std::uint32_t bits_ = 0;
};

/// One instruction.
struct Opcode {
  /// "add", or with parts that must be there as well, anywhere in the opcode: "mul.lo",
  /// "cp.async.bulk". Of several rows that fit, the one with the most parts is taken, and its parts
  /// with it: the function does not see them.
  std::string_view name;
  /// Of the first part that is a type.
  TypeSet types;
  /// Takes the other parts and the operands, and fills `execute`. An instruction without is left
  /// out of the program.
  void (*decode)(DecodeContext& context, Instr& out);
  Unit unit;
  Traits traits = {};
};

/// The row of an instruction; takes the parts of its name. Fails if there is none.
[[nodiscard]] const Opcode& opcode_of(DecodeContext& context);

/// All rows, table by table.
[[nodiscard]] std::vector<std::span<const Opcode>> opcode_tables();

// The rows of each file of instructions.
[[nodiscard]] std::span<const Opcode> address_opcodes();
[[nodiscard]] std::span<const Opcode> bulk_opcodes();
[[nodiscard]] std::span<const Opcode> bulk_tensor_opcodes();
[[nodiscard]] std::span<const Opcode> carry_opcodes();
[[nodiscard]] std::span<const Opcode> cluster_opcodes();
[[nodiscard]] std::span<const Opcode> compare_opcodes();
[[nodiscard]] std::span<const Opcode> control_opcodes();
[[nodiscard]] std::span<const Opcode> convert_opcodes();
[[nodiscard]] std::span<const Opcode> copy_opcodes();
[[nodiscard]] std::span<const Opcode> field_opcodes();
[[nodiscard]] std::span<const Opcode> float_opcodes();
[[nodiscard]] std::span<const Opcode> half_opcodes();
[[nodiscard]] std::span<const Opcode> integer_opcodes();
[[nodiscard]] std::span<const Opcode> logic_opcodes();
[[nodiscard]] std::span<const Opcode> matrix_memory_opcodes();
[[nodiscard]] std::span<const Opcode> matrix_multiply_opcodes();
[[nodiscard]] std::span<const Opcode> mbarrier_opcodes();
[[nodiscard]] std::span<const Opcode> memory_opcodes();
[[nodiscard]] std::span<const Opcode> move_opcodes();
[[nodiscard]] std::span<const Opcode> multiply_opcodes();
[[nodiscard]] std::span<const Opcode> permute_opcodes();
[[nodiscard]] std::span<const Opcode> select_opcodes();
[[nodiscard]] std::span<const Opcode> sign_opcodes();
[[nodiscard]] std::span<const Opcode> special_opcodes();
[[nodiscard]] std::span<const Opcode> video_opcodes();
[[nodiscard]] std::span<const Opcode> warp_opcodes();
[[nodiscard]] std::span<const Opcode> wgmma_opcodes();

}  // namespace kiln::emulated
