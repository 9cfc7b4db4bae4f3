// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/emulated/decode/program.hpp"
#include "runtime/emulated/decode/traits.hpp"
#include "runtime/emulated/ptx/ptx_module.hpp"

namespace kiln::emulated {

/// The address of a module's global or constant variable.
using SymbolAddress = std::function<std::uint64_t(const ptx::Variable& variable)>;

/// Decodes an entry with everything it calls. Throws Error(device) that names the instruction and
/// its source line if anything in it is not known to the emulator.
[[nodiscard]] std::shared_ptr<const Program> decode(const ptx::Module& module,
                                                    const std::string& entry,
                                                    const SymbolAddress& address_of);

/// Bytes of a lane in the row of a register of this type: 0 for predicates, at least 2 for others.
[[nodiscard]] int lane_bytes(ptx::Type type);

class FunctionDecoder;

/// A memory operand: [row + offset], or a constant address when `row` is kNoRow.
struct AddressOperand {
  std::uint32_t row = kNoRow;
  int lane_bytes = 8;  ///< 4 or 8: width of the row
  std::int64_t offset = 0;
  /// The space of the variable that it names; generic when it names none.
  ptx::Space space = ptx::Space::generic;
};

/// One instruction being decoded. Every dotted part must be taken: what is left over is an error,
/// so that no modifier is ever ignored by mistake.
class DecodeContext {
 public:
  DecodeContext(FunctionDecoder& owner, const ptx::Instruction& in);

  [[nodiscard]] const ptx::Instruction& in() const { return in_; }
  [[nodiscard]] FunctionDecoder& owner() { return owner_; }
  /// Those of the instruction's row, for the decode function to refine.
  [[nodiscard]] Traits& traits() { return traits_; }

  // Modifiers.
  /// Takes a part if it is there.
  bool take(std::string_view part);
  /// Takes the first part that is one of these; "" if none is.
  std::string_view take_one_of(std::initializer_list<std::string_view> parts);
  /// Takes the next part that is a type; fails if there is none.
  ptx::Type take_type();
  /// The parts that are left, in order.
  [[nodiscard]] const std::vector<std::string_view>& left() const { return left_; }
  /// Takes the first part that is left, "" if none is.
  std::string_view take_next();

  // Operands.
  [[nodiscard]] std::size_t operands() const { return in_.operands.size(); }
  [[nodiscard]] const ptx::Operand& operand(std::size_t i) const;
  [[nodiscard]] bool is_immediate(const ptx::Operand& operand) const;
  /// Type of a register operand; none for others.
  [[nodiscard]] ptx::Type register_type(const ptx::Operand& operand) const;
  /// Row of a source of this type: a register as wide as that, an immediate, a special register,
  /// or the address of a variable. Fails if the register has another width.
  [[nodiscard]] std::uint32_t source(const ptx::Operand& operand, ptx::Type type);
  [[nodiscard]] std::uint32_t source(std::size_t i, ptx::Type type) {
    return source(operand(i), type);
  }
  /// Row of a destination register as wide as the type; a row nobody reads for `_`.
  [[nodiscard]] std::uint32_t destination(const ptx::Operand& operand, ptx::Type type);
  [[nodiscard]] std::uint32_t destination(std::size_t i, ptx::Type type) {
    return destination(operand(i), type);
  }
  /// Row of a source: a predicate register or an immediate truth value. `negated` tells of !%p;
  /// where the instruction does not allow that, pass null.
  [[nodiscard]] std::uint32_t predicate(const ptx::Operand& operand, bool* negated = nullptr);
  /// Value of an immediate; fails for anything else.
  [[nodiscard]] std::int64_t immediate(std::size_t i) const;
  [[nodiscard]] AddressOperand address(const ptx::Operand& operand);
  [[nodiscard]] AddressOperand address(std::size_t i) { return address(operand(i)); }
  /// Rows of the elements of {a, b, c}, or of one operand without braces.
  [[nodiscard]] std::vector<std::uint32_t> sources(const ptx::Operand& operand, ptx::Type type);
  [[nodiscard]] std::vector<std::uint32_t> destinations(const ptx::Operand& operand,
                                                        ptx::Type type);
  /// The predicate row of the carry flag (add.cc and its like).
  [[nodiscard]] std::uint32_t carry_row();
  /// A row for the executing function's own use, zero at first.
  [[nodiscard]] std::uint32_t scratch(int bytes_per_lane);
  [[nodiscard]] std::uint32_t constant(std::uint64_t value, int bytes_per_lane);

  // Results.
  /// Puts another instruction with the same guard before the one being decoded.
  void emit_before(Instr out, const Traits& traits);
  /// A register of 32 bits is copied as it is: see Program::moved_rows.
  void note_moved_word(std::uint32_t row);
  /// Keeps the list as long as the program and hangs it on the instruction.
  void set_rows(Instr& out, const std::vector<std::uint32_t>& rows);
  template <class T>
  const T* keep(T detail) {
    auto shared = std::make_shared<const T>(std::move(detail));
    const T* raw = shared.get();
    keep_shared(std::move(shared));
    return raw;
  }

  /// Throws Error(device): "kernel.cu:37: ld.global.foo <text>, in '<the instruction>'".
  [[noreturn]] void fail(const std::string& text) const;
  void expect_operands(std::size_t count) const;

 private:
  void keep_shared(std::shared_ptr<const void> detail);
  /// The bits of an immediate as a value of the type; fails for a real of a type that has none.
  [[nodiscard]] std::uint64_t immediate_bits(const ptx::Operand& operand, ptx::Type type) const;

  FunctionDecoder& owner_;
  const ptx::Instruction& in_;
  std::vector<std::string_view> left_;  ///< parts after the first that nothing has taken yet
  Traits traits_;
};

}  // namespace kiln::emulated
