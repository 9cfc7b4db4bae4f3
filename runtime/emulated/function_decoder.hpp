// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "runtime/emulated/decoder.hpp"

namespace kiln::emulated {

/// Decodes one entry with the functions that it calls, which are copied in at each call.
class FunctionDecoder {
 public:
  FunctionDecoder(const ptx::Module& module, const SymbolAddress& address_of);

  [[nodiscard]] std::shared_ptr<const Program> run(const ptx::Function& entry);

  // For DecodeContext.
  [[nodiscard]] const ptx::Module& module() const { return module_; }
  [[nodiscard]] const ptx::Function& function() const { return *frame_->function; }
  [[nodiscard]] std::uint32_t register_row(int index) const;
  [[nodiscard]] ptx::Type register_type(int index) const;
  [[nodiscard]] std::uint32_t constant(std::uint64_t low, std::uint64_t high, int lane_bytes);
  [[nodiscard]] std::uint32_t special(Special special, int lane_bytes);
  [[nodiscard]] std::uint32_t carry_row();
  [[nodiscard]] std::uint32_t new_row(int lane_bytes);
  /// Where a variable that the function names lies: its space and the address within it.
  struct Place {
    ptx::Space space = ptx::Space::generic;
    std::uint64_t address = 0;
  };
  [[nodiscard]] Place place_of(int variable);
  Program& program() { return *program_; }
  /// Appends an instruction with the guard and origin of `in`.
  void emit(const ptx::Instruction& in, Instr out);

 private:
  /// One function being copied in.
  struct Frame {
    const ptx::Function* function = nullptr;
    std::vector<std::uint32_t> registers;     ///< rows
    std::vector<std::int64_t> local_offsets;  ///< of its variables in the thread's memory, or -1
    std::vector<std::uint32_t> begins;        ///< code index of each instruction of the body
    int depth = 0;
    Frame* caller = nullptr;
  };
  /// A branch whose target is known only when the whole function is decoded.
  struct Fixup {
    std::uint32_t code = 0;
    int label = 0;
  };
  struct TableFixup {
    std::uint32_t* targets = nullptr;
    const std::vector<int>* labels = nullptr;
  };

  void require_at_most(std::int64_t most, std::int64_t bytes, std::string_view what) const;
  void open_frame(Frame& frame);
  void decode_body(Frame& frame, bool entry);
  void decode_one(const ptx::Instruction& in, bool entry, std::vector<Fixup>& fixups,
                  std::vector<TableFixup>& tables, std::vector<std::uint32_t>& returns);
  void decode_call(DecodeContext& context);
  void note_registers(const ptx::Instruction& in);
  void pass(DecodeContext& context, const ptx::Operand& list, const ptx::Function& callee,
            Frame& inner, int first, int count);
  [[nodiscard]] std::int64_t new_local(std::int64_t bytes, std::int64_t alignment);

  const ptx::Module& module_;
  const SymbolAddress& address_of_;
  std::unordered_map<std::string_view, void (*)(DecodeContext&, Instr&)> opcodes_;
  std::shared_ptr<Program> program_;
  Frame* frame_ = nullptr;
  std::map<std::tuple<std::uint64_t, std::uint64_t, int>, std::uint32_t> constants_;
  std::map<std::pair<Special, int>, std::uint32_t> specials_;
  std::map<std::string, std::uint32_t, std::less<>> shared_;  ///< offsets of shared variables
  std::map<std::string, std::uint32_t, std::less<>> parameters_;
  std::int64_t local_bytes_ = 0;
  std::size_t decoded_ = 0;  ///< instructions, calls among them
  std::uint32_t carry_row_ = kNoRow;
};

/// Sets Instr::reconverge of every branch to the nearest instruction that all its paths lead to.
void place_joins(Program& program);

}  // namespace kiln::emulated
