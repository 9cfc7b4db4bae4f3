// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
/// \file
/// Instructions that decide where a warp goes on. Their targets are known once the function is
/// decoded.

#include <string>

#include "runtime/emulated/decode/control.hpp"
#include "runtime/emulated/decode/function_decoder.hpp"
#include "runtime/emulated/decode/opcode.hpp"

namespace kiln::emulated {

// bra{.uni} label
void FunctionDecoder::decode_branch(DecodeContext& context, Instr& out) {
  context.take("uni");
  context.expect_operands(1);
  if (context.operand(0).kind != ptx::Operand::Kind::label) context.fail("needs a label");
  frame_->fixups.push_back({next_index(), context.operand(0).index});
  out.execute = &execute_branch;
}

// brx.idx{.uni} index, list
void FunctionDecoder::decode_branch_table(DecodeContext& context, Instr& out) {
  context.take("uni");
  context.expect_operands(2);
  const ptx::Operand& list = context.operand(1);
  if (list.kind != ptx::Operand::Kind::label) context.fail("needs a list of branch targets");
  const auto& targets =
      frame_->function->branch_tables[static_cast<std::size_t>(list.index)].targets;
  charge(context, targets.size());
  context.set_rows(out, std::vector<std::uint32_t>(targets.size()));
  frame_->tables.push_back({program_->lists.back().get(), &targets});
  out.a = context.source(0, ptx::Type::u32);
  out.execute = &execute_branch_table;
}

// ret{.uni}
void FunctionDecoder::decode_return(DecodeContext& context, Instr& out) {
  context.take("uni");
  context.expect_operands(0);
  const bool to_caller = frame_->caller != nullptr;
  if (to_caller) frame_->returns.push_back(next_index());
  out.execute = to_caller ? &execute_branch : &execute_exit;
}

namespace {

/// Rows are plain data; what they do is the decoder's own.
template <void (FunctionDecoder::*decode)(DecodeContext&, Instr&)>
void by_decoder(DecodeContext& context, Instr& out) {
  (context.owner().*decode)(context, out);
}

// exit{.uni}
void decode_exit(DecodeContext& context, Instr& out) {
  context.take("uni");
  context.expect_operands(0);
  out.execute = &execute_exit;
}

void decode_trap(DecodeContext& context, Instr& out) {
  context.expect_operands(0);
  out.execute = &execute_trap;
}

/// Without a debugger there is none that it would stop for: nothing is left of it.
void decode_breakpoint(DecodeContext& context, Instr&) {
  context.expect_operands(0);
}

constexpr Traits kBranch{.work = Work::branch, .result = Result::none};

constexpr Opcode kControlOpcodes[] = {
    {"bra",
     {},
     by_decoder<&FunctionDecoder::decode_branch>,
     Unit::control,
     {.work = Work::jump, .result = Result::none}},
    {"brx.idx", {}, by_decoder<&FunctionDecoder::decode_branch_table>, Unit::control, kBranch},
    {"ret", {}, by_decoder<&FunctionDecoder::decode_return>, Unit::control, kBranch},
    {"exit", {}, decode_exit, Unit::control, kBranch},
    {"call",
     {},
     by_decoder<&FunctionDecoder::decode_call>,
     Unit::control,
     {.result = Result::none, .flow = Flow::loaded}},
    {"trap", {}, decode_trap, Unit::control},
    {"brkpt", {}, decode_breakpoint, Unit::control},
};

}  // namespace

std::span<const Opcode> control_opcodes() {
  return kControlOpcodes;
}

}  // namespace kiln::emulated
