// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/model/performance_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "runtime/emulated/model/multiprocessor.hpp"

namespace kiln::emulated {
namespace {

constexpr double kBytesPerSector = 32.0;
/// A resource that is busy for less of the time than this bounds nothing.
constexpr double kBusyBound = 0.7;

std::string bound_of(const Prediction& prediction) {
  const auto most = std::max_element(prediction.busy.begin(), prediction.busy.end());
  if (*most < kBusyBound) return "latency";
  return resource_names()[static_cast<std::size_t>(most - prediction.busy.begin())];
}

}  // namespace

std::vector<std::string> resource_names() {
  std::vector<std::string> names(kResourceNames.begin(), kResourceNames.end());
  names.emplace_back("dram");
  return names;
}

Prediction predict(const ModelInput& input, const DeviceProfile& measured) {
  const DeviceProfile profile = under_load(measured);
  const Program& program = *input.facts.program;
  const LaunchGeometry& geometry = input.geometry;
  const auto blocks = static_cast<double>(count_of(geometry.grid));
  const auto sms = static_cast<double>(profile.limits.sm_count);
  const Occupancy fit =
      occupancy(profile.limits, static_cast<int>(count_of(geometry.block)), program.registers,
                std::int64_t{geometry.smem_bytes} + program.static_smem_bytes);

  Prediction prediction;
  prediction.blocks_per_sm = std::max(1, fit.blocks_per_sm);
  const double slots = resident_blocks(profile.limits, prediction.blocks_per_sm,
                                       static_cast<std::int64_t>(count_of(geometry.cluster)));
  prediction.rounds = blocks / slots;

  const double full_rounds = std::floor(prediction.rounds);
  const double left = blocks - full_rounds * slots;
  const int last_together = static_cast<int>(std::ceil(left / sms));
  const int usual_together = full_rounds > 0.0 ? prediction.blocks_per_sm : last_together;

  // What is read first by anybody comes from DRAM, the rest from the second level.
  const double watched = std::max(1.0, static_cast<double>(input.facts.blocks));
  const auto loads = static_cast<double>(input.facts.distinct_loads);
  const double shared = loads * input.sharing.among(usual_together);
  const double asked = blocks / watched * kBytesPerSector *
                       (static_cast<double>(input.facts.distinct_reads) - shared +
                        static_cast<double>(input.facts.distinct_writes));
  const double from_dram = std::min(asked, static_cast<double>(input.facts.touched_bytes));
  const double dram_share = asked > 0.0 ? from_dram / asked : 0.0;

  const std::vector<InstructionCost> costs = instruction_costs(program, profile);
  const auto time_of = [&](int together) {
    return run_blocks(program, costs, input.trace, together, profile,
                      {dram_share, input.sharing.among(together)});
  };
  double clocks = 0.0;
  Occupation usual;
  if (full_rounds > 0.0) {
    usual = time_of(prediction.blocks_per_sm);
    clocks += full_rounds * usual.clocks;
  }
  if (last_together > 0) {
    const bool same = full_rounds > 0.0 && last_together == prediction.blocks_per_sm;
    const Occupation last = same ? usual : time_of(last_together);
    clocks += last.clocks;
    if (full_rounds <= 0.0) usual = last;
  }
  const double on_sms_ns = clocks / profile.clock_ghz;
  const double in_dram_ns = from_dram / profile.dram_bytes_per_ns;
  const double least_ns = 1.0 / profile.clock_ghz;  // even nothing takes a clock
  prediction.time_ns = std::max({on_sms_ns, in_dram_ns, least_ns}) + profile.launch_ns;
  for (std::size_t i = 0; i < usual.busy_clocks.size(); ++i) {
    prediction.busy[i] = usual.clocks > 0.0 ? usual.busy_clocks[i] / usual.clocks : 0.0;
  }
  prediction.busy.back() = in_dram_ns / prediction.time_ns;
  prediction.bound = bound_of(prediction);
  return prediction;
}

}  // namespace kiln::emulated
