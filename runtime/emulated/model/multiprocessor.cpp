// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/model/multiprocessor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>

#include "runtime/emulated/model/resource_calendar.hpp"

namespace kiln::emulated {
namespace {

constexpr double kL2SectorBytes = 32.0;
constexpr double kLineSectors = 4.0;

std::size_t index(Resource resource) {
  return static_cast<std::size_t>(resource);
}

/// An instruction is not issued before the one that stands so many before it: the assembler sorts,
/// but has not the registers to move all of a loop's loads to its top. Fits the H200.
constexpr std::size_t kWindow = 24;

/// One warp on its way through its trace.
struct Runner {
  const std::vector<TraceEntry>* trace = nullptr;
  std::size_t first = 0;  ///< of its trace among those of its block
  std::size_t next = 0;
  int block = 0;
  int part = 0;
  double now = 0.0;                      ///< nothing of it is issued before
  double issued = 0.0;                   ///< when its latest instruction was
  double done = 0.0;                     ///< when its latest result was there or was stored
  std::vector<double> ready;             ///< of each row
  std::array<double, kWindow> recent{};  ///< when the latest instructions were issued
  std::size_t count = 0;
  double copies = 0.0;  ///< when the open group's copies are done
  std::deque<double> groups;
  bool waiting = false;
};

struct BlockState {
  int live = 0;
  int arrived = 0;
  double latest = 0.0;
};

class Multiprocessor {
 public:
  Multiprocessor(const Program& program, const std::vector<InstructionCost>& costs,
                 const DeviceProfile& profile, const MemoryMix& mix)
      : program_(program), costs_(costs), profile_(profile) {
    const double bytes_per_clock =
        profile.l2_bytes_per_ns / profile.clock_ghz / profile.limits.sm_count;
    l2_clocks_ = kL2SectorBytes / bytes_per_clock;
    wavefront_clocks_ = 1.0 / profile.shared_wavefronts_per_clock;
    hit_share_ = 1.0 - std::clamp(mix.dram_share, 0.0, 1.0);
    shared_reads_ = std::clamp(mix.shared_reads, 0.0, 1.0);
  }

  Occupation run(const BlockTrace& trace, int blocks) {
    const std::size_t warps = trace.warps.size();
    blocks_.resize(static_cast<std::size_t>(blocks));
    runners_.resize(warps * static_cast<std::size_t>(blocks));
    const std::size_t rows = program_.register_bytes / 64 + 1;
    // The one that asks first brings what is shared, and is one of `blocks`.
    if (shared_reads_ > 0.0) follow_share_ = std::min(1.0, shared_reads_ * blocks / (blocks - 1));
    std::size_t length = 0;
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      Runner& runner = runners_[i];
      runner.trace = &trace.warps[i % warps];
      if (i % warps == 0) length = 0;
      runner.first = length;
      length += runner.trace->size();
      runner.block = static_cast<int>(i / warps);
      runner.part = static_cast<int>(i % kSubPartitions);
      runner.ready.assign(rows, 0.0);
      ++blocks_[i / warps].live;
      queue_.push({0.0, i});
    }
    if (shared_reads_ > 0.0) arrivals_.assign(length, 0.0);
    while (!queue_.empty()) {
      const std::size_t which = queue_.top().second;
      queue_.pop();
      advance(which);
    }
    Occupation result;
    for (const Runner& runner : runners_) result.clocks = std::max(result.clocks, runner.done);
    for (int i = 0; i < kResources; ++i) {
      for (int part = 0; part < kSubPartitions; ++part) {
        const auto at = static_cast<std::size_t>(i);
        result.busy_clocks[at] =
            std::max(result.busy_clocks[at], calendars_[static_cast<std::size_t>(part)][at].busy());
      }
    }
    return result;
  }

 private:
  using Turn = std::pair<double, std::size_t>;

  ResourceCalendar& calendar(const Runner& runner, Resource resource) {
    const int part = is_per_part(resource) ? runner.part : 0;
    return calendars_[static_cast<std::size_t>(part)][index(resource)];
  }

  /// Issues a warp's instructions up to the next branch or barrier.
  void advance(std::size_t which) {
    Runner& runner = runners_[which];
    const auto& trace = *runner.trace;
    while (runner.next < trace.size()) {
      const TraceEntry& entry = trace[runner.next++];
      const InstructionCost& cost = costs_[entry.instruction];
      if (cost.step == Step::barrier) {
        arrive(which);
        return;
      }
      issue(runner, entry, cost);
      if (cost.step == Step::branch) {
        runner.now = std::max(runner.now, runner.issued);
        if (runner.next < trace.size()) queue_.push({runner.now, which});
        if (runner.next < trace.size()) return;
      }
    }
    leave(runner);
  }

  void issue(Runner& runner, const TraceEntry& entry, const InstructionCost& cost) {
    const RegisterUse& use = program_.uses[entry.instruction];
    const std::uint32_t* const rows = program_.used_rows.data() + use.first;
    double ready = runner.now;
    for (int i = use.writes; i < use.writes + use.reads; ++i) {
      ready = std::max(ready, runner.ready[rows[i] / 64]);
    }
    double start = ready;
    if (cost.slots > 0.0F) {
      double& oldest = runner.recent[runner.count++ % kWindow];
      ready = std::max(ready, oldest);
      const double clocks = cost.slots / issue_rate();
      start = calendar(runner, Resource::issue).take(ready, clocks) - clocks;
      oldest = start;
    }
    if (cost.step != Step::nothing) runner.issued = std::max(runner.issued, start);
    const double result = finish(runner, entry, cost, start);
    runner.done = std::max(runner.done, result);
    for (int i = 0; i < use.writes; ++i) runner.ready[rows[i] / 64] = result;
  }

  [[nodiscard]] double issue_rate() const { return profile_.issue_per_clock / kSubPartitions; }

  /// When the result of an instruction that is issued at `start` is there.
  double finish(Runner& runner, const TraceEntry& entry, const InstructionCost& cost,
                double start) {
    switch (cost.step) {
      case Step::nothing:
        return start;
      case Step::load:
        return std::max(
            transposed(runner, cost, shared(runner, entry, start) + shared_latency(entry)),
            loaded(runner, entry, start));
      case Step::store:
        // Nobody waits for it but the end of the block.
        runner.done =
            std::max({runner.done, shared(runner, entry, start), global(runner, entry, start)});
        return start;
      case Step::copy: {
        const double read = global(runner, entry, start) + global_latency(entry);
        const double written = shared(runner, entry, read) + shared_latency(entry);
        runner.copies = std::max(runner.copies, written);
        runner.done = std::max(runner.done, written);
        return start;
      }
      case Step::commit:
        runner.groups.push_back(runner.copies);
        runner.copies = 0.0;
        return start;
      case Step::wait:
        while (!runner.groups.empty() &&
               static_cast<int>(runner.groups.size()) > std::max(0, cost.groups)) {
          runner.now = std::max(runner.now, runner.groups.front());
          runner.groups.pop_front();
        }
        if (cost.groups < 0) runner.now = std::max(runner.now, runner.copies);
        return start;
      default:
        break;
    }
    const double piped = calendar(runner, cost.pipe).take(start, cost.pipe_clocks);
    return std::max(start + cost.latency, piped);
  }

  /// When an access that is issued at `start` has had all it takes of shared memory.
  double shared(Runner& runner, const TraceEntry& entry, double start) {
    return calendar(runner, Resource::memory).take(start, entry.wavefronts * wavefront_clocks_);
  }
  [[nodiscard]] double shared_latency(const TraceEntry& entry) const {
    return entry.wavefronts == 0 ? 0.0 : profile_.latency.shared - wavefront_clocks_;
  }

  /// When matrices that were loaded at `start` are transposed.
  double transposed(Runner& runner, const InstructionCost& cost, double start) {
    if (cost.transposes == 0.0F) return start;
    const double served =
        calendar(runner, Resource::memory).take(start, cost.transposes * wavefront_clocks_);
    return served + kMovmatrixLatency - wavefront_clocks_;
  }

  /// The same for both levels of cache. Of the sectors that are new to the block, the first level
  /// has a share already.
  double global(Runner& runner, const TraceEntry& entry, double start, double present = 0.0) {
    if (entry.lookups == 0) return start;
    double at = calendar(runner, Resource::lookup).take(start, entry.lookups);
    // What copies bring is written to shared memory line by line.
    const int passes = entry.wavefronts == 0 ? entry.returns : entry.lines;
    at = std::max(at, calendar(runner, Resource::memory).take(start, passes * wavefront_clocks_));
    return calendar(runner, Resource::l2).take(at, entry.sectors * l2_clocks_ * (1.0 - present));
  }
  /// When a load has what it asks for. Blocks that run together come to the same load at nearly the
  /// same time: the first waits for the sectors, the others for them to be there.
  double loaded(Runner& runner, const TraceEntry& entry, double start) {
    const double served = global(runner, entry, start, shared_reads_);
    const double alone = served + global_latency(entry);
    if (entry.sectors == 0 || shared_reads_ <= 0.0) return alone;
    double& arrival = arrivals_[runner.first + runner.next - 1];
    if (arrival == 0.0) return arrival = alone;
    return draw() < follow_share_ ? std::max(served + profile_.latency.l1, arrival) : alone;
  }
  [[nodiscard]] double global_latency(const TraceEntry& entry) {
    if (entry.lookups == 0) return 0.0;
    return entry.sectors == 0 ? profile_.latency.l1 : far_latency(entry.sectors);
  }

  /// A request waits for DRAM if any of its lines does. Which of them do is drawn, always in the
  /// same way.
  double far_latency(int sectors) {
    const double all_hit = std::pow(hit_share_, std::ceil(sectors / kLineSectors));
    return draw() < all_hit ? profile_.latency.l2 : profile_.latency.dram;
  }

  /// Between 0 and 1.
  double draw() {
    draw_ = draw_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(draw_ >> 40) / static_cast<double>(1U << 24);
  }

  void arrive(std::size_t which) {
    Runner& runner = runners_[which];
    BlockState& block = blocks_[static_cast<std::size_t>(runner.block)];
    runner.waiting = true;
    ++block.arrived;
    block.latest = std::max({block.latest, runner.now, runner.issued});
    open_if_complete(runner.block);
  }

  void leave(const Runner& runner) {
    --blocks_[static_cast<std::size_t>(runner.block)].live;
    open_if_complete(runner.block);
  }

  void open_if_complete(int number) {
    BlockState& block = blocks_[static_cast<std::size_t>(number)];
    if (block.arrived == 0 || block.arrived < block.live) return;
    const double open = block.latest + profile_.latency.barrier;
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      Runner& runner = runners_[i];
      if (runner.block != number || !runner.waiting) continue;
      runner.waiting = false;
      runner.now = open;
      queue_.push({open, i});
    }
    block.arrived = 0;
    block.latest = 0.0;
  }

  const Program& program_;
  const std::vector<InstructionCost>& costs_;
  const DeviceProfile& profile_;
  double l2_clocks_ = 0.0;  ///< per sector
  double wavefront_clocks_ = 0.0;
  double hit_share_ = 1.0;
  double shared_reads_ = 0.0;
  double follow_share_ = 0.0;     ///< of the loads that another block made before
  std::vector<double> arrivals_;  ///< for the first block, by place in the trace; 0: not asked
  std::uint64_t draw_ = 1;
  std::vector<Runner> runners_;
  std::vector<BlockState> blocks_;
  std::array<std::array<ResourceCalendar, kResources>, kSubPartitions> calendars_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> queue_;
};

}  // namespace

Occupation run_blocks(const Program& program, const std::vector<InstructionCost>& costs,
                      const BlockTrace& trace, int blocks, const DeviceProfile& profile,
                      const MemoryMix& mix) {
  return Multiprocessor(program, costs, profile, mix).run(trace, blocks);
}

}  // namespace kiln::emulated
