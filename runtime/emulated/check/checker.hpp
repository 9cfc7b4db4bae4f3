// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/emulated/check/global_shadow.hpp"
#include "runtime/emulated/check/lane_news.hpp"
#include "runtime/emulated/check/phase_waits.hpp"
#include "runtime/emulated/check/race_clocks.hpp"
#include "runtime/emulated/check/shared_shadow.hpp"
#include "runtime/emulated/engine/observer.hpp"
#include "templates/front_matter/allow_spec.hpp"

namespace kiln::emulated {

/// Finds what a kernel does wrong without any fault: reads of uninitialised memory, races
/// between threads in shared and global memory, use of memory that an asynchronous copy owns,
/// barriers that threads have left, waits at mbarriers that may come too late. Serves one cluster.
///
/// Each byte remembers its last writer and, since then, its readers. An access is ordered behind
/// another of the same thread; behind another of the same warp once its lanes have synchronised
/// (bar.warp.sync, any barrier); behind another warp's if the vector clocks say so, which barriers,
/// mbarriers and atomics carry from warp to warp. What a lane learns from an mbarrier or an atomic
/// the others of its warp know once they have synchronised with it.
class Checker : public Observer {
 public:
  /// `shadow` is shared by all checkers of one launch.
  explicit Checker(std::shared_ptr<GlobalShadow> shadow);
  ~Checker() override;

  void begin(Cluster& cluster) override;
  void end(Cluster& cluster) override;
  void issue(Warp& warp, const Instr& instr, LaneMask active) override;
  void access(Warp& warp, const Instr& instr, const WarpAccess& access) override;
  void async_begin(Warp& warp, const Instr& instr, Block& owner, std::uint32_t offset,
                   std::uint32_t bytes, AccessKind kind, std::uint64_t token) override;
  void async_end(std::uint64_t token, std::uint64_t object) override;
  void async_issue(Warp& warp, std::uint64_t token, std::uint64_t count) override;
  void copy_end(Warp& warp, int lane, std::uint64_t token, std::uint32_t number) override;
  void copies_known(Warp& warp, int lane, std::uint32_t number, std::uint64_t object) override;
  void warp_sync(Warp& warp, LaneMask lanes) override;
  void barrier_arrive(Warp& warp, int barrier, LaneMask lanes, bool relaxed) override;
  void barrier_open(Block& block, int barrier) override;
  void barrier_pass(Warp& warp, int barrier) override;
  void synchronise(Warp& warp, const Instr& instr, std::uint64_t object, LaneMask lanes,
                   Order order) override;
  void fence(Warp& warp, LaneMask lanes, FenceKind kind) override;
  void begin_phase(Warp& warp, const Instr& instr, int lane, std::uint64_t object,
                   std::uint32_t phase) override;

 private:
  /// Who touches memory: a lane of a warp, or the asynchronous proxy for it.
  struct Toucher {
    Warp* warp = nullptr;
    const Instr* instr = nullptr;
    int lane = 0;
    LaneMask lanes = 1;  ///< all that touch the same bytes at once; `lane` is the first
    bool async = false;
    bool reads = false;
    bool writes = false;
    bool synchronises = false;  ///< races with no other access that does, too
    /// Volatile, and several lanes do it at once: what they hope for is that their warp runs in
    /// lockstep, which no GPU since Volta promises.
    bool lockstep = false;
    const WarpAccess* access = nullptr;  ///< null: of the asynchronous proxy
    /// Of the operation that begins with this access and ends later; 0: the access ends at once.
    std::uint64_t token = 0;
  };
  struct Pending {
    Toucher by;
    std::size_t block = 0;
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
  };

  /// A use of another block's shared memory, each place of it once.
  struct Visit {
    std::size_t block = 0;
    std::size_t agent = 0;
    std::uint32_t instruction = 0;
    auto operator<=>(const Visit&) const = default;
  };
  void note_visit(Warp& warp, const Instr& instr, std::size_t block);

  /// The block whose shared memory holds the byte, and its offset there.
  [[nodiscard]] std::optional<std::pair<std::size_t, std::uint32_t>> shared_place(
      const std::byte* host) const;
  [[nodiscard]] std::size_t agent_of(Warp& warp) const;
  /// The asynchronous proxy is an agent for each thing that its operations report to, so that
  /// waiting for one of these says nothing about the others. Phases of an mbarrier count as one.
  [[nodiscard]] std::size_t async_agent(std::uint64_t object);
  /// So is what a thread copies by cp.async, whose steps are the numbers of the copies: what the
  /// thread waits for and what its arrivals tell are copies up to one of them.
  [[nodiscard]] std::size_t copy_agent(std::size_t warp, int lane);
  /// The write was by the warp, a copy of its threads included, and not all its lanes know of it.
  [[nodiscard]] bool is_news(std::size_t warp, const ShadowCell& cell) const;
  [[nodiscard]] bool is_news(std::size_t warp, std::size_t agent, std::uint32_t step) const;
  /// Those of the warp's lanes that do not come behind what `others`, lanes of an agent, did at a
  /// step of its own.
  [[nodiscard]] LaneMask unordered(std::size_t warp, LaneMask lanes, std::size_t agent,
                                   LaneMask others, std::uint32_t step) const;
  [[nodiscard]] bool copied_by(std::size_t warp, std::size_t agent) const;
  /// Whether a lane's store writes what is there or, if `other` is not -1, what that lane of the
  /// same instruction writes.
  [[nodiscard]] static bool writes_alike(Warp& warp, const Instr& instr, const WarpAccess& access,
                                         int lane, int other);
  void finish_pending(std::uint64_t token, std::size_t agent, std::uint32_t clock);
  /// Its lanes know of each other now.
  void sync_lanes(std::size_t warp);
  [[nodiscard]] bool is_async(std::size_t agent) const { return agent >= clocks_.size(); }
  /// Reports an access that leaves the variable which its address is computed from.
  /// Reads of an array of the thread's own that it never wrote.
  void check_local(Warp& warp, const Instr& instr, const WarpAccess& access, LaneMask lanes);
  [[nodiscard]] bool allows(Allowed what) const;
  [[nodiscard]] bool leaves_variable(const Toucher& by, std::uint32_t offset, int bytes) const;
  void touch(const Toucher& by, std::size_t block, std::uint32_t offset, std::uint32_t bytes);
  /// Whether it stores what is in the cell already, by whoever wrote that.
  [[nodiscard]] bool stores_alike(const Toucher& by, const ShadowCell& cell) const;
  struct Fault {
    Finding finding{};
    std::string text;
    LaneMask lanes = 0;  ///< that it is about
    Rival rival;         ///< of a race
  };
  /// What is wrong with this access to the cell, if anything is.
  [[nodiscard]] std::optional<Fault> fault_of(const Toucher& by, const ShadowCell& cell) const;
  void note(const Toucher& by, ShadowCell& cell);
  /// Lanes that race with what `others`, lanes of an agent, did. Operations that several lanes
  /// begin at once come behind what any of them comes behind.
  [[nodiscard]] LaneMask racing(const Toucher& by, std::size_t agent, LaneMask others,
                                std::uint32_t step) const;
  [[nodiscard]] bool fenced(const Toucher& by, const ShadowCell& cell) const;
  [[nodiscard]] const Reader* unordered_reader(const Toucher& by, const ShadowCell& cell) const;
  /// What holds a warp and another agent.
  [[nodiscard]] Reach reach_of(std::size_t warp, std::size_t agent) const;
  [[nodiscard]] std::string agent_text(std::size_t agent, int lane,
                                       std::uint32_t instruction) const;
  class GlobalOrder;
  void check_global(Warp& warp, const Instr& instr, const WarpAccess& access, int lane,
                    LaneMask lanes);
  void order_blocks();
  void fence_relaxed(Warp& warp, LaneMask lanes, bool wide);
  /// What has happened is known to who waits, whatever the orders say of what it may read.
  void pass_on(std::size_t agent, std::uint64_t object, Order order);
  /// Whether an mbarrier is of the warp's own block.
  [[nodiscard]] bool is_near(Warp& warp, std::uint64_t object) const;
  void acquire(Warp& warp, LaneMask lanes, const VectorClock& clock,
               const VectorClock& async_clock);
  /// What all lanes of a warp know, of each other and of their copies, too. Its clock says of these
  /// what has happened.
  [[nodiscard]] VectorClock common_knowledge(std::size_t warp) const;
  /// Adds what these lanes of a warp know.
  void add_known(VectorClock& clock, std::size_t warp, LaneMask lanes) const;
  [[nodiscard]] std::size_t barrier_index(Block& block, int barrier) const;
  /// The warp goes on behind the barrier of that index.
  void pass(Warp& warp, std::size_t barrier);

  std::shared_ptr<GlobalShadow> shadow_;
  Cluster* cluster_ = nullptr;
  std::size_t warps_per_block_ = 1;
  std::vector<VectorClock> clocks_;  ///< of each warp of the cluster, what all its lanes know
  std::vector<LaneNews> news_;       ///< and what only some of them do
  /// Of each warp: what its lanes did before this step of its own, all its lanes know of.
  std::vector<std::uint32_t> synced_;
  /// The copies by cp.async of a warp's threads: the agent of lane 0 (0: there were none), and of
  /// each lane, up to which number all lanes of the warp know of them.
  struct Copies {
    std::size_t first = 0;
    std::array<std::uint32_t, kLanes> synced{};
  };
  std::vector<Copies> copies_;             ///< of each warp
  std::vector<LaneMask> issuing_;          ///< of each warp, the lanes of its instruction
  std::vector<VectorClock> fenced_;        ///< what each warp knew at its last wide fence
  std::vector<VectorClock> async_clocks_;  ///< what each warp has fenced for the other proxy
  /// What makes a warp's relaxed arrivals release and its relaxed waits acquire: `near` within its
  /// block, for which its narrowest fences are enough.
  struct Fences {
    VectorClock near_released;  ///< what it knew at its last fence
    VectorClock released;       ///< and at the last that was wider than its block
    VectorClock near_seen;  ///< what its block told it by mbarriers, known from its next fence on
    VectorClock seen;       ///< the same of all blocks and wider fences
  };
  std::vector<Fences> fences_;
  /// What each warp knows to be over, relaxed arrivals and what came before them included; asked
  /// only whether a block has outlived those that use its memory.
  std::vector<VectorClock> happened_;
  std::unordered_map<std::uint64_t, VectorClock> happened_before_;  ///< the arrivals at an object
  std::unordered_map<std::uint64_t, VectorClock> objects_;
  /// Of mbarriers, what warps of their own block told; if there are other blocks.
  std::unordered_map<std::uint64_t, VectorClock> near_objects_;
  std::unordered_map<std::uint64_t, VectorClock> async_objects_;
  std::vector<VectorClock> barriers_;  ///< 16 for each block, then the cluster's
  std::vector<VectorClock> async_barriers_;
  std::vector<SharedShadow> cells_;               ///< of each block
  std::vector<std::vector<bool>> local_written_;  ///< of each block, by byte; empty: nothing was
  ReaderLists readers_;
  std::unordered_multimap<std::uint64_t, Pending> pending_;
  std::unordered_map<std::uint64_t, std::size_t> async_agents_;
  std::vector<std::uint32_t> async_steps_;  ///< of each asynchronous agent
  std::vector<GlobalShadow::BlockState> blocks_;
  std::vector<bool> busy_;  ///< of each block: it accessed memory that the kernel got
  /// What the cluster's blocks told each other through shared memory, by its address.
  std::unordered_map<std::uint64_t, GlobalShadow::Clocks> exchanged_;
  std::map<Visit, std::uint32_t> visits_;  ///< with the clock of the last one
  PhaseWaits phases_;
};

}  // namespace kiln::emulated
