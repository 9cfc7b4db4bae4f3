// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/kernel_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "kiln/error.hpp"
#include "tuner/measure/device_buffer.hpp"
#include "tuner/verify/workload.hpp"

namespace kiln::tools {
namespace {

void require(const DeviceStatus& status, std::string_view what) {
  if (status.ok()) return;
  const bool is_advised = status.message.find("Next: ") != std::string::npos;
  throw Error(
      ErrorKind::device,
      fmt::format(
          "{}: {}{}", what, status.message,
          is_advised
              ? ""
              : ". Next: run `kiln verify` with the same problem and template for details."));
}

}  // namespace

void LineProfile::add(const emulated::InstructionFacts& instruction) {
  facts += instruction;
  const auto beyond = [](std::uint64_t count, std::uint64_t fewest) {
    return count > fewest ? count - fewest : 0;
  };
  conflicts += beyond(instruction.shared_wavefronts, instruction.shared_fewest);
  excess_sectors += beyond(instruction.global_sectors, instruction.global_fewest);
}

std::vector<LineProfile> lines_of(const emulated::FactSheet& facts) {
  std::map<std::pair<std::string, std::string>, LineProfile> by_place;
  for (std::size_t i = 0; i < facts.instructions.size(); ++i) {
    if (facts.instructions[i].issues == 0) continue;
    const auto index = static_cast<std::uint32_t>(i);
    by_place[{facts.program->place_of(index), facts.program->caller_of(index)}].add(
        facts.instructions[i]);
  }
  std::vector<LineProfile> lines;
  lines.reserve(by_place.size());
  for (auto& [where, line] : by_place) {
    line.place = where.first;
    line.caller = where.second;
    lines.push_back(std::move(line));
  }
  std::stable_sort(lines.begin(), lines.end(), [](const LineProfile& x, const LineProfile& y) {
    return x.weight() > y.weight();
  });
  return lines;
}

LineProfile total_of(const emulated::FactSheet& facts) {
  LineProfile total;
  for (const auto& instruction : facts.instructions) total.add(instruction);
  return total;
}

std::vector<LaunchProfile> profile_candidate(EmulatedDevice& device,
                                             const PreparedCandidate& prepared,
                                             const ProblemCase& problem, int clusters) {
  DeviceStatus status;
  const auto module = device.load(prepared.job.unit.cubin, prepared.job.unit.names, status);
  require(status, "loading the kernel");

  MemoryLedger ledger(device, device.free_memory_bytes());
  OperandSet operands(ledger, problem, "the operands");
  for (std::size_t i = 0; i < operands.count(); ++i) {
    const Matrix& matrix = operands[i];
    if (!matrix.is_empty()) device.fill(matrix.data(), 0, matrix.shape().bytes());
  }
  std::int64_t workspace_bytes = prepared.job.workspace_bytes.front();
  if (!prepared.job.scratch.empty()) {
    for (const ScratchPlan& scratch : prepared.job.scratch.front()) {
      workspace_bytes = scratch.offset + scratch.bytes;
    }
  }
  DeviceBuffer workspace;
  if (workspace_bytes > 0) {
    workspace = DeviceBuffer(ledger, workspace_bytes, "the workspace");
    device.fill(workspace.address(), 0, workspace_bytes);
  }
  const RunArguments run = operands.arguments(problem.scalars, workspace.address());
  const ArgumentValues values{run.operands, {}, {}, run.scalars, run.workspace};

  std::vector<LaunchProfile> profiles;
  const auto functions = module->functions();
  const auto& geometry = prepared.job.geometry.front();
  std::vector<std::optional<std::size_t>> profile_of(functions.size());
  for (std::size_t i = 0; i < geometry.size(); ++i) {
    const std::size_t kernel = geometry[i].kernel_at(i);
    // Of launches that repeat, the first stands for all.
    if (geometry[i].left_out()) continue;
    if (const auto before = profile_of[kernel]) {
      ++profiles[*before].launches;
      continue;
    }
    profile_of[kernel] = profiles.size();
    LaunchProfile profile;
    profile.geometry = geometry[i];
    profile.blocks = count_of(geometry[i].grid);
    require(device.prepare(functions[kernel], geometry[i].smem_bytes), "preparing the kernel");
    require(device.check_residency(functions[kernel], geometry[i]),
            prepared.job.launch_places[kernel]);
    const ArgumentPlan& plan = prepared.job.arguments.front()[i];
    std::vector<std::byte> argument(plan.image.size());
    fill_argument(plan, values, argument.data());
    const LaunchRequest request{.function = functions[kernel],
                                .geometry = geometry[i],
                                .arguments = argument.data(),
                                .argument_bytes = argument.size(),
                                .parameters = plan.parameters};
    profile.facts = device.count(request, clusters, status);
    require(status, "running the kernel");
    profile.prediction = device.predict(request, status);
    require(status, "predicting the kernel's time");
    profile.lines = lines_of(profile.facts);
    profile.total = total_of(profile.facts);
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

}  // namespace kiln::tools
