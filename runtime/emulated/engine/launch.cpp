// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/engine/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "kiln/error.hpp"

namespace kiln::emulated {
namespace {

using Clock = std::chrono::steady_clock;

/// A cluster runs so many instructions before another, perhaps one that it waits for, has a turn.
constexpr std::uint64_t kTurn = 1'000'000;
/// With so many clusters begun, only every so many turns are a new one's: the host's memory would
/// fill with them if blocks are long, but those that are begun may wait for a new one.
constexpr std::size_t kManyLeft = 64;
constexpr std::uint64_t kTurnsOfLeft = 8;
/// More places than this are not worth reading.
constexpr std::size_t kMostReports = 200;

/// The host's memory that clusters of one launch may take.
constexpr std::uint64_t kHostBytes = std::uint64_t{2} << 30;

/// What a block takes of it, roughly.
std::uint64_t host_bytes_of_block(const LaunchState& state) {
  constexpr std::uint64_t kShadow = 16;  // bytes that checks need for one of shared memory
  constexpr std::uint64_t kOther = 1 << 10;
  const Program& program = *state.program;
  const std::uint64_t warps = (state.block.count() + kLanes - 1) / kLanes;
  const std::uint64_t shared = std::uint64_t{program.static_smem_bytes} + state.dynamic_smem_bytes;
  return warps * (program.register_bytes + std::uint64_t{kLanes} * program.local_bytes) +
         shared * kShadow + kOther;
}

/// How many clusters of a launch the GPU would run side by side, and that fit into the host's
/// memory: blocks that wait for each other must not all begin.
std::uint64_t most_begun(const LaunchState& state) {
  const std::uint64_t most =
      std::min(state.resident_blocks, kHostBytes / host_bytes_of_block(state));
  return std::max<std::uint64_t>(1, most / state.cluster.count());
}

/// Shared by the host threads of one launch.
class GridRun {
 public:
  GridRun(LaunchState state, const LaunchOptions& options)
      : state_(std::move(state)),
        options_(options),
        deadline_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(options.timeout_s))) {
    state_.report = [this](Report report) { add(std::move(report)); };
    state_.deadline = deadline_;
    state_.is_sample = !options.clusters.empty();
    clusters_ = options.clusters.empty() ? state_.grid.count() / state_.cluster.count()
                                         : static_cast<std::uint64_t>(options.clusters.size());
    most_begun_ = most_begun(state_);
  }

  LaunchResult run() {
    const std::uint64_t threads = std::min({host_threads(), clusters_, most_begun_});
    std::vector<std::thread> helpers;
    helpers.reserve(static_cast<std::size_t>(threads));
    try {
      for (std::uint64_t i = 1; i < threads; ++i) helpers.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // The host has no more threads: those that there are do the work.
    }
    work();
    for (std::thread& helper : helpers) helper.join();
    left_.clear();  // as they end, they may report
    for (auto& [key, report] : reports_) result_.reports.push_back(std::move(report));
    std::stable_sort(result_.reports.begin(), result_.reports.end(),
                     [](const Report& left, const Report& right) {
                       return std::pair(left.finding, left.instruction) <
                              std::pair(right.finding, right.instruction);
                     });
    return std::move(result_);
  }

 private:
  struct Running {
    std::unique_ptr<Observer> observer;
    std::unique_ptr<Cluster> cluster;
    std::uint64_t idle_since = 0;  ///< the state of `changes_` when it last could not go on
    int idle_turns = 0;            ///< how often since then
  };

  [[nodiscard]] std::uint64_t host_threads() const {
    return static_cast<std::uint64_t>(options_.host_threads > 0
                                          ? options_.host_threads
                                          : std::max(1U, std::thread::hardware_concurrency()));
  }
  /// Whether another cluster can begin.
  [[nodiscard]] bool may_begin() const { return started_ < clusters_ && open_ < most_begun_; }

  /// A cluster to go on with: a new one as long as there are any, then those that were left, each
  /// when all others had a turn.
  std::unique_ptr<Running> next() {
    const std::scoped_lock lock(mutex_);
    std::unique_ptr<Running> running;
    const bool turn_of_left =
        left_.size() >= kManyLeft && !waits(*left_.front()) && ++picks_ % kTurnsOfLeft != 0;
    if (may_begin() && !turn_of_left) {
      running = std::make_unique<Running>();
      if (options_.make_observer) running->observer = options_.make_observer();
      running->cluster =
          std::make_unique<Cluster>(state_, place_of(started_), running->observer.get());
      ++started_;
      ++open_;
    } else if (!left_.empty()) {
      running = std::move(left_.front());
      left_.pop_front();
    }
    if (running) active_.insert(running.get());
    return running;
  }

  Extent place_of(std::uint64_t index) const {
    if (!options_.clusters.empty()) return options_.clusters[static_cast<std::size_t>(index)];
    return cluster_place(state_, index);
  }

  void work() {
    while (!stop_) {
      std::unique_ptr<Running> running;
      try {
        running = next();
        if (!running) {
          if (open_ == 0) return;
          std::this_thread::sleep_for(std::chrono::microseconds(50));
          continue;
        }
        std::uint64_t budget = kTurn;
        const Cluster::Turn turn = running->cluster->run(budget);
        instructions_ += kTurn - budget;
        check_limits(*running->cluster, turn);
        finish(running, turn);
      } catch (const KernelFault& fault) {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
        active_.erase(running.get());
        if (!result_.fault) result_.fault = fault.report();
        result_.fault->ended = true;
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
        active_.erase(running.get());
        if (!error_) error_ = std::current_exception();
      }
    }
  }

  /// What a report says of blocks that have not begun.
  [[nodiscard]] std::string note_of_others() const {
    if (started_ == clusters_) return {};
    const bool as_there = kHostBytes / host_bytes_of_block(state_) >= state_.resident_blocks;
    return fmt::format("; {} more blocks cannot start until a running block ends: {}",
                       (clusters_ - started_) * state_.cluster.count(),
                       as_there ? "the GPU has no room for more blocks" : "the host lacks memory");
  }

  /// Ends the launch if it took too long and is not at its end.
  void check_limits(Cluster& cluster, Cluster::Turn turn) {
    const bool last = turn == Cluster::Turn::done && open_ == 1 && started_ == clusters_;
    if (last) return;
    if (Clock::now() > deadline_) {
      cluster.time_out(fmt::format("{} s", options_.timeout_s), note_of_others());
    }
    const std::uint64_t limit = options_.instruction_limit;
    if (limit != 0 && instructions_ > limit) {
      cluster.time_out(fmt::format("{} instructions", limit), note_of_others());
    }
  }

  /// Whether the cluster could not go on in its last turn and no other has got on since.
  [[nodiscard]] bool waits(const Running& running) const {
    return running.idle_since == changes_ && running.idle_turns >= 1;
  }
  /// Whether the cluster could not go on in two turns since any other got on. One is not enough: in
  /// it others may have done what it waits for.
  [[nodiscard]] bool given_up(const Running& running) const {
    return running.idle_since == changes_ && running.idle_turns >= 2;
  }

  void finish(std::unique_ptr<Running>& running, Cluster::Turn turn) {
    const std::scoped_lock lock(mutex_);
    if (turn == Cluster::Turn::idle) {
      running->idle_turns = running->idle_since == changes_ ? running->idle_turns + 1 : 1;
      running->idle_since = changes_;
      const bool hopeless = !may_begin() &&
                            std::all_of(active_.begin(), active_.end(),
                                        [&](const Running* other) { return given_up(*other); }) &&
                            std::all_of(left_.begin(), left_.end(),
                                        [&](const auto& other) { return given_up(*other); });
      if (hopeless) running->cluster->deadlock(note_of_others());
    } else {
      ++changes_;
    }
    active_.erase(running.get());
    if (turn == Cluster::Turn::done) {
      --open_;
    } else {
      left_.push_back(std::move(running));
    }
  }

  void add(Report report) {
    const std::scoped_lock lock(report_mutex_);
    const ReportKey key{report.finding, report.place, report.other};
    auto at = reports_.find(key);
    if (at == reports_.end()) {
      // Of a line that races with many others a few are enough.
      const auto first = reports_.lower_bound({report.finding, report.place, ""});
      std::size_t others = 0;
      for (auto same = first; same != reports_.end() && same->first.place == report.place &&
                              same->first.finding == report.finding;
           ++same) {
        ++others;
      }
      if (others >= kMostOthers) at = first;
    }
    if (at != reports_.end()) {
      ++at->second.times;
    } else if (reports_.size() < kMostReports) {
      reports_.emplace(key, std::move(report));
    }
  }

 public:
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }
  std::uint64_t instructions() const { return instructions_; }

 private:
  LaunchState state_;
  const LaunchOptions& options_;
  Clock::time_point deadline_;
  std::uint64_t clusters_ = 0;
  std::uint64_t most_begun_ = 1;  ///< clusters that run side by side

  std::mutex mutex_;
  std::atomic<std::uint64_t> started_ = 0;
  std::deque<std::unique_ptr<Running>> left_;
  std::set<const Running*> active_;  ///< those that a host thread runs now
  std::uint64_t picks_ = 0;
  std::uint64_t changes_ = 1;  ///< grows whenever a cluster got on
  LaunchResult result_;
  std::exception_ptr error_;
  std::atomic<std::uint64_t> open_ = 0;
  std::atomic<std::uint64_t> instructions_ = 0;
  std::atomic<bool> stop_ = false;

  std::mutex report_mutex_;
  struct ReportKey {
    Finding finding{};
    std::string place, other;
    auto operator<=>(const ReportKey&) const = default;
  };
  std::map<ReportKey, Report> reports_;
};

bool is_whole_clusters(const Extent& grid, const Extent& cluster) {
  const auto divides = [](std::uint32_t part, std::uint32_t whole) {
    return part != 0 && whole % part == 0;
  };
  return cluster.count() != 0 && divides(cluster.x, grid.x) && divides(cluster.y, grid.y) &&
         divides(cluster.z, grid.z);
}

std::string shape_problem(const LaunchState& state) {
  const Program& program = *state.program;
  const auto threads = state.block.count();
  if (threads == 0 || threads > 1024 || state.grid.count() == 0) {
    return fmt::format(
        "the launch has {} blocks of {} threads; a launch needs at least 1 block, and 1 to 1024 "
        "threads per block",
        state.grid.count(), threads);
  }
  constexpr std::uint32_t kMostBlocksX = 0x7fffffff;
  constexpr std::uint32_t kMostBlocks = 65535;  // along the other axes
  constexpr std::uint32_t kMostThreads = 1024;
  constexpr std::uint32_t kMostThreadsZ = 64;
  if (state.block.x > kMostThreads || state.block.y > kMostThreads ||
      state.block.z > kMostThreadsZ) {
    return fmt::format("the block has {} x {} x {} threads, but the limit is {} x {} x {}",
                       state.block.x, state.block.y, state.block.z, kMostThreads, kMostThreads,
                       kMostThreadsZ);
  }
  if (state.grid.x > kMostBlocksX || state.grid.y > kMostBlocks || state.grid.z > kMostBlocks) {
    return fmt::format("the grid has {} x {} x {} blocks, but the limit is {} x {} x {}",
                       state.grid.x, state.grid.y, state.grid.z, kMostBlocksX, kMostBlocks,
                       kMostBlocks);
  }
  std::uint64_t most = 1;
  for (const int extent : program.max_threads) {
    constexpr auto kEnough = std::uint64_t{1} << 32U;  // and no product wraps around
    most = std::min(kEnough, most * static_cast<std::uint64_t>(std::max(1, extent)));
  }
  if (program.max_threads[0] != 0 && threads > most) {
    return fmt::format("the block has {} threads, but the kernel allows only {}", threads, most);
  }
  constexpr std::uint32_t kMostOfCluster = 16;
  const Extent& cluster = state.cluster;
  if (std::max({cluster.x, cluster.y, cluster.z}) > kMostOfCluster || cluster.count() == 0 ||
      cluster.count() > kMostOfCluster) {
    return fmt::format(
        "the cluster has {} x {} x {} blocks, but a cluster must have from 1 to {} blocks",
        cluster.x, cluster.y, cluster.z, kMostOfCluster);
  }
  if (program.cluster[0] != 0) {
    const Extent stated = required_cluster(program);
    const Extent& given = state.cluster;
    if (given.x != stated.x || given.y != stated.y || given.z != stated.z) {
      return fmt::format(
          "the launch has clusters of {} x {} x {} blocks, but the kernel requires {} x {} x {}",
          given.x, given.y, given.z, stated.x, stated.y, stated.z);
    }
  }
  if (!is_whole_clusters(state.grid, state.cluster)) {
    return fmt::format(
        "the grid has {} x {} x {} blocks, which is not a multiple of the size of the cluster: {} "
        "x {} x {} blocks",
        state.grid.x, state.grid.y, state.grid.z, cluster.x, cluster.y, cluster.z);
  }
  const std::uint64_t host_bytes = host_bytes_of_block(state) * state.cluster.count();
  if (host_bytes > kHostBytes) {
    return fmt::format("a cluster needs {} bytes of the host's memory, but the limit is {} bytes",
                       host_bytes, kHostBytes);
  }
  const std::array<std::uint32_t, 3> block{state.block.x, state.block.y, state.block.z};
  for (std::size_t i = 0; i < 3; ++i) {
    const int required = program.required_threads[i];
    if (program.required_threads[0] != 0 && required != 0 &&
        block[i] != static_cast<std::uint32_t>(required)) {
      return fmt::format("the block has {} threads along axis {}, but the kernel requires {}",
                         block[i], i, required);
    }
  }
  return {};
}

}  // namespace

Extent cluster_place(const LaunchState& state, std::uint64_t index) {
  const auto x = static_cast<std::uint64_t>(state.grid.x / state.cluster.x);
  const auto y = static_cast<std::uint64_t>(state.grid.y / state.cluster.y);
  return {static_cast<std::uint32_t>(index % x) * state.cluster.x,
          static_cast<std::uint32_t>(index / x % y) * state.cluster.y,
          static_cast<std::uint32_t>(index / x / y) * state.cluster.z};
}

Extent required_cluster(const Program& program) {
  const auto along = [&](std::size_t axis) {
    return static_cast<std::uint32_t>(std::max(1, program.cluster[axis]));
  };
  return {along(0), along(1), along(2)};
}

std::vector<Extent> spread_clusters(const LaunchState& state, int count) {
  if (!is_whole_clusters(state.grid, state.cluster)) return {};
  const std::uint64_t all = state.grid.count() / state.cluster.count();
  const auto wanted = static_cast<std::uint64_t>(std::max(0, count));
  if (wanted == 0 || wanted >= all) return {};
  std::vector<Extent> places;
  for (std::uint64_t i = 0; i < wanted; ++i) {
    places.push_back(cluster_place(state, (2 * i + 1) * all / (2 * wanted)));
  }
  return places;
}

std::vector<Extent> clusters_together(const LaunchState& state, std::uint64_t count) {
  if (!is_whole_clusters(state.grid, state.cluster)) return {};
  const std::uint64_t all = state.grid.count() / state.cluster.count();
  const std::uint64_t step = std::max<std::uint64_t>(1, state.sm_count / state.cluster.count());
  const std::uint64_t middle = all / 2;
  const std::uint64_t first = middle % step;
  std::vector<Extent> places;
  for (std::uint64_t at = middle; at < all && places.size() < count; at += step) {
    places.push_back(cluster_place(state, at));
  }
  for (std::uint64_t at = first; at < middle && places.size() < count; at += step) {
    places.push_back(cluster_place(state, at));
  }
  return places;
}

LaunchResult run_grid(LaunchState state, const LaunchOptions& options) {
  const Program& program = *state.program;
  if (state.parameters.size() != program.parameter_bytes) {
    throw Error(ErrorKind::device,
                fmt::format("kernel {} takes {} bytes of parameters, but the launch passes {} "
                            "bytes. Next: correct the code that launches the kernel.",
                            program.name, program.parameter_bytes, state.parameters.size()));
  }
  if (const std::string problem = shape_problem(state); !problem.empty()) {
    LaunchResult refused;
    refused.fault = Report{Finding::invalid_operand,
                           program.name,
                           {},
                           {},
                           0,
                           0,
                           program.name,
                           problem,
                           1,
                           {},
                           true,
                           {},
                           {},
                           Reach::none};
    return refused;
  }
  GridRun run(std::move(state), options);
  LaunchResult result = run.run();
  run.rethrow();
  result.instructions = run.instructions();
  return result;
}

}  // namespace kiln::emulated
