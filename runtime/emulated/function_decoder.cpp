// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/function_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kiln/error.hpp"
#include "runtime/emulated/access.hpp"
#include "runtime/emulated/control.hpp"

namespace kiln::emulated {
namespace {

/// Calls deeper than this are taken for recursion without end.
constexpr int kDeepestCall = 64;
/// Copying every call in can grow without bounds where functions call others several times.
constexpr std::size_t kMostInstructions = 1'000'000;
/// Limits of compute capability 9.0, and far more registers than any compiler has left to assign.
constexpr std::int64_t kMostShared = 1 << 20;
constexpr std::int64_t kMostLocal = 512 << 10;
constexpr std::int64_t kMostParameters = 32764;
constexpr std::uint32_t kMostRegisterBytes = 32U << 20;

std::int64_t align_up(std::int64_t value, std::int64_t alignment) {
  const std::int64_t step = std::max<std::int64_t>(1, alignment);
  return (value + step - 1) / step * step;
}

/// Functions that an entry reaches through calls, itself first.
std::vector<const ptx::Function*> reachable(const ptx::Module& module, const ptx::Function& entry) {
  std::vector<const ptx::Function*> found{&entry};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const ptx::Instruction& in : found[i]->body) {
      for (const ptx::Operand& operand : in.operands) {
        if (operand.kind != ptx::Operand::Kind::function) continue;
        const ptx::Function* callee = module.find(operand.name);
        if (callee != nullptr && std::find(found.begin(), found.end(), callee) == found.end()) {
          found.push_back(callee);
        }
      }
    }
  }
  return found;
}

}  // namespace

std::string Program::place_of(std::uint32_t index) const {
  if (index >= origins.size()) return name;
  const ptx::Origin& at = origins[index];
  const auto file = static_cast<std::size_t>(at.file);
  if (at.line > 0 && file < files.size()) return fmt::format("{}:{}", files[file], at.line);
  return fmt::format("PTX line {}", at.ptx_line);
}

std::shared_ptr<const Program> decode(const ptx::Module& module, const std::string& entry,
                                      const SymbolAddress& address_of) {
  const ptx::Function* function = module.find(entry);
  if (function == nullptr || !function->entry || !function->defined) {
    throw Error(ErrorKind::device,
                fmt::format("the module has no kernel '{}'. Next: check its name.", entry));
  }
  return FunctionDecoder(module, address_of).run(*function);
}

FunctionDecoder::FunctionDecoder(const ptx::Module& module, const SymbolAddress& address_of)
    : module_(module), address_of_(address_of), program_(std::make_shared<Program>()) {
  for (const auto family : {integer_opcodes(), float_opcodes(), convert_opcodes(), data_opcodes(),
                            memory_opcodes(), copy_opcodes(), warp_opcodes(), matrix_opcodes(),
                            mbarrier_opcodes(), wgmma_opcodes(), cluster_opcodes()}) {
    for (const Opcode& opcode : family) opcodes_.emplace(opcode.name, opcode.decode);
  }
}

std::shared_ptr<const Program> FunctionDecoder::run(const ptx::Function& entry) {
  program_->name = entry.name;
  // Compilers write whole paths; the name tells enough, and does not depend on the machine.
  for (const std::string& file : module_.files) {
    program_->files.push_back(file.substr(file.rfind('/') + 1));
  }
  std::copy(std::begin(entry.max_threads), std::end(entry.max_threads),
            program_->max_threads.begin());
  std::copy(std::begin(entry.required_threads), std::end(entry.required_threads),
            program_->required_threads.begin());
  std::copy(std::begin(entry.cluster), std::end(entry.cluster), program_->cluster.begin());

  // Static shared memory first; what the launch adds begins behind it.
  std::int64_t shared = 0;
  std::int64_t dynamic_alignment = 16;
  const auto functions = reachable(module_, entry);
  for (const ptx::Function* function : functions) {
    for (const ptx::Variable& variable : function->variables) {
      if (variable.space != ptx::Space::shared || shared_.contains(variable.name)) continue;
      if (variable.external) {
        dynamic_alignment = std::max(dynamic_alignment, variable.alignment);
        continue;
      }
      shared = align_up(shared, variable.alignment);
      shared_.emplace(variable.name, kSharedBase + static_cast<std::uint32_t>(shared));
      shared += variable.bytes;
    }
  }
  require_at_most(kMostShared, shared, "of shared memory");
  program_->static_smem_bytes = static_cast<std::uint32_t>(align_up(shared, dynamic_alignment));

  std::int64_t parameter = 0;
  for (int i = 0; i < entry.parameter_count; ++i) {
    const ptx::Variable& variable = entry.variables[static_cast<std::size_t>(i)];
    parameter = align_up(parameter, variable.alignment);
    parameters_.emplace(variable.name, static_cast<std::uint32_t>(parameter));
    parameter += variable.bytes;
  }
  require_at_most(kMostParameters, parameter, "of parameters");
  program_->parameter_bytes = static_cast<std::uint32_t>(parameter);

  Frame frame;
  frame.function = &entry;
  open_frame(frame);
  decode_body(frame, true);
  // Falling off the end is an exit.
  ptx::Instruction end;
  end.parts = {"exit"};
  end.origin.ptx_line = entry.ptx_line;
  if (!entry.body.empty()) end.origin = entry.body.back().origin;
  Instr exit;
  exit.execute = &execute_exit;
  emit(end, exit);

  require_at_most(kMostLocal, local_bytes_, "of local memory in each thread");
  program_->local_bytes = static_cast<std::uint32_t>(align_up(local_bytes_, 16));
  auto& moved = program_->moved_rows;
  std::sort(moved.begin(), moved.end());
  moved.erase(std::unique(moved.begin(), moved.end()), moved.end());
  program_->registers = module_.registers;
  place_joins(*program_);
  return std::move(program_);
}

void FunctionDecoder::require_at_most(std::int64_t most, std::int64_t bytes,
                                      std::string_view what) const {
  if (bytes >= 0 && bytes <= most) return;
  throw Error(ErrorKind::device,
              fmt::format("kernel '{}' has {} bytes {}; {} are possible. Next: make its variables "
                          "smaller.",
                          program_->name, bytes, what, most));
}

void FunctionDecoder::open_frame(Frame& frame) {
  frame.registers.reserve(frame.function->registers.size());
  for (const ptx::Register& reg : frame.function->registers) {
    frame.registers.push_back(new_row(lane_bytes(reg.type)));
  }
  frame.local_offsets.assign(frame.function->variables.size(), -1);
}

void FunctionDecoder::decode_body(Frame& frame, bool entry) {
  Frame* const outer = frame_;
  frame_ = &frame;
  std::vector<Fixup> fixups;
  std::vector<TableFixup> tables;
  std::vector<std::uint32_t> returns;
  for (const ptx::Instruction& in : frame.function->body) {
    frame.begins.push_back(static_cast<std::uint32_t>(program_->code.size()));
    decode_one(in, entry, fixups, tables, returns);
  }
  const auto end = static_cast<std::uint32_t>(program_->code.size());
  frame.begins.push_back(end);
  const auto place = [&](int label) { return frame.begins[static_cast<std::size_t>(label)]; };
  for (const Fixup& fixup : fixups) program_->code[fixup.code].target = place(fixup.label);
  for (const TableFixup& table : tables) {
    std::transform(table.labels->begin(), table.labels->end(), table.targets, place);
  }
  for (const std::uint32_t at : returns) program_->code[at].target = end;
  frame_ = outer;
}

void FunctionDecoder::decode_one(const ptx::Instruction& in, bool entry, std::vector<Fixup>& fixups,
                                 std::vector<TableFixup>& tables,
                                 std::vector<std::uint32_t>& returns) {
  DecodeContext context(*this, in);
  // Calls count, too: those of empty functions copy nothing in.
  if (++decoded_ > kMostInstructions || program_->register_bytes > kMostRegisterBytes) {
    context.fail("makes the kernel larger than the emulator takes, once its calls are copied in");
  }
  const std::string& name = in.parts.front();
  Instr out;
  const auto here = static_cast<std::uint32_t>(program_->code.size());
  if (name == "bra") {
    context.take("uni");
    context.expect_operands(1);
    if (context.operand(0).kind != ptx::Operand::Kind::label) context.fail("needs a label");
    fixups.push_back({here, context.operand(0).index});
    out.execute = &execute_branch;
  } else if (name == "brx") {
    if (!context.take("idx")) context.fail("is known as brx.idx only");
    context.take("uni");
    context.expect_operands(2);
    const auto& lists = frame_->function->branch_tables;
    const auto list = static_cast<std::size_t>(context.operand(1).index);
    if (list >= lists.size()) context.fail("names no list of targets");
    context.set_rows(out, std::vector<std::uint32_t>(lists[list].targets.size()));
    tables.push_back({program_->lists.back().get(), &lists[list].targets});
    out.a = context.source(0, ptx::Type::u32);
    out.execute = &execute_branch_table;
  } else if (name == "exit" || (name == "ret" && entry)) {
    context.take("uni");
    out.execute = &execute_exit;
  } else if (name == "ret") {
    context.take("uni");
    returns.push_back(here);
    out.execute = &execute_branch;
  } else if (name == "trap") {
    out.execute = &execute_trap;
  } else if (name == "call") {
    decode_call(context);
    return;
  } else if (name == "pragma" || name == "nop" || name == "brkpt") {
    return;
  } else {
    const auto opcode = opcodes_.find(name);
    if (opcode == opcodes_.end()) context.fail("is an instruction that the emulator does not know");
    opcode->second(context, out);
  }
  if (!context.left().empty()) {
    context.fail(fmt::format("has the part '.{}', which the emulator does not know here",
                             context.left().front()));
  }
  emit(in, out);
}

void FunctionDecoder::emit(const ptx::Instruction& in, Instr out) {
  if (in.guard >= 0) {
    out.guard = register_row(in.guard);
    out.guard_negated = in.guard_negated;
  }
  out.index = static_cast<std::uint32_t>(program_->code.size());
  const bool moves_words = in.parts.front() == "mov" && in.parts.back().ends_with("32");
  if (moves_words && out.d != kNoRow) program_->moved_rows.push_back(out.d);
  program_->code.push_back(out);
  program_->origins.push_back(in.origin);
  program_->opcodes.push_back(in.opcode());
  note_registers(in);
}

void FunctionDecoder::note_registers(const ptx::Instruction& in) {
  using Kind = ptx::Operand::Kind;
  std::vector<std::uint32_t> writes;
  std::vector<std::uint32_t> reads;
  const auto add = [this](const auto& self, const ptx::Operand& operand,
                          std::vector<std::uint32_t>& to) -> void {
    if (operand.kind == Kind::reg) to.push_back(register_row(operand.index));
    for (const ptx::Operand& element : operand.elements) self(self, element, to);
  };
  // What begins with a register writes it, but for the few that have no result. Addresses are read.
  const std::string& name = in.parts.front();
  const bool has_result = name != "bar" && name != "barrier" && name != "bra" && name != "brx" &&
                          name != "call" && name != "nanosleep";
  for (std::size_t i = 0; i < in.operands.size(); ++i) {
    const ptx::Operand& operand = in.operands[i];
    const bool written =
        i == 0 && has_result &&
        (operand.kind == Kind::reg || operand.kind == Kind::vector || operand.kind == Kind::pair);
    add(add, operand, written ? writes : reads);
    if (written && name == "wgmma") add(add, operand, reads);
  }
  if (in.guard >= 0) reads.push_back(register_row(in.guard));
  auto& rows = program_->used_rows;
  program_->uses.push_back({static_cast<std::uint32_t>(rows.size()),
                            static_cast<std::uint16_t>(writes.size()),
                            static_cast<std::uint16_t>(reads.size())});
  rows.insert(rows.end(), writes.begin(), writes.end());
  rows.insert(rows.end(), reads.begin(), reads.end());
}

std::uint32_t FunctionDecoder::register_row(int index) const {
  return frame_->registers[static_cast<std::size_t>(index)];
}

ptx::Type FunctionDecoder::register_type(int index) const {
  return frame_->function->registers[static_cast<std::size_t>(index)].type;
}

std::uint32_t FunctionDecoder::new_row(int bytes_per_lane) {
  const std::uint32_t row = program_->register_bytes;
  // Rows begin at multiples of 64 bytes, so that loops over lanes touch whole cache lines.
  const std::uint32_t bytes = static_cast<std::uint32_t>(bytes_per_lane) * kLanes;
  program_->register_bytes += std::max<std::uint32_t>(64, bytes);
  return row;
}

std::uint32_t FunctionDecoder::constant(std::uint64_t low, std::uint64_t high, int bytes_per_lane) {
  if (bytes_per_lane == 2) low &= 0xffffU;
  if (bytes_per_lane == 4) low &= 0xffffffffU;
  const auto [at, fresh] = constants_.try_emplace({low, high, bytes_per_lane}, 0);
  if (fresh) {
    at->second = new_row(bytes_per_lane);
    program_->constants.push_back(
        {at->second, static_cast<std::uint8_t>(bytes_per_lane), low, high});
  }
  return at->second;
}

std::uint32_t FunctionDecoder::special(Special special, int bytes_per_lane) {
  const auto [at, fresh] = specials_.try_emplace({special, bytes_per_lane}, 0);
  if (fresh) {
    at->second = new_row(bytes_per_lane);
    program_->specials.push_back({at->second, static_cast<std::uint8_t>(bytes_per_lane), special});
  }
  return at->second;
}

std::uint32_t FunctionDecoder::carry_row() {
  if (carry_row_ == kNoRow) carry_row_ = new_row(0);
  return carry_row_;
}

std::int64_t FunctionDecoder::new_local(std::int64_t bytes, std::int64_t alignment) {
  const std::int64_t offset = align_up(local_bytes_, alignment);
  local_bytes_ = offset + bytes;
  return offset;
}

FunctionDecoder::Place FunctionDecoder::place_of(int index) {
  const auto at = static_cast<std::size_t>(index);
  const ptx::Variable& variable = frame_->function->variables[at];
  switch (variable.space) {
    case ptx::Space::shared:
      if (variable.external) return {ptx::Space::shared, kSharedBase + program_->static_smem_bytes};
      return {ptx::Space::shared, shared_.find(variable.name)->second};
    case ptx::Space::param:
      if (frame_->depth == 0 && parameters_.contains(variable.name)) {
        return {ptx::Space::param, parameters_.find(variable.name)->second};
      }
      [[fallthrough]];
    case ptx::Space::local: {
      // Arguments and results of calls are memory of the thread, too.
      std::int64_t& offset = frame_->local_offsets[at];
      if (offset < 0) offset = new_local(variable.bytes, variable.alignment);
      return {ptx::Space::local, static_cast<std::uint64_t>(offset)};
    }
    case ptx::Space::constant:
    case ptx::Space::global:
    case ptx::Space::generic:
      break;
  }
  return {ptx::Space::global, address_of_(variable)};
}

void FunctionDecoder::decode_call(DecodeContext& context) {
  context.take("uni");
  const ptx::Instruction& in = context.in();
  const auto function = std::find_if(in.operands.begin(), in.operands.end(), [](const auto& op) {
    return op.kind == ptx::Operand::Kind::function;
  });
  if (function == in.operands.end()) context.fail("goes through a pointer");
  const ptx::Function* callee = module_.find(function->name);
  if (callee == nullptr || !callee->defined) {
    Instr out;
    if (decode_host_call(context, function->name, out)) {
      emit(in, out);
      return;
    }
    context.fail(fmt::format("calls '{}', which the module does not define", function->name));
  }
  Frame inner;
  inner.function = callee;
  inner.depth = frame_->depth + 1;
  inner.caller = frame_;
  for (const Frame* frame = frame_; frame != nullptr; frame = frame->caller) {
    if (frame->function == callee) {
      context.fail(fmt::format("calls '{}', which calls itself", callee->name));
    }
  }
  if (inner.depth > kDeepestCall) context.fail("nests calls too deeply");
  open_frame(inner);

  // A guarded call jumps over the copy for the lanes that do not call.
  const std::size_t skip = program_->code.size();
  if (in.guard >= 0) {
    ptx::Instruction jump = in;
    jump.guard_negated = !in.guard_negated;
    Instr branch;
    branch.execute = &execute_branch;
    emit(jump, branch);
  }
  const std::size_t before = static_cast<std::size_t>(function - in.operands.begin());
  const ptx::Operand none{ptx::Operand::Kind::vector, false, -1, 0, {}, {}};
  const ptx::Operand& results = before > 0 ? in.operands[0] : none;
  const ptx::Operand& arguments = before + 1 < in.operands.size() ? in.operands[before + 1] : none;
  pass(context, arguments, *callee, inner, 0, callee->parameter_count);
  pass(context, results, *callee, inner, callee->parameter_count, callee->return_count);
  decode_body(inner, false);
  if (in.guard >= 0) {
    program_->code[skip].target = static_cast<std::uint32_t>(program_->code.size());
  }
}

/// Makes the callee's parameters the same memory as the caller's argument variables.
void FunctionDecoder::pass(DecodeContext& context, const ptx::Operand& list,
                           const ptx::Function& callee, Frame& inner, int first, int count) {
  const std::size_t given = list.kind == ptx::Operand::Kind::vector ? list.elements.size() : 1;
  if (given != static_cast<std::size_t>(count)) {
    context.fail(fmt::format("gives '{}' {} values where it has {}", callee.name, given, count));
  }
  for (std::size_t i = 0; i < given; ++i) {
    const ptx::Operand& value = list.kind == ptx::Operand::Kind::vector ? list.elements[i] : list;
    if (value.kind != ptx::Operand::Kind::variable) {
      context.fail("passes a value that is no .param variable");
    }
    inner.local_offsets[static_cast<std::size_t>(first) + i] =
        static_cast<std::int64_t>(place_of(value.index).address);
  }
}

}  // namespace kiln::emulated
