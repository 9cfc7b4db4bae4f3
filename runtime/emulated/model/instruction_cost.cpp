// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/model/instruction_cost.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace kiln::emulated {
namespace {

/// Multiply-adds of the largest instruction that wmma and mma become, m16n8k16.
constexpr double kProductsOfOne = 2048.0;
/// Jumps ahead over at most so many instructions of PTX do not keep the others from moving.
constexpr std::uint32_t kGuardedJump = 32;

bool has(std::string_view opcode, std::string_view part) {
  return opcode.find(part) != std::string_view::npos;
}
bool begins(std::string_view opcode, std::string_view part) {
  return opcode.substr(0, part.size()) == part;
}

/// Clocks that one part's pipe is busy with an instruction of a whole warp.
float warp_clocks(double lanes_per_clock) {
  return lanes_per_clock > 0.0 ? static_cast<float>(kLanes * kSubPartitions / lanes_per_clock)
                               : 0.0F;
}

/// bar.sync, barrier.cta.red and the like, and the waiting half of the cluster's barrier.
bool waits_for_the_block(std::string_view opcode) {
  if (begins(opcode, "barrier.cluster.wait")) return true;
  for (const std::string_view name : {"bar.", "barrier."}) {
    if (!begins(opcode, name)) continue;
    opcode.remove_prefix(name.size());
    if (begins(opcode, "cta.")) opcode.remove_prefix(4);
    return begins(opcode, "sync") || begins(opcode, "red");
  }
  return false;
}

struct Pipe {
  Resource resource;
  Unit unit;  ///< whose rate in the profile holds
};

Pipe pipe_of(Unit unit) {
  switch (unit) {
    case Unit::fp32:
      return {Resource::fp32, Unit::fp32};
    case Unit::multiply:
      return {Resource::fp32, Unit::multiply};  // the multiplier of the fp32 pipe
    case Unit::fp64:
      return {Resource::fp64, Unit::fp64};
    case Unit::fp16:
      return {Resource::fp16, Unit::fp16};
    case Unit::convert:
      return {Resource::special, Unit::convert};
    case Unit::special:
      return {Resource::special, Unit::special};
    case Unit::shuffle:
      return {Resource::special, Unit::shuffle};
    case Unit::integer64:
      return {Resource::integer, Unit::integer64};
    default:
      return {Resource::integer, Unit::integer};
  }
}

/// Instructions that the assembler makes of one of PTX.
float expansion(std::string_view opcode) {
  if (begins(opcode, "mov.") || begins(opcode, "cvta") || begins(opcode, "ld.param")) return 0.0F;
  if (begins(opcode, "cvt.u64.u32") || begins(opcode, "cvt.u32.u64")) return 0.0F;
  if (begins(opcode, "cvt.s64.s32")) return 0.5F;
  if (has(opcode, ".pred")) return 0.5F;
  if (begins(opcode, "div") || begins(opcode, "rem")) {
    if (has(opcode, "64")) return 60.0F;
    return has(opcode, "approx") ? 2.0F : 16.0F;
  }
  if (begins(opcode, "sqrt.rn") || begins(opcode, "rcp.rn")) return 10.0F;
  // Half of the arithmetic on addresses goes into the offsets of loads and stores.
  if (begins(opcode, "add.s64") || begins(opcode, "add.u64")) return 1.0F;
  if (begins(opcode, "mul.lo.s64") || begins(opcode, "mad.lo.s64")) return 4.0F;
  if (has(opcode, "64") && !has(opcode, ".f64")) return 1.5F;
  return 1.0F;
}

double tensor_rate(std::string_view opcode, const DeviceProfile& profile) {
  const TensorRates& rates = begins(opcode, "wgmma") ? profile.wgmma : profile.mma;
  if (has(opcode, "tf32")) return rates.tf32;
  if (has(opcode, ".f64")) return rates.f64;
  if (has(opcode, ".e4m3") || has(opcode, ".e5m2")) return rates.e4m3;
  if (has(opcode, ".s8") || has(opcode, ".u8") || has(opcode, ".s32")) return rates.s8;
  return rates.f16;
}

/// Whether a fragment is stored the other way round from how lanes hold it.
bool turns_matrix(std::string_view opcode) {
  return (has(opcode, ".load.a.") && has(opcode, ".col.")) ||
         (has(opcode, ".load.b.") && has(opcode, ".row."));
}

/// A fragment of f16 is one ldmatrix, any other several plain loads or stores. Those of bf16 are
/// turned by movmatrix where f16 has ldmatrix.trans.
InstructionCost memory_cost(std::string_view opcode, int registers) {
  InstructionCost cost;
  const bool store = begins(opcode, "st") || begins(opcode, "red") || has(opcode, ".store");
  cost.step = store ? Step::store : Step::load;
  if (begins(opcode, "wmma") && !(has(opcode, ".shared") && opcode.ends_with(".f16"))) {
    cost.slots = 8.0F;
    if (opcode.ends_with(".bf16") && turns_matrix(opcode))
      cost.transposes = static_cast<float>(registers);
  }
  return cost;
}

InstructionCost cost_of(const Instr& instr, std::string_view opcode, const RegisterUse& use,
                        const DeviceProfile& profile) {
  InstructionCost cost;
  cost.latency = static_cast<float>(profile.latency.alu);
  if (begins(opcode, "cp.async.wait")) {
    cost.step = Step::wait;
    cost.groups = instr.variant != 0 ? -1 : static_cast<int>(instr.immediate);
    return cost;
  }
  if (begins(opcode, "cp.async.commit")) {
    cost.step = Step::commit;
    return cost;
  }
  if (begins(opcode, "cp.async.ca.") || begins(opcode, "cp.async.cg.")) {
    cost.step = Step::copy;
    return cost;
  }
  // Bulk copies, their groups and arrivals at mbarriers: nothing but an issue slot is known.
  if (begins(opcode, "cp.async.")) return cost;
  if (double products = multiply_adds(opcode); products > 0.0) {
    // All four warps of a group issue wgmma, and each part does its quarter.
    const bool by_group = begins(opcode, "wgmma");
    if (by_group) products /= kSubPartitions;
    const double rate = tensor_rate(opcode, profile);
    cost.pipe = Resource::tensor;
    cost.pipe_clocks = rate > 0.0 ? static_cast<float>(products * kSubPartitions / rate) : 0.0F;
    cost.latency = static_cast<float>(profile.latency.mma);
    if (!by_group) cost.slots = std::max(1.0F, static_cast<float>(products / kProductsOfOne));
    return cost;
  }
  if (begins(opcode, "movmatrix")) {
    cost.pipe = Resource::memory;
    cost.pipe_clocks = 1.0F;
    cost.latency = kMovmatrixLatency;
    return cost;
  }
  switch (instr.unit) {
    case Unit::shared:
    case Unit::global:
      return memory_cost(opcode, use.writes);
    case Unit::barrier:
      cost.step = waits_for_the_block(opcode) ? Step::barrier : Step::compute;
      return cost;
    case Unit::control:
      // Short jumps ahead become guards.
      if (begins(opcode, "bra") && instr.target > instr.index &&
          instr.target - instr.index <= kGuardedJump) {
        break;
      }
      if (begins(opcode, "br") || begins(opcode, "ret") || begins(opcode, "exit")) {
        cost.step = Step::branch;
        return cost;
      }
      break;
    default:
      break;
  }
  cost.slots = expansion(opcode);
  if (cost.slots <= 0.0F) {
    cost.step = Step::nothing;
    cost.latency = 0.0F;
    return cost;
  }
  const Pipe pipe = pipe_of(instr.unit);
  cost.pipe = pipe.resource;
  cost.pipe_clocks = warp_clocks(profile.lanes(pipe.unit)) * cost.slots;
  if (instr.unit == Unit::special || instr.unit == Unit::convert) cost.latency *= 4.0F;
  if (cost.slots > 4.0F) cost.latency *= cost.slots / 2.0F;
  return cost;
}

}  // namespace

double multiply_adds(std::string_view opcode) {
  if (!has(opcode, "mma") || has(opcode, "load") || has(opcode, "store") ||
      begins(opcode, "wgmma.fence") || begins(opcode, "wgmma.commit") ||
      begins(opcode, "wgmma.wait")) {
    return 0.0;
  }
  // The shape is the one part that reads "m16n8k16".
  for (std::size_t at = opcode.find(".m"); at != std::string_view::npos;
       at = opcode.find(".m", at + 1)) {
    const char* cursor = opcode.data() + at + 1;
    const char* const end = opcode.data() + opcode.size();
    double product = 1.0;
    bool whole = true;
    for (const char axis : {'m', 'n', 'k'}) {
      int length = 0;
      if (cursor == end || *cursor != axis) {
        whole = false;
        break;
      }
      const auto [after, error] = std::from_chars(cursor + 1, end, length);
      if (error != std::errc{}) {
        whole = false;
        break;
      }
      cursor = after;
      product *= length;
    }
    if (whole) return product;
  }
  return 0.0;
}

std::vector<InstructionCost> instruction_costs(const Program& program,
                                               const DeviceProfile& profile) {
  std::vector<InstructionCost> costs;
  costs.reserve(program.code.size());
  for (const Instr& instr : program.code) {
    costs.push_back(
        cost_of(instr, program.opcodes[instr.index], program.uses[instr.index], profile));
  }
  return costs;
}

}  // namespace kiln::emulated
