// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/emulated/decode/program.hpp"
#include "runtime/emulated/profiles/device_profile.hpp"

namespace kiln::emulated {

/// Clocks until movmatrix has turned a matrix of 8 by 8; it takes the pipe of shared memory for one
/// of them. Measured on an H200.
inline constexpr float kMovmatrixLatency = 24.0F;

/// What instructions compete for on a multiprocessor. The first belong to each of its four parts,
/// which own a quarter of the warps; the last are shared by all.
enum class Resource : std::uint8_t {
  issue,
  integer,
  fp32,
  fp64,
  fp16,
  special,  ///< and conversions
  tensor,
  lookup,  ///< the tags of the first-level cache
  memory,  ///< shared memory and the data of the first-level cache, which are one
  l2,      ///< this multiprocessor's share of the second level
};
inline constexpr int kResources = static_cast<int>(Resource::l2) + 1;
inline constexpr std::array<std::string_view, kResources> kResourceNames{
    "issue slots", "integer", "fp32",   "fp64",   "fp16",
    "special",     "tensor",  "lookup", "memory", "l2"};
[[nodiscard]] constexpr bool is_per_part(Resource resource) {
  return resource <= Resource::tensor;
}

/// How an instruction takes part in the timing of its warp.
enum class Step : std::uint8_t {
  compute,  ///< its result is there after a latency
  load,     ///< of whatever memory the trace says
  store,
  copy,     ///< cp.async: global to shared memory, in the background
  commit,   ///< closes a group of copies
  wait,     ///< for groups of copies
  barrier,  ///< for all warps of the block
  branch,   ///< nothing moves across it
  nothing,  ///< the assembler makes nothing of it
};

struct InstructionCost {
  Step step = Step::compute;
  Resource pipe = Resource::integer;
  float slots = 1.0F;        ///< instructions that the assembler makes of it
  float pipe_clocks = 0.0F;  ///< that its pipe is busy with it
  float latency = 0.0F;      ///< clocks until the result can be used
  float transposes = 0.0F;   ///< of load: by movmatrix after it, on the same pipe
  int groups = 0;            ///< of wait: that may stay open; -1: none, nor copies of no group
};

/// Costs of every instruction of a program, by its traits.
[[nodiscard]] std::vector<InstructionCost> instruction_costs(const Program& program,
                                                             const DeviceProfile& profile);

}  // namespace kiln::emulated
