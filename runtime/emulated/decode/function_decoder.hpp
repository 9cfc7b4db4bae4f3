// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/emulated/decode/address_bases.hpp"
#include "runtime/emulated/decode/decoder.hpp"

namespace kiln::emulated {

/// Decodes one entry with the functions that it calls, which are copied in at each call.
class FunctionDecoder {
 public:
  FunctionDecoder(const ptx::Module& module, const SymbolAddress& address_of);

  [[nodiscard]] std::shared_ptr<const Program> run(const ptx::Function& entry);

  // For DecodeContext.
  [[nodiscard]] const ptx::Function& function() const { return *frame_->function; }
  [[nodiscard]] std::uint32_t register_row(int index) const;
  [[nodiscard]] ptx::Type register_type(int index) const;
  [[nodiscard]] std::uint32_t constant(std::uint64_t low, std::uint64_t high, int lane_bytes);
  [[nodiscard]] std::uint32_t special(const ptx::SpecialUse& use, int lane_bytes);
  [[nodiscard]] std::uint32_t carry_row();
  [[nodiscard]] std::uint32_t new_row(int lane_bytes);
  /// Where a variable lies: its space and the address within it.
  struct Place {
    ptx::Space space = ptx::Space::generic;
    std::uint64_t address = 0;
  };
  /// Of a variable that the function names.
  [[nodiscard]] Place place_of(int index);
  /// What a pointer to a function of the module holds; 0 if there is none of that name.
  [[nodiscard]] std::uint64_t function_address(std::string_view name) const;
  Program& program() { return *program_; }
  /// Appends an instruction with the guard and origin of `in`.
  void emit(const ptx::Instruction& in, Instr out, const Traits& traits);

  // For rows (control_opcodes.cpp, function_calls.cpp).
  void decode_branch(DecodeContext& context, Instr& out);
  void decode_branch_table(DecodeContext& context, Instr& out);
  void decode_return(DecodeContext& context, Instr& out);
  /// Copies the callee in. Leaves `out` without a function: nothing else is left of a call.
  void decode_call(DecodeContext& context, Instr& out);

 private:
  /// A branch whose target is known only when the whole function is decoded.
  struct Fixup {
    std::uint32_t code = 0;
    int label = 0;
  };
  struct TableFixup {
    std::uint32_t* targets = nullptr;
    const std::vector<int>* labels = nullptr;
  };
  /// One function being copied in.
  struct Frame {
    const ptx::Function* function = nullptr;
    std::vector<std::uint32_t> registers;      ///< rows
    std::vector<std::optional<Place>> places;  ///< of its variables, once somebody asked
    std::vector<std::uint32_t> begins;         ///< code index of each instruction of the body
    std::vector<Fixup> fixups;
    std::vector<TableFixup> tables;
    std::vector<std::uint32_t> returns;  ///< code indices
    int depth = 0;
    Frame* caller = nullptr;
  };
  /// What variables of one kind take together: "bytes of shared memory", of which there are `most`.
  struct Pool {
    std::string_view what;
    std::int64_t most = 0;
    std::int64_t begin = 0;  ///< address of the first byte
    std::int64_t used = 0;
    std::int64_t peak = 0;  ///< the most that was ever used
  };
  /// Appends a variable; the address that it gets.
  std::uint32_t append(Pool& pool, const ptx::Variable& variable) const;
  void place_shared(const ptx::Function& entry);
  void charge(const DecodeContext& context, std::size_t items);
  void open_frame(Frame& frame);
  void decode_body(Frame& frame);
  void decode_one(const ptx::Instruction& in);
  /// The operands of a call.
  struct CallSite {
    std::size_t at = 0;  ///< of the function, or of the pointer to it
    std::vector<ptx::Operand> arguments;
    std::vector<ptx::Operand> results;
  };
  void copy_in(const DecodeContext& context, const CallSite& site, const ptx::Function& callee);
  void copy_in_all(DecodeContext& context, const CallSite& site);
  /// It is being copied in already.
  [[nodiscard]] bool is_open(const ptx::Function& function) const;
  [[nodiscard]] bool fits(const CallSite& site, const ptx::Function& callee) const;
  [[nodiscard]] const ptx::Variable* passed(const ptx::Operand& value) const;
  [[nodiscard]] const std::vector<const ptx::Function*>& addressed();
  [[nodiscard]] std::vector<const ptx::Function*> reached_by(const ptx::Instruction& in);
  void note_registers(const ptx::Instruction& in, const Traits& traits);
  void note_bases(const ptx::Operand& operand, bool written);
  void pass(const DecodeContext& context, const std::vector<ptx::Operand>& values, Frame& inner,
            int first, int count);
  [[nodiscard]] Place new_place(std::size_t index);
  [[nodiscard]] std::uint32_t next_index() const {
    return static_cast<std::uint32_t>(program_->code.size());
  }

  const ptx::Module& module_;
  const SymbolAddress& address_of_;
  std::shared_ptr<Program> program_;
  Frame* frame_ = nullptr;
  std::map<std::tuple<std::uint64_t, std::uint64_t, int>, std::uint32_t> constants_;
  std::map<std::pair<ptx::SpecialUse, int>, std::uint32_t> specials_;
  std::unordered_map<std::string_view, const ptx::Function*> functions_;  ///< by name
  std::optional<std::vector<const ptx::Function*>> addressed_;            ///< once asked for
  /// Offsets of shared variables: of a function by its index there, of the module, with null, by
  /// its index in that. Names do not tell them apart.
  std::map<std::pair<const ptx::Function*, int>, std::uint32_t> shared_;
  AddressBases bases_;
  Pool local_;
  std::size_t decoded_ = 0;  ///< instructions, calls among them, and what they consist of
  std::uint32_t carry_row_ = kNoRow;
};

/// Fails for parts of an opcode that nothing has taken.
void expect_no_parts(const DecodeContext& context);

/// What a pointer to a function of the module holds; 0 if it has none of that name.
[[nodiscard]] std::uint64_t address_of_function(const ptx::Module& module, std::string_view name);

/// Sets Instr::reconverge of every branch to the nearest instruction that all its paths lead to.
void place_joins(Program& program);

}  // namespace kiln::emulated
