// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Calls: the function is copied in where it is called. A call through a pointer becomes a row of
// comparisons with the addresses of the functions that it can mean, each followed by a copy.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "runtime/emulated/decode/control.hpp"
#include "runtime/emulated/decode/function_decoder.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"
#include "runtime/emulated/engine/warp.hpp"

namespace kiln::emulated {
namespace {

/// Calls deeper than this are taken for recursion without end.
constexpr int kDeepestCall = 64;
/// Where functions lie: nothing else does, so that reading there is out of bounds.
constexpr std::uint64_t kFunctionWindow = std::uint64_t{4} << 56;
constexpr std::uint64_t kFunctionStep = 16;

/// Predicate `d` becomes true in lanes whose pointer in `a` is another than the immediate.
void execute_is_other_function(Warp& warp, const Instr& instr, LaneMask active) {
  LaneMask others = 0;
  for_active(active, [&](int lane) {
    const auto pointer = get<std::uint64_t>(warp.row(instr.a), lane);
    if (pointer != static_cast<std::uint64_t>(instr.immediate)) others |= LaneMask{1} << lane;
  });
  warp.set_predicate(instr.d, others, active);
}

void execute_lost_call(Warp& warp, const Instr& instr, LaneMask active) {
  const auto pointer = get<std::uint64_t>(warp.row(instr.a), std::countr_zero(active));
  warp.fail(instr, active, Finding::invalid_operand,
            fmt::format("calls address {:#x}, which the emulator cannot call. Either no function "
                        "with these parameters and results starts at this address, or the function "
                        "at this address is recursive",
                        pointer),
            pointer);
}

bool is_list(const ptx::Instruction& in, std::size_t i) {
  return i < in.operands.size() && in.operands[i].kind == ptx::Operand::Kind::vector;
}

}  // namespace

std::uint64_t address_of_function(const ptx::Module& module, std::string_view name) {
  const auto at = std::find_if(module.functions.begin(), module.functions.end(),
                               [&](const ptx::Function& one) { return one.name == name; });
  if (at == module.functions.end()) return 0;
  const auto index = static_cast<std::uint64_t>(at - module.functions.begin());
  return kFunctionWindow | ((index + 1) * kFunctionStep);
}

std::uint64_t FunctionDecoder::function_address(std::string_view name) const {
  return address_of_function(module_, name);
}

/// Functions whose address a body or a variable of the module holds, in the module's order.
const std::vector<const ptx::Function*>& FunctionDecoder::addressed() {
  if (addressed_) return *addressed_;
  std::set<std::string_view> names;
  for (const ptx::Variable& variable : module_.variables) {
    for (const ptx::Relocation& relocation : variable.relocations) names.insert(relocation.symbol);
  }
  for (const ptx::Function& function : module_.functions) {
    for (const ptx::Instruction& in : function.body) {
      if (in.parts.front() == "call") continue;
      for (const ptx::Operand& operand : in.operands) {
        if (operand.kind == ptx::Operand::Kind::function) names.insert(operand.name);
      }
    }
  }
  addressed_.emplace();
  for (const ptx::Function& function : module_.functions) {
    if (function.defined && !function.entry && names.contains(function.name)) {
      addressed_->push_back(&function);
    }
  }
  return *addressed_;
}

/// Functions that an instruction may call, or names for a later call.
std::vector<const ptx::Function*> FunctionDecoder::reached_by(const ptx::Instruction& in) {
  std::vector<const ptx::Function*> reached;
  bool named = false;
  for (const ptx::Operand& operand : in.operands) {
    if (operand.kind != ptx::Operand::Kind::function) continue;
    const auto found = functions_.find(operand.name);
    if (found == functions_.end()) continue;
    reached.push_back(found->second);
    named = true;
  }
  if (in.parts.front() == "call" && !named) return addressed();
  return reached;
}

// call (results), function, (arguments): each list only if it is not empty. Through a pointer, a
// prototype follows.
void FunctionDecoder::decode_call(DecodeContext& context, Instr& /*out*/) {
  using Kind = ptx::Operand::Kind;
  context.take("uni");
  expect_no_parts(context);
  const ptx::Instruction& in = context.in();
  CallSite site;
  site.at = is_list(in, 0) ? 1 : 0;
  const std::size_t last = is_list(in, site.at + 1) ? site.at + 1 : site.at;
  if (site.at > 0) site.results = in.operands[0].elements;
  if (last > site.at) site.arguments = in.operands[last].elements;
  const ptx::Operand& name = context.operand(site.at);
  const bool direct = name.kind == Kind::function;
  context.expect_operands(last + (direct ? 1 : 2));
  const ptx::Function* callee = nullptr;
  if (direct) {
    const auto found = functions_.find(name.name);
    if (found == functions_.end() || !found->second->defined) {
      Instr out;
      if (!decode_host_call(name.name, out)) {
        context.fail(
            fmt::format("calls '{}', but the module does not define this function", name.name));
      }
      emit(in, out, context.traits());
      return;
    }
    callee = found->second;
    if (is_open(*callee)) {
      context.fail(fmt::format("calls '{}', but the emulator does not support recursive functions",
                               callee->name));
    }
  }
  if (frame_->depth + 1 > kDeepestCall)
    context.fail("nests calls more deeply than the emulator supports");

  // A guarded call jumps over the copy for the lanes that do not call.
  const std::size_t skip = program_->code.size();
  if (in.guard >= 0) {
    ptx::Instruction jump = in;
    jump.guard_negated = !in.guard_negated;
    Instr branch;
    branch.execute = &execute_branch;
    emit(jump, branch, context.traits());
  }
  if (direct) {
    copy_in(context, site, *callee);
  } else {
    copy_in_all(context, site);
  }
  if (in.guard >= 0) {
    program_->code[skip].target = static_cast<std::uint32_t>(program_->code.size());
  }
}

bool FunctionDecoder::is_open(const ptx::Function& function) const {
  for (const Frame* frame = frame_; frame != nullptr; frame = frame->caller) {
    if (frame->function == &function) return true;
  }
  return false;
}

void FunctionDecoder::copy_in(const DecodeContext& context, const CallSite& site,
                              const ptx::Function& callee) {
  Frame inner;
  inner.function = &callee;
  inner.depth = frame_->depth + 1;
  inner.caller = frame_;
  charge(context, callee.variables.size());
  open_frame(inner);
  pass(context, site.arguments, inner, 0, callee.parameter_count);
  pass(context, site.results, inner, callee.parameter_count, callee.return_count);
  // What the callee keeps in local memory is free again when it has returned.
  const std::int64_t used = local_.used;
  decode_body(inner);
  local_.used = used;
}

void FunctionDecoder::copy_in_all(DecodeContext& context, const CallSite& site) {
  ptx::Instruction plain = context.in();  // lanes that do not call have been sent around it
  plain.guard = -1;
  const std::uint32_t pointer = context.source(site.at, ptx::Type::u64);
  std::vector<std::size_t> leaving;
  for (const ptx::Function* const callee : addressed()) {
    if (is_open(*callee) || !fits(site, *callee)) continue;
    charge(context, 3);  // the comparison and the two branches around the copy
    Instr compare;
    compare.execute = &execute_is_other_function;
    compare.unit = Unit::integer;
    compare.a = pointer;
    compare.d = context.scratch(0);
    compare.immediate = static_cast<std::int64_t>(function_address(callee->name));
    emit(plain, compare, context.traits());
    Instr next;
    next.execute = &execute_branch;
    next.guard = compare.d;
    const std::size_t around = program_->code.size();
    emit(plain, next, context.traits());
    copy_in(context, site, *callee);
    Instr leave;
    leave.execute = &execute_branch;
    leaving.push_back(program_->code.size());
    emit(plain, leave, context.traits());
    program_->code[around].target = static_cast<std::uint32_t>(program_->code.size());
  }
  Instr lost;
  lost.execute = &execute_lost_call;
  lost.a = pointer;
  emit(plain, lost, context.traits());
  for (const std::size_t at : leaving) {
    program_->code[at].target = static_cast<std::uint32_t>(program_->code.size());
  }
}

/// The .param variable that a value of a call names, or null.
const ptx::Variable* FunctionDecoder::passed(const ptx::Operand& value) const {
  if (value.kind != ptx::Operand::Kind::variable) return nullptr;
  const auto& variable = frame_->function->variables[static_cast<std::size_t>(value.index)];
  return variable.space == ptx::Space::param ? &variable : nullptr;
}

bool FunctionDecoder::fits(const CallSite& site, const ptx::Function& callee) const {
  const auto same = [&](const std::vector<ptx::Operand>& values, int first, int count) {
    if (values.size() != static_cast<std::size_t>(count)) return false;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto& parameter = callee.variables[static_cast<std::size_t>(first) + i];
      const ptx::Variable* const given = passed(values[i]);
      if (given == nullptr || given->bytes != parameter.bytes) return false;
      if (parameter.register_index >= 0) return false;
    }
    return true;
  };
  return same(site.arguments, 0, callee.parameter_count) &&
         same(site.results, callee.parameter_count, callee.return_count);
}

/// Makes the callee's parameters the same memory as the caller's argument variables.
void FunctionDecoder::pass(const DecodeContext& context, const std::vector<ptx::Operand>& values,
                           Frame& inner, int first, int count) {
  const ptx::Function& callee = *inner.function;
  if (values.size() != static_cast<std::size_t>(count)) {
    context.fail(fmt::format("calls '{}' with {} values, but the function declares {}", callee.name,
                             values.size(), count));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t to = static_cast<std::size_t>(first) + i;
    const ptx::Variable& parameter = callee.variables[to];
    if (parameter.register_index >= 0) {
      context.fail(fmt::format(
          "calls '{}', but the emulator does not support parameters in registers", callee.name));
    }
    const ptx::Variable* const given = passed(values[i]);
    if (given == nullptr) context.fail("passes a value that is not a .param variable");
    if (given->bytes != parameter.bytes) {
      context.fail(fmt::format("passes {} bytes, but the parameter of '{}' has {} bytes",
                               given->bytes, callee.name, parameter.bytes));
    }
    inner.places[to] = place_of(values[i].index);
  }
}

}  // namespace kiln::emulated
