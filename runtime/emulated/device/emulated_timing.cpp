// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What an emulated GPU says about launches without running the whole of them: facts and times.
#include <algorithm>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/emulated/device/emulated_device.hpp"

namespace kiln {
namespace {

/// A batch whose time is known beforehand.
class PredictedBatch : public TimedBatch {
 public:
  explicit PredictedBatch(double total_ns) : total_ns_(total_ns) {}
  [[nodiscard]] DeviceStatus replay(double& total_ns) override {
    total_ns = total_ns_;
    return {};
  }

 private:
  double total_ns_;
};

struct GlobalAccess {};

/// Ends a launch with GlobalAccess at its first one.
class AccessProbe : public emulated::Observer {
 public:
  void access(emulated::Warp&, const emulated::Instr&,
              const emulated::WarpAccess& access) override {
    if (emulated::space_of(access) == emulated::AccessSpace::global) throw GlobalAccess();
  }
};

/// Whether the cluster accesses global memory, as far as that shows soon.
bool is_busy(const emulated::LaunchState& state, const emulated::Extent& place) {
  emulated::LaunchOptions options;
  options.host_threads = 1;
  options.instruction_limit = 100'000;
  options.make_observer = [] { return std::make_unique<AccessProbe>(); };
  options.clusters = {place};
  try {
    static_cast<void>(emulated::run_grid(state, options));
  } catch (const GlobalAccess&) {
    return true;
  }
  return false;
}

bool touches_memory(const emulated::FactSheet& facts) {
  return facts.total().global_requests > 0;
}

}  // namespace

/// Launches that were asked for on the stream of record(), with copies of their arguments.
struct EmulatedDevice::Recording {
  struct Launch {
    LaunchRequest request;
    std::vector<std::byte> arguments;
  };
  std::vector<Launch> launches;
};

DeviceStatus EmulatedDevice::note(Recording& recording, const LaunchRequest& request) {
  recording.launches.push_back({request, parameters_of(request)});
  return {};
}

std::unique_ptr<TimedBatch> EmulatedDevice::record(
    const std::function<DeviceStatus(int run, void* stream)>& enqueue, int runs,
    DeviceStatus& status) {
  const std::scoped_lock one_at_a_time(record_mutex_);
  Recording recording;
  recording_ = &recording;
  try {
    status = enqueue(0, &recording);
  } catch (...) {
    recording_ = nullptr;
    throw;
  }
  recording_ = nullptr;
  double run_ns = 0.0;
  for (Recording::Launch& launch : recording.launches) {
    if (!status.ok()) break;
    launch.request.arguments = launch.arguments.data();
    run_ns += predict(launch.request, status).time_ns;
  }
  if (!status.ok()) return nullptr;
  return std::make_unique<PredictedBatch>(run_ns * runs);
}

emulated::Prediction EmulatedDevice::predict(const LaunchRequest& request, DeviceStatus& status) {
  emulated::BlockTrace trace;
  const emulated::FactSheet facts = count_traced(request, trace, status);
  if (!status.ok()) return {};
  try {
    const emulated::Prediction all =
        emulated::predict({facts, trace, request.geometry, read_sharing(request, trace)}, profile_);
    if (touches_memory(facts)) return all;
    const BusyBlocks busy = busy_blocks(request);
    if (!busy.example) return all;
    // In a grid that is too large most blocks are idle: their time is not that of the others.
    const emulated::FactSheet of_busy = count_at(
        request, [&](const auto&) { return std::vector{*busy.example}; },
        [&trace] { return emulated::trace_block(trace); }, status);
    if (!status.ok()) return {};
    const emulated::Prediction working =
        emulated::predict({of_busy, trace, busy.geometry, {}}, profile_);
    return working.time_ns > all.time_ns ? working : all;
  } catch (const std::exception& error) {
    status = {DeviceStatus::Code::launch_failed, error.what(), false};
    return {};
  }
}

EmulatedDevice::BusyBlocks EmulatedDevice::busy_blocks(const LaunchRequest& request) {
  constexpr std::uint64_t kProbes = 33;
  BusyBlocks busy;
  busy.geometry = request.geometry;
  const emulated::LaunchState state = state_of(request);
  const std::uint64_t all = state.grid.count() / state.cluster.count();
  const std::uint64_t last = std::min(all, kProbes) - 1;
  const auto place = [&](std::uint64_t index) { return emulated::cluster_place(state, index); };
  const auto probe = [&](std::uint64_t i) { return last == 0 ? 0 : i * (all - 1) / last; };
  std::vector<std::uint64_t> working;  // of the probes
  for (std::uint64_t i = 0; i <= last; ++i) {
    if (is_busy(state, place(probe(i)))) working.push_back(i);
  }
  if (working.empty()) return busy;
  std::uint64_t clusters = std::max<std::uint64_t>(1, all * working.size() / (last + 1));
  busy.example = place(probe(working[working.size() / 2]));
  const bool come_first = working.back() + 1 == working.size();
  if (come_first && working.back() < last) {
    // For instance a grid of elements instead of blocks. How many of them work is known.
    std::uint64_t idle = probe(working.back() + 1);
    clusters = probe(working.back()) + 1;
    while (clusters < idle) {
      const std::uint64_t middle = clusters + (idle - clusters) / 2;
      if (is_busy(state, place(middle))) {
        clusters = middle + 1;
      } else {
        idle = middle;
      }
    }
    busy.example = place(clusters / 2);
  }
  busy.geometry.grid = {static_cast<std::uint32_t>(clusters * state.cluster.x), state.cluster.y,
                        state.cluster.z};
  return busy;
}

emulated::ReadSharing EmulatedDevice::read_sharing(const LaunchRequest& request,
                                                   const emulated::BlockTrace& trace) {
  // Instructions of warps that are worth it. Small blocks share most and cost least.
  constexpr std::uint64_t kMostInstructions = 2'000'000;
  constexpr double kMostSeconds = 5.0;
  emulated::LaunchState state = state_of(request);
  std::uint64_t length = 1;
  for (const auto& warp : trace.warps) length += warp.size() * state.cluster.count();
  const std::uint64_t fit = state.resident_blocks / state.sm_count;
  const auto clusters =
      emulated::clusters_together(state, std::min(fit, kMostInstructions / length));
  if (clusters.size() < 2) return {};
  emulated::SharedReads reads;
  emulated::LaunchOptions options;
  options.host_threads = 1;
  // Other blocks may do more than the one that was traced, or wait for blocks that do not run.
  options.instruction_limit = 2 * kMostInstructions;
  options.timeout_s = std::min(kMostSeconds, options_.timeout_s);
  options.make_observer = [&reads] { return reads.watch(); };
  options.clusters = clusters;
  const emulated::LaunchResult result = emulated::run_grid(std::move(state), options);
  // One block alone has run; what keeps more from it, as waiting for others, is no fault of theirs.
  return result.fault ? emulated::ReadSharing{} : reads.sharing();
}

emulated::FactSheet EmulatedDevice::count(const LaunchRequest& request, int clusters,
                                          DeviceStatus& status) {
  const auto spread = [&](const auto& state) { return emulated::spread_clusters(state, clusters); };
  emulated::FactSheet facts = count_at(request, spread, {}, status);
  if (clusters == 0 || !status.ok() || touches_memory(facts)) return facts;
  const BusyBlocks busy = busy_blocks(request);
  if (!busy.example) return facts;
  return count_at(
      request,
      [&](const auto& state) {
        auto places = spread(state);
        if (!places.empty()) places.push_back(*busy.example);
        return places;
      },
      {}, status);
}

emulated::FactSheet EmulatedDevice::count_traced(const LaunchRequest& request,
                                                 emulated::BlockTrace& trace,
                                                 DeviceStatus& status) {
  return count_at(
      request, [](const auto& state) { return emulated::spread_clusters(state, 1); },
      [&trace] { return emulated::trace_block(trace); }, status);
}

emulated::FactSheet EmulatedDevice::count_at(
    const LaunchRequest& request, const ChosenClusters& choose,
    const std::function<std::unique_ptr<emulated::Observer>()>& more, DeviceStatus& status) {
  try {
    status = wrong_argument(request);
    if (!status.ok()) return {};
    emulated::LaunchState state = state_of(request);
    status = refusal_of(request.geometry, state);
    if (!status.ok()) return {};
    emulated::FactCollector collector(state.program);
    emulated::LaunchOptions options;
    options.host_threads = options_.host_threads;
    options.timeout_s = options_.timeout_s;
    options.make_observer = [&] { return collector.watch(more ? more() : nullptr); };
    options.clusters = choose(state);
    const emulated::LaunchResult result = emulated::run_grid(std::move(state), options);
    if (result.fault) status = fault_status(*result.fault);
    return result.fault ? emulated::FactSheet{} : collector.take();
  } catch (const std::exception& error) {
    status = {DeviceStatus::Code::launch_failed, error.what(), false};
    return {};
  }
}

}  // namespace kiln
