// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/decode/function_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "kiln/error.hpp"
#include "runtime/emulated/decode/access.hpp"
#include "runtime/emulated/decode/control.hpp"
#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/decode/report.hpp"

namespace kiln::emulated {
namespace {

/// Copying every call in can grow without bounds where functions call others several times.
/// Parts of opcodes count, and so do operands.
constexpr std::size_t kMostDecoded = 3'000'000;
/// Parts of an opcode, "add.s32" has two.
constexpr std::size_t kMostParts = 32;
/// Bytes. More shared memory than any GPU has, the limits of a thread's local memory and of a
/// kernel's parameters, and far more registers than any compiler has left to assign.
constexpr std::int64_t kMostShared = 1 << 20;
constexpr std::int64_t kMostLocal = 512 << 10;
constexpr std::int64_t kMostParameters = 32764;
constexpr std::uint64_t kMostRegisterBytes = 32U << 20;

std::int64_t align_up(std::int64_t value, std::int64_t alignment) {
  const std::int64_t step = std::max<std::int64_t>(1, alignment);
  return (value + step - 1) / step * step;
}

/// Operands, with those that they consist of.
std::size_t count_of(const std::vector<ptx::Operand>& operands) {
  std::size_t count = operands.size();
  for (const ptx::Operand& operand : operands) count += count_of(operand.elements);
  return count;
}

/// See FunctionDecoder::shared_.
std::pair<const ptx::Function*, int> key_of(const ptx::Function& function, std::size_t index) {
  const int of_module = function.variables[index].module_index;
  if (of_module >= 0) return {nullptr, of_module};
  return {&function, static_cast<int>(index)};
}

}  // namespace

void expect_no_parts(const DecodeContext& context) {
  if (context.left().empty()) return;
  context.fail(fmt::format("has the modifier '.{}', which the emulator does not support here",
                           context.left().front()));
}

std::string place_text(const ptx::Origin& at, const std::vector<std::string>& files) {
  const auto file = static_cast<std::size_t>(at.file);
  if (at.line > 0 && file < files.size()) return fmt::format("{}:{}", files[file], at.line);
  return fmt::format("PTX line {}", at.ptx_line);
}

std::string Program::place_of(std::uint32_t index) const {
  return index < origins.size() ? place_text(origins[index], files) : name;
}

std::string Program::caller_of(std::uint32_t index) const {
  if (index >= origins.size() || origins[index].outer_line <= 0) return {};
  const ptx::Origin& at = origins[index];
  // A lambda that is called where it stands, or what a header of CUDA's has for that line.
  if (at.outer_file == at.file && at.outer_line == at.line) return {};
  const auto file = static_cast<std::size_t>(at.outer_file);
  return file < files.size() ? fmt::format("{}:{}", files[file], at.outer_line) : "";
}

std::string Program::site_of(std::uint32_t index) const {
  const std::string caller = caller_of(index);
  if (caller.empty()) return place_of(index);
  return fmt::format("{} (called at {})", place_of(index), caller);
}

const SharedVariable* Program::shared_variable_at(std::uint32_t offset) const {
  const auto at =
      std::find_if(shared_variables.begin(), shared_variables.end(),
                   [&](const SharedVariable& each) { return offset - each.begin < each.bytes; });
  return at == shared_variables.end() ? nullptr : &*at;
}

std::string Program::shared_text(std::uint32_t offset, int element_bytes) const {
  if (const SharedVariable* const variable = shared_variable_at(offset)) {
    if (std::cmp_equal(variable->bytes, element_bytes)) return variable->name;
    return place_within(variable->name, offset - variable->begin, element_bytes);
  }
  if (offset < static_smem_bytes || dynamic_shared_name.empty()) {
    return fmt::format("offset {}", offset);
  }
  return place_within(dynamic_shared_name, offset - static_smem_bytes, element_bytes);
}

std::shared_ptr<const Program> decode(const ptx::Module& module, const std::string& entry,
                                      const SymbolAddress& address_of) {
  const ptx::Function* function = module.find(entry);
  if (function == nullptr || !function->entry || !function->defined) {
    throw Error(
        ErrorKind::device,
        fmt::format("the module has no kernel '{}'. Next: check the name of the kernel.", entry));
  }
  return FunctionDecoder(module, address_of).run(*function);
}

FunctionDecoder::FunctionDecoder(const ptx::Module& module, const SymbolAddress& address_of)
    : module_(module),
      address_of_(address_of),
      program_(std::make_shared<Program>()),
      local_{"of local memory in each thread", kMostLocal} {
  for (const ptx::Function& function : module.functions) {
    functions_.emplace(function.name, &function);
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

  place_shared(entry);
  Frame frame;
  frame.function = &entry;
  open_frame(frame);
  Pool parameters{"of parameters", kMostParameters};
  for (std::size_t i = 0; i < static_cast<std::size_t>(entry.parameter_count); ++i) {
    frame.places[i] = Place{ptx::Space::param, append(parameters, entry.variables[i])};
  }
  program_->parameter_bytes = static_cast<std::uint32_t>(parameters.used);

  decode_body(frame);
  // Falling off the end is an exit.
  ptx::Instruction end;
  end.parts = {"exit"};
  end.origin.ptx_line = entry.ptx_line;
  if (!entry.body.empty()) end.origin = entry.body.back().origin;
  Instr exit;
  exit.execute = &execute_exit;
  emit(end, exit, {.work = Work::branch, .result = Result::none});

  program_->local_bytes = static_cast<std::uint32_t>(align_up(local_.peak, 16));
  auto& moved = program_->moved_rows;
  std::sort(moved.begin(), moved.end());
  moved.erase(std::unique(moved.begin(), moved.end()), moved.end());
  const auto noted = module_.registers.find(entry.name);
  program_->registers = noted == module_.registers.end() ? 0 : noted->second;
  place_joins(*program_);
  program_->address_bases = bases_.of_addresses();
  return std::move(program_);
}

std::uint32_t FunctionDecoder::append(Pool& pool, const ptx::Variable& variable) const {
  const std::int64_t address = align_up(pool.begin + pool.used, variable.alignment);
  pool.used = address - pool.begin + variable.bytes;
  pool.peak = std::max(pool.peak, pool.used);
  if (pool.used > pool.most) {
    throw Error(ErrorKind::device, fmt::format("kernel '{}' needs {} bytes {}; the limit is {} "
                                               "bytes. Next: make the kernel's variables smaller.",
                                               program_->name, pool.used, pool.what, pool.most));
  }
  return static_cast<std::uint32_t>(address);
}

/// Static shared memory comes first, that of all functions which the entry reaches; what the launch
/// adds begins behind it.
void FunctionDecoder::place_shared(const ptx::Function& entry) {
  Pool pool{"of shared memory", kMostShared, kSharedBase};
  std::int64_t dynamic_alignment = 16;
  std::set<std::string> dynamic_names;
  std::vector<const ptx::Function*> functions{&entry};
  std::unordered_set<const ptx::Function*> found{&entry};
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const ptx::Function* const function = functions[i];
    for (std::size_t k = 0; k < function->variables.size(); ++k) {
      const ptx::Variable& variable = function->variables[k];
      if (variable.space != ptx::Space::shared) continue;
      if (variable.external) {
        dynamic_alignment = std::max(dynamic_alignment, variable.alignment);
        dynamic_names.insert(plain_variable_name(variable.name));
        continue;
      }
      const auto [at, fresh] = shared_.try_emplace(key_of(*function, k), 0);
      if (!fresh) continue;
      at->second = append(pool, variable);
      program_->shared_variables.push_back({plain_variable_name(variable.name),
                                            at->second - kSharedBase,
                                            static_cast<std::uint32_t>(variable.bytes)});
      bases_.name(at->second);
    }
    for (const ptx::Instruction& in : function->body) {
      for (const ptx::Function* const callee : reached_by(in)) {
        if (found.insert(callee).second) functions.push_back(callee);
      }
    }
  }
  const std::int64_t end = align_up(pool.begin + pool.used, dynamic_alignment);
  program_->static_smem_bytes = static_cast<std::uint32_t>(end - pool.begin);
  if (dynamic_names.size() == 1) program_->dynamic_shared_name = *dynamic_names.begin();
}

void FunctionDecoder::open_frame(Frame& frame) {
  frame.registers.reserve(frame.function->registers.size());
  for (const ptx::Register& reg : frame.function->registers) {
    frame.registers.push_back(new_row(lane_bytes(reg.type)));
  }
  frame.places.resize(frame.function->variables.size());
}

void FunctionDecoder::decode_body(Frame& frame) {
  Frame* const outer = frame_;
  frame_ = &frame;
  // Now, and not where they are first named: behind a call that place would have been the callee's,
  // and would be again in the next turn of a loop.
  for (std::size_t i = 0; i < frame.function->variables.size(); ++i) {
    if (frame.function->variables[i].space == ptx::Space::local) {
      (void)place_of(static_cast<int>(i));
    }
  }
  for (const ptx::Instruction& in : frame.function->body) {
    frame.begins.push_back(next_index());
    decode_one(in);
  }
  const std::uint32_t end = next_index();
  frame.begins.push_back(end);
  const auto place = [&](int label) { return frame.begins[static_cast<std::size_t>(label)]; };
  for (const Fixup& fixup : frame.fixups) program_->code[fixup.code].target = place(fixup.label);
  for (const TableFixup& table : frame.tables) {
    std::transform(table.labels->begin(), table.labels->end(), table.targets, place);
  }
  for (const std::uint32_t at : frame.returns) program_->code[at].target = end;
  frame_ = outer;
}

void FunctionDecoder::decode_one(const ptx::Instruction& in) {
  DecodeContext context(*this, in);
  if (in.parts.size() > kMostParts) context.fail("has too many modifiers");
  // Calls count, too: those of empty functions copy nothing in.
  charge(context, in.parts.size() + count_of(in.operands));
  if (in.guard >= 0 && register_type(in.guard) != ptx::Type::pred) {
    context.fail("has a guard that is not a predicate");
  }
  const Opcode& opcode = opcode_of(context);
  Instr out;
  out.unit = opcode.unit;
  context.traits() = opcode.traits;
  opcode.decode(context, out);
  expect_no_parts(context);
  if (out.execute != nullptr) emit(in, out, context.traits());
}

void FunctionDecoder::charge(const DecodeContext& context, std::size_t items) {
  decoded_ += items;
  if (decoded_ > kMostDecoded) {
    context.fail("does not fit: with all calls inlined, the kernel is too large for the emulator");
  }
}

void FunctionDecoder::emit(const ptx::Instruction& in, Instr out, const Traits& traits) {
  if (in.guard >= 0) {
    out.guard = register_row(in.guard);
    out.guard_negated = in.guard_negated;
  }
  out.index = next_index();
  program_->code.push_back(out);
  program_->origins.push_back(in.origin);
  program_->opcodes.push_back(in.opcode());
  program_->traits.push_back(traits);
  note_registers(in, traits);
}

void FunctionDecoder::note_registers(const ptx::Instruction& in, const Traits& traits) {
  using Kind = ptx::Operand::Kind;
  std::vector<std::uint32_t> writes;
  std::vector<std::uint32_t> reads;
  const auto add = [this](const auto& self, const ptx::Operand& operand,
                          std::vector<std::uint32_t>& to) -> void {
    if (operand.kind == Kind::reg) to.push_back(register_row(operand.index));
    for (const ptx::Operand& element : operand.elements) self(self, element, to);
  };
  bases_.begin(traits.flow);
  for (std::size_t i = 0; i < in.operands.size(); ++i) {
    const ptx::Operand& operand = in.operands[i];
    const bool written =
        i == 0 && traits.result != Result::none &&
        (operand.kind == Kind::reg || operand.kind == Kind::vector || operand.kind == Kind::pair);
    add(add, operand, written ? writes : reads);
    if (written && traits.result == Result::accumulated) add(add, operand, reads);
    note_bases(operand, written);
  }
  if (in.guard >= 0) reads.push_back(register_row(in.guard));
  auto& rows = program_->used_rows;
  program_->uses.push_back({static_cast<std::uint32_t>(rows.size()),
                            static_cast<std::uint16_t>(writes.size()),
                            static_cast<std::uint16_t>(reads.size())});
  rows.insert(rows.end(), writes.begin(), writes.end());
  rows.insert(rows.end(), reads.begin(), reads.end());
}

/// Predicates choose between addresses, but none is computed from them.
void FunctionDecoder::note_bases(const ptx::Operand& operand, bool written) {
  using Kind = ptx::Operand::Kind;
  if (operand.kind == Kind::reg && register_type(operand.index) != ptx::Type::pred) {
    const std::uint32_t row = register_row(operand.index);
    written ? bases_.write(row) : bases_.read(row);
  } else if (operand.kind == Kind::variable) {
    const auto& variable = frame_->function->variables[static_cast<std::size_t>(operand.index)];
    if (variable.space == ptx::Space::shared && !variable.external) {
      bases_.read_variable(static_cast<std::uint32_t>(place_of(operand.index).address));
    } else {
      bases_.read_other(variable.space == ptx::Space::shared);
    }
  }
  if (operand.kind == Kind::address) bases_.begin_address();
  for (const ptx::Operand& element : operand.elements) note_bases(element, written);
  if (operand.kind == Kind::address) bases_.end_address();
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
  const std::uint64_t bytes = std::max(64, bytes_per_lane * kLanes);
  if (row + bytes > kMostRegisterBytes) {
    throw Error(
        ErrorKind::device,
        fmt::format("kernel '{}' is too large for the emulator: with all calls inlined, a warp "
                    "needs more than {} bytes of registers. Next: run the kernel on a GPU.",
                    program_->name, kMostRegisterBytes));
  }
  program_->register_bytes += static_cast<std::uint32_t>(bytes);
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

std::uint32_t FunctionDecoder::special(const ptx::SpecialUse& use, int bytes_per_lane) {
  const auto [at, fresh] = specials_.try_emplace({use, bytes_per_lane}, 0);
  if (fresh) {
    at->second = new_row(bytes_per_lane);
    program_->specials.push_back({at->second, static_cast<std::uint8_t>(bytes_per_lane), use});
  }
  return at->second;
}

std::uint32_t FunctionDecoder::carry_row() {
  if (carry_row_ == kNoRow) carry_row_ = new_row(0);
  return carry_row_;
}

FunctionDecoder::Place FunctionDecoder::place_of(int index) {
  const auto at = static_cast<std::size_t>(index);
  std::optional<Place>& place = frame_->places[at];
  if (!place) place = new_place(at);
  return *place;
}

FunctionDecoder::Place FunctionDecoder::new_place(std::size_t index) {
  const ptx::Variable& variable = frame_->function->variables[index];
  switch (variable.space) {
    case ptx::Space::shared:
      if (variable.external) return {ptx::Space::shared, kSharedBase + program_->static_smem_bytes};
      return {ptx::Space::shared, shared_.at(key_of(*frame_->function, index))};
    case ptx::Space::param:
      // Arguments and results of calls are memory of the thread, too.
    case ptx::Space::local:
      return {ptx::Space::local, append(local_, variable)};
    case ptx::Space::constant:
    case ptx::Space::global:
    case ptx::Space::generic:
      break;
  }
  return {ptx::Space::global, address_of_(variable)};
}

}  // namespace kiln::emulated
