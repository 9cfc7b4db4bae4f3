// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/static_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

#include "kiln/error.hpp"
#include "templates/operation/operation.hpp"

namespace kiln {
namespace {

/// Each owns a quarter of most units; a warp belongs to one.
constexpr double kQuarters = kSubPartitions;
// Fitted constants. `model_accuracy -s DATABASE` (tests/gpu) ranks every measured trial of a
// database anew; these values fit some 16,000 trials for 84 problems in 16 bits on an H200.

/// Overlap is never perfect. These shares of hidden work still count: of the units that are not the
/// busiest, and of waits and round trips that work should hide. They also separate configurations
/// with the same bottleneck, such as memory.
constexpr double kUnitOverhead = 0.05;
constexpr double kWaitOverhead = 0.2;
/// Idle SMs issue no memory requests. If a share of the SMs is idle, memory takes longer by this
/// part of that share.
constexpr double kIdleOverhead = 0.25;
/// Addresses, barriers and the first load before anything is computed, in round trips.
constexpr double kStartTrips = 1.5;
/// Cost of launches, in times of the shortest kernel of a graph: the first, until its blocks work;
/// one that must end before the main launch begins; and one behind it.
constexpr double kFirstLaunch = 2.2;
constexpr double kLaunchBefore = 4.0;
constexpr double kLaunchAfter = 2.5;
/// Share of a round trip that counts although work should hide it: a ring refills stage by stage.
constexpr double kTripShare = 0.52;
/// Bytes that one SM receives from L2 in a clock at most, however few SMs ask.
constexpr double kL2Port = 64.0;

/// For templates that state none.
constexpr double kUsualRegisters = 32.0;
constexpr double kMostRegisters = 1e6;  // more than any thread can have, and still a number

/// A block's use of the units, in clocks of the multiprocessor.
struct BlockClocks {
  double divided = 0.0;  ///< of the busiest unit that exists once for each scheduler
  double shared = 0.0;   ///< of the busiest that warps share: memory, the second level
  double others = 0.0;   ///< of all but the busiest, together
  double waits = 0.0;
  double trips = 0.0;  ///< but for the first
  double start = 0.0;  ///< until it computes
  double tail = 0.0;
};

double tensor_rate(const TensorRates& rates, DType type) {
  switch (type) {
    case DType::tf32:
      return rates.tf32;
    case DType::f64:
      return rates.f64;
    case DType::s8:
    case DType::u8:
      return rates.s8;
    case DType::s4:
    case DType::u4:
      return 2.0 * rates.s8;
    case DType::b1:
    case DType::b1_xor:
      return 8.0 * rates.s8;
    case DType::e4m3:
    case DType::e5m2:
      return rates.e4m3;
    default:
      return rates.f16;
  }
}

/// Costs by name, 0 where none is stated.
class Costs {
 public:
  explicit Costs(const std::vector<NamedValue>& stated) : stated_(stated) {}
  [[nodiscard]] double of(std::string_view name, double otherwise = 0.0) const {
    const auto found = std::find_if(stated_.begin(), stated_.end(),
                                    [&](const NamedValue& cost) { return cost.name == name; });
    return found == stated_.end() ? otherwise : static_cast<double>(found->value);
  }

 private:
  const std::vector<NamedValue>& stated_;
};

/// A unit of rate 0 is one that the device does not have, or that costs nothing.
double clocks_at(double work, double rate) {
  return rate > 0.0 ? work / rate : 0.0;
}

/// `blocks`: of the launch.
BlockClocks clocks_of(const Costs& costs, double blocks, DType type, const DeviceProfile& profile) {
  using emulated::Unit;
  const double asking = std::min(blocks, static_cast<double>(profile.limits.sm_count));
  const double l2_bytes_per_clock =
      std::min(kL2Port, profile.l2_bytes_per_ns / profile.clock_ghz / asking);
  BlockClocks block;
  const std::array<double, 5> divided{
      clocks_at(costs.of("tensor"), tensor_rate(profile.mma, type)),
      clocks_at(costs.of("wgmma"), tensor_rate(profile.wgmma, type)),
      clocks_at(costs.of("fp32"), profile.lanes(Unit::fp32)),
      clocks_at(costs.of("fp64"), profile.lanes(Unit::fp64)),
      clocks_at(costs.of("issues"), profile.issue_per_clock)};
  const std::array<double, 2> shared{
      clocks_at(costs.of("memory"), profile.shared_wavefronts_per_clock),
      clocks_at(costs.of("l2_bytes"), l2_bytes_per_clock)};
  block.divided = *std::max_element(divided.begin(), divided.end());
  block.shared = *std::max_element(shared.begin(), shared.end());
  block.others = std::accumulate(divided.begin(), divided.end(), 0.0) +
                 std::accumulate(shared.begin(), shared.end(), 0.0) -
                 std::max(block.divided, block.shared);
  const double trip = profile.latency.dram;
  block.waits = costs.of("waits") * trip + costs.of("stalls");
  const double trips = std::max(std::min(1.0, costs.of("trips")), kTripShare * costs.of("trips"));
  block.start = std::min(trips, kStartTrips) * trip;
  block.trips = trips * trip - block.start;
  block.tail = costs.of("tail");
  return block;
}

/// Clocks until `together` blocks of `warps` warps are done that start at once.
double round_clocks(const BlockClocks& block, double warps, double together) {
  const double others = kUnitOverhead * block.others;
  // The scheduler that has the most warps decides.
  const auto divided = [&](double of_warps) {
    return block.divided * std::ceil(of_warps / kQuarters) * kQuarters / of_warps;
  };
  const double work = together * (std::max(divided(warps * together), block.shared) + others);
  const double alone = std::max(divided(warps), block.shared) + others;
  return block.start + std::max({work, alone + block.waits, block.trips}) +
         kWaitOverhead * (std::min(work, block.waits) + std::min(work, block.trips)) +
         together * block.tail;
}

/// Fewest bytes that the problem moves; 0 for an operation that nothing is known of.
double touched_bytes(const Problem& problem) {
  const Operation* const operation = find_operation(problem.operation);
  return operation == nullptr ? 0.0 : operation->bytes(problem);
}

/// How the blocks of a launch share the multiprocessors.
struct Rounds {
  int together = 0;    ///< blocks of a multiprocessor; 0: the device cannot launch it
  double slots = 0.0;  ///< blocks that run at once
  double blocks = 0.0;
  double warps = 0.0;  ///< of a block
};

Rounds rounds_of(const LaunchGeometry& geometry, const Costs& costs, const DeviceProfile& profile) {
  const auto threads = static_cast<double>(count_of(geometry.block));
  const Occupancy fit =
      occupancy(profile.limits, static_cast<int>(threads),
                static_cast<int>(std::min(costs.of("registers", kUsualRegisters), kMostRegisters)),
                geometry.smem_bytes);
  if (fit.blocks_per_sm == 0) return {};
  return {fit.blocks_per_sm,
          resident_blocks(profile.limits, fit.blocks_per_sm,
                          static_cast<std::int64_t>(count_of(geometry.cluster))),
          static_cast<double>(count_of(geometry.grid)),
          std::ceil(threads / profile.limits.warp_size)};
}

double launch_clocks(const Rounds& rounds, const BlockClocks& block, const DeviceProfile& profile) {
  const double full_rounds = std::floor(rounds.blocks / rounds.slots);
  const double last_together = std::ceil((rounds.blocks - full_rounds * rounds.slots) /
                                         static_cast<double>(profile.limits.sm_count));
  double clocks = full_rounds * round_clocks(block, rounds.warps, rounds.together);
  if (last_together > 0.0) clocks += round_clocks(block, rounds.warps, last_together);
  return clocks;
}

/// The launch that does the work, which costs describe: the one that is named as the template, or
/// else the first.
std::size_t main_launch(const KernelTemplate& kernel_template) {
  const auto& launches = kernel_template.launches();
  const auto named = std::find_if(launches.begin(), launches.end(), [&](const LaunchSpec& launch) {
    return launch.kernel == kernel_template.name();
  });
  return named == launches.end() ? 0 : static_cast<std::size_t>(named - launches.begin());
}

/// What the launches that take place cost besides their work.
double launches_ns(const LaunchPlan& plan, std::size_t main, const DeviceProfile& profile) {
  double shortest = kFirstLaunch;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    if (plan.launches[i].left_out()) continue;
    const auto times = static_cast<double>(plan.times[i]);
    if (i < main) shortest += kLaunchBefore * times;
    if (i == main) shortest += kLaunchAfter * (times - 1.0);
    if (i > main) shortest += kLaunchAfter * times;
  }
  return shortest * profile.launch_ns;
}

/// A launch writes the workspace, those after it read it.
double workspace_ns(std::int64_t bytes, const std::vector<LaunchGeometry>& launches,
                    const DeviceProfile& profile) {
  const auto left_out = std::ranges::count_if(launches, &LaunchGeometry::left_out);
  if (launches.size() - static_cast<std::size_t>(left_out) < 2) return 0.0;
  const bool fits = bytes <= profile.limits.l2_bytes / 2;
  return 2.0 * static_cast<double>(bytes) /
         (fits ? profile.l2_bytes_per_ns : profile.dram_bytes_per_ns);
}

}  // namespace

StaticModel::StaticModel(const KernelTemplate& kernel_template, const Problem& problem,
                         const DeviceProfile& profile)
    : kernel_template_(kernel_template),
      planner_(kernel_template, problem, profile.limits),
      profile_(profile),
      under_load_(under_load(profile)),
      factor_type_(problem.type("a").value_or(DType::f16)),
      touched_bytes_(touched_bytes(problem)),
      main_at_(main_launch(kernel_template)) {}

std::optional<double> StaticModel::time_ns(const Config& config,
                                           std::span<const std::int64_t> bindings,
                                           LaunchDetail detail) const {
  if (kernel_template_.cost_lines().empty()) return std::nullopt;
  LaunchPlan plan;
  try {
    plan = planner_.plan(config, bindings, detail);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::template_) throw;
    // A cost that is undefined is the template's mistake; a launch that cannot be is only this
    // candidate's, which ends as out_of_resources when it is tried, like any other.
    (void)planner_.costs(config);
    return std::numeric_limits<double>::infinity();
  }
  const Costs costs(plan.costs);
  const std::vector<LaunchGeometry>& launches = plan.launches;
  const LaunchGeometry& main = launches.at(main_at_);
  const auto blocks = static_cast<double>(count_of(main.grid));
  const BlockClocks block = clocks_of(costs, blocks, factor_type_, under_load_);
  const Rounds rounds = rounds_of(main, costs, profile_);
  if (rounds.together == 0) return std::numeric_limits<double>::infinity();
  const double times = std::max(1.0, static_cast<double>(plan.times.at(main_at_)));
  const double on_sms_ns = times * launch_clocks(rounds, block, profile_) / profile_.clock_ghz;
  const double busy = std::min(1.0, blocks / static_cast<double>(profile_.limits.sm_count));
  const double in_dram_ns = times * std::max(touched_bytes_, costs.of("dram_bytes")) /
                            profile_.dram_bytes_per_ns * (1.0 + kIdleOverhead * (1.0 - busy));
  // Where all blocks run at once, all of them read first and then store: nothing hides the tail.
  const double tail_ns = blocks <= rounds.slots ? times * block.tail / profile_.clock_ghz : 0.0;
  const double streaming_ns = in_dram_ns + tail_ns;
  return std::max(on_sms_ns, streaming_ns) + kUnitOverhead * std::min(on_sms_ns, in_dram_ns) +
         launches_ns(plan, main_at_, profile_) + costs.of("before") / profile_.clock_ghz +
         workspace_ns(plan.workspace_bytes, launches, profile_);
}

std::optional<double> static_time_ns(const KernelTemplate& kernel_template, const Config& config,
                                     const Problem& problem, const DeviceProfile& profile) {
  return StaticModel(kernel_template, problem, profile).time_ns(config);
}

}  // namespace kiln
