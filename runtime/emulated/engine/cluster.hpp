// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/emulated/decode/program.hpp"
#include "runtime/emulated/decode/report.hpp"
#include "runtime/emulated/engine/grid_workspace.hpp"
#include "runtime/emulated/engine/mbarrier.hpp"
#include "runtime/emulated/engine/observer.hpp"
#include "runtime/emulated/engine/warp.hpp"
#include "templates/front_matter/allow_spec.hpp"

namespace kiln::emulated {

class GlobalMemory;

struct Extent {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

/// What all blocks of one launch share.
struct LaunchState {
  static constexpr std::uint64_t kAnyNumber = 0xffffffffffffffffU;

  std::shared_ptr<const Program> program;
  GlobalMemory* memory = nullptr;
  Extent grid;
  Extent block;
  Extent cluster;
  std::uint32_t dynamic_smem_bytes = 0;
  /// It may begin while the launch before it runs: threads wait (griddepcontrol.wait) before they
  /// touch global memory, and before they exit.
  bool overlaps = false;
  GridWorkspace grid_workspace;  ///< of a cooperative launch: its blocks can wait for each other
  /// Only some blocks of the grid are run: those do not wait for the others.
  bool is_sample = false;
  std::uint8_t allowed = 0;  ///< what checks may find: Allowed, put together
  std::byte fresh{0xcd};     ///< what shared and local memory have at first
  std::vector<std::byte> parameters;
  std::uint32_t sm_count = 1;
  /// Blocks that the GPU has room for at once; no more begin before others end.
  std::uint64_t resident_blocks = kAnyNumber;
  /// Clusters return from run() soon after it.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  /// Takes findings that do not end the launch; called from several host threads.
  std::function<void(Report)> report;
};

class Cluster;

/// One thread block: its shared and local memory, its warps and its barriers.
class Block {
 public:
  Block(Cluster& cluster, const LaunchState& launch, std::uint32_t rank, Extent place);

  [[nodiscard]] Cluster& cluster() { return cluster_; }
  [[nodiscard]] const LaunchState& launch() const { return launch_; }
  [[nodiscard]] std::uint32_t rank() const { return rank_; }    ///< in the cluster
  [[nodiscard]] const Extent& place() const { return place_; }  ///< %ctaid
  [[nodiscard]] std::uint32_t threads() const { return threads_; }
  [[nodiscard]] std::uint32_t live_threads() const { return live_threads_; }
  [[nodiscard]] std::vector<std::unique_ptr<Warp>>& warps() { return warps_; }

  /// Shared memory, static variables first. Offsets count from kSharedBase on.
  [[nodiscard]] std::byte* shared(std::uint32_t offset) {
    return shared_.data() + (offset - kSharedBase);
  }
  [[nodiscard]] std::uint32_t shared_bytes() const {
    return static_cast<std::uint32_t>(shared_.size());
  }
  [[nodiscard]] bool shared_holds(std::uint64_t offset, std::uint64_t bytes) const {
    return offset >= kSharedBase && offset + bytes <= kSharedBase + shared_.size();
  }
  [[nodiscard]] MbarrierTable& mbarriers() { return mbarriers_; }
  /// Local memory of one thread of this block.
  [[nodiscard]] std::byte* local(std::uint32_t thread);
  /// Of all its threads, once one has asked for its own; and where in it a place of the host is, or
  /// nothing.
  [[nodiscard]] std::size_t local_bytes() const { return local_.size(); }
  [[nodiscard]] std::optional<std::size_t> local_offset(const std::byte* host) const {
    if (host < local_.data() || host >= local_.data() + local_.size()) return std::nullopt;
    return static_cast<std::size_t>(host - local_.data());
  }

  /// Lanes of a warp arrive at barrier 0 to 15. `threads` 0: all of the block. `waits` is false for
  /// bar.arrive. `vote` are the lanes whose predicate holds, for bar.red. Returns a text that says
  /// what is wrong, or "".
  [[nodiscard]] std::string arrive(Warp& warp, int barrier, std::uint32_t threads, LaneMask lanes,
                                   bool waits, LaneMask vote = 0);
  /// How many threads have exited and not arrived at a barrier that waits for all of the block.
  [[nodiscard]] std::uint32_t left_without(int barrier) const;
  /// Lanes of a warp have exited: a barrier that waits for all of the block no longer waits for
  /// them, and one that counts threads counts them with the rest of their warp.
  void exited(Warp& warp, LaneMask lanes);
  /// The block's place in the barrier of its grid.
  [[nodiscard]] GridArrival& grid_arrival() { return grid_arrival_; }
  /// What is open at its barriers, for the report of a deadlock.
  [[nodiscard]] std::string barrier_text() const;

 private:
  struct Barrier {
    std::uint32_t expected = 0;
    std::uint32_t arrived = 0;
    Votes votes;
    bool all = false;             ///< waits for every thread of the block
    std::vector<LaneMask> lanes;  ///< of each warp, that have arrived
  };
  static std::size_t index(int barrier) { return static_cast<std::size_t>(barrier); }
  void open_if_complete(int barrier);
  /// How many live threads have not arrived.
  [[nodiscard]] std::uint32_t missing(const Barrier& at) const;

  Cluster& cluster_;
  const LaunchState& launch_;
  std::uint32_t rank_;
  Extent place_;
  std::uint32_t threads_;
  std::uint32_t live_threads_;
  std::vector<std::byte> shared_;
  std::vector<std::byte> local_;
  std::array<Barrier, 16> barriers_;
  GridArrival grid_arrival_;
  MbarrierTable mbarriers_;
  std::vector<std::unique_ptr<Warp>> warps_;
};

/// Blocks that run together on one host thread: a cluster, or a single block. Can be left and gone
/// on with, by any thread, so that clusters that wait for each other through memory all advance.
class Cluster {
 public:
  /// `first` is the place of its first block in the grid.
  Cluster(const LaunchState& launch, Extent first, Observer* observer);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  [[nodiscard]] const LaunchState& launch() const { return launch_; }
  [[nodiscard]] Observer* observer() { return observer_; }
  [[nodiscard]] std::vector<std::unique_ptr<Block>>& blocks() { return blocks_; }

  enum class Turn : std::uint8_t {
    done,  ///< all warps have exited
    more,  ///< the budget is used up, the deadline has passed, or all that is left to do is to rest
    idle,  ///< everybody waits, and only another cluster could change that
  };
  /// Runs as far as it can. Throws KernelFault.
  [[nodiscard]] Turn run(std::uint64_t& budget);
  /// Ends the launch because everybody waits and nobody else is left who could help. `note` goes
  /// behind what the report says.
  [[noreturn]] void deadlock(const std::string& note);

  /// Ends the launch because it ran for `limit` ("3 s"); says where its warps stand. `note` as for
  /// deadlock().
  [[noreturn]] void time_out(const std::string& limit, const std::string& note);

  /// barrier.cluster.arrive and wait. They return a text that says what is wrong, or "". `relaxed`:
  /// what the lanes did before is not ordered.
  [[nodiscard]] std::string cluster_arrive(Warp& warp, LaneMask lanes, bool relaxed);
  /// Lanes wait unless the phase that they arrived in is complete.
  [[nodiscard]] std::string cluster_wait(Warp& warp, LaneMask lanes);

  /// Takes work that an asynchronous instruction has promised. It is done as late as possible: when
  /// a wait demands it, when no warp of the cluster can go on without it, or when there is too much
  /// to remember.
  /// `bytes` is what the work takes of the host's memory until then, roughly.
  std::uint64_t promise(std::function<void()> complete, std::size_t bytes = 0);
  /// Numbers for asynchronous accesses that are not promises.
  [[nodiscard]] std::uint64_t new_tokens(std::uint64_t count) {
    return std::exchange(next_token_, next_token_ + count);
  }
  /// Does one promise now; nothing if it is done already.
  void fulfil(std::uint64_t token);
  /// Something happened that others may wait for (an mbarrier changed, a barrier opened).
  void progress() { ++progress_; }

 private:
  /// One turn for each warp. A budget may end within a round, which then goes on where it was.
  struct Round {
    std::size_t at = 0;  ///< the next warp
    bool alive = false;
    bool ran = false;            ///< a warp did more than try in vain or rest
    bool rested = false;         ///< a warp rested (nanosleep)
    std::uint64_t progress = 0;  ///< `progress_` as it began
  };
  /// True if every warp had its turn.
  [[nodiscard]] bool run_round(std::uint64_t& budget);
  /// What follows from a whole round.
  [[nodiscard]] Turn judge_round(const Round& round);
  void fulfil_oldest() { fulfil(pending_.begin()->first); }

  /// Ends the launch with a finding about whatever warp still lives.
  [[noreturn]] void fail_anywhere(Finding finding, const std::string& text);
  [[nodiscard]] std::string waiting_text() const;
  void cluster_exited(Warp& warp, LaneMask lanes);
  void open_cluster_barrier();

  const LaunchState& launch_;
  Observer* observer_;
  std::vector<std::unique_ptr<Block>> blocks_;
  struct Promise {
    std::function<void()> complete;
    std::size_t bytes = 0;
  };
  std::map<std::uint64_t, Promise> pending_;  ///< by their tokens
  std::size_t promised_bytes_ = 0;
  std::uint64_t next_token_ = 1;
  std::uint64_t progress_ = 0;
  int spinning_ = 0;  ///< rounds without progress
  int idle_ = 0;      ///< rounds in which every warp tried in vain
  std::uint64_t rounds_ = 0;
  Round round_;
  std::uint32_t cluster_missing_ = 0;  ///< live threads that have not arrived at its barrier
  bool cluster_arrived_ = false;       ///< any thread has
  friend class Block;
};

}  // namespace kiln::emulated
