// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/model/instruction_cost.hpp"

#include <algorithm>

namespace kiln::emulated {
namespace {

/// Multiply-adds of the largest instruction that wmma and mma become, m16n8k16.
constexpr double kProductsOfOne = 2048.0;
/// Jumps ahead over at most so many instructions of PTX do not keep the others from moving.
constexpr std::uint32_t kGuardedJump = 32;

/// Clocks that one part's pipe is busy with an instruction of a whole warp.
float warp_clocks(double lanes_per_clock) {
  return lanes_per_clock > 0.0 ? static_cast<float>(kLanes * kSubPartitions / lanes_per_clock)
                               : 0.0F;
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

double matrix_rate(const Traits& traits, const DeviceProfile& profile) {
  const TensorRates& rates = traits.by_warpgroup ? profile.wgmma : profile.mma;
  switch (traits.rate) {
    case MatrixRate::f16:
      return rates.f16;
    case MatrixRate::tf32:
      return rates.tf32;
    case MatrixRate::f64:
      return rates.f64;
    case MatrixRate::s8:
      return rates.s8;
    case MatrixRate::e4m3:
      return rates.e4m3;
  }
  return 0.0;
}

InstructionCost product_cost(const Traits& traits, const DeviceProfile& profile) {
  InstructionCost cost;
  // All four warps of a group issue wgmma, and each part does its quarter.
  const double products =
      traits.by_warpgroup ? traits.multiply_adds / kSubPartitions : double{traits.multiply_adds};
  const double rate = matrix_rate(traits, profile);
  cost.pipe = Resource::tensor;
  cost.pipe_clocks = rate > 0.0 ? static_cast<float>(products * kSubPartitions / rate) : 0.0F;
  cost.latency = static_cast<float>(profile.latency.mma);
  if (!traits.by_warpgroup) {
    cost.slots = std::max(1.0F, static_cast<float>(products / kProductsOfOne));
  }
  return cost;
}

InstructionCost compute_cost(Unit unit, const Traits& traits, const DeviceProfile& profile) {
  InstructionCost cost;
  cost.slots = traits.slots;
  if (cost.slots <= 0.0F) {
    cost.step = Step::nothing;
    return cost;
  }
  const Pipe pipe = pipe_of(unit);
  cost.pipe = pipe.resource;
  cost.pipe_clocks = warp_clocks(profile.lanes(pipe.unit)) * cost.slots;
  cost.latency = static_cast<float>(profile.latency.alu);
  if (unit == Unit::special || unit == Unit::convert) cost.latency *= 4.0F;
  if (cost.slots > 4.0F) cost.latency *= cost.slots / 2.0F;
  return cost;
}

bool is_guard(const Instr& jump) {
  return jump.target > jump.index && jump.target - jump.index <= kGuardedJump;
}

InstructionCost cost_of(const Instr& instr, const Traits& traits, const DeviceProfile& profile) {
  InstructionCost cost;
  cost.latency = static_cast<float>(profile.latency.alu);
  switch (traits.work) {
    case Work::compute:
      return compute_cost(instr.unit, traits, profile);
    case Work::product:
      return product_cost(traits, profile);
    case Work::issue:
      return cost;
    case Work::transpose:
      cost.pipe = Resource::memory;
      cost.pipe_clocks = 1.0F;
      cost.latency = kMovmatrixLatency;
      return cost;
    case Work::load:
    case Work::store:
      cost.latency = 0.0F;  // what the trace says
      cost.step = traits.work == Work::load ? Step::load : Step::store;
      cost.slots = traits.slots;
      cost.transposes = traits.transposes;
      return cost;
    case Work::copy:
      cost.step = Step::copy;
      return cost;
    case Work::commit:
      cost.step = Step::commit;
      return cost;
    case Work::wait:
      cost.step = Step::wait;
      cost.groups = traits.groups;
      return cost;
    case Work::barrier:
      cost.step = Step::barrier;
      return cost;
    case Work::jump:
      if (is_guard(instr)) return compute_cost(instr.unit, traits, profile);
      cost.step = Step::branch;
      return cost;
    case Work::branch:
      cost.step = Step::branch;
      return cost;
  }
  return cost;
}

}  // namespace

std::vector<InstructionCost> instruction_costs(const Program& program,
                                               const DeviceProfile& profile) {
  std::vector<InstructionCost> costs;
  costs.reserve(program.code.size());
  for (const Instr& instr : program.code) {
    costs.push_back(cost_of(instr, program.traits[instr.index], profile));
  }
  return costs;
}

}  // namespace kiln::emulated
