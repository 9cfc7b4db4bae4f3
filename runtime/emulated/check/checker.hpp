// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/emulated/check/cluster_order.hpp"
#include "runtime/emulated/check/global_checks.hpp"
#include "runtime/emulated/check/global_shadow.hpp"
#include "runtime/emulated/check/local_checks.hpp"
#include "runtime/emulated/check/phase_waits.hpp"
#include "runtime/emulated/check/remote_uses.hpp"
#include "runtime/emulated/check/shared_checks.hpp"
#include "runtime/emulated/check/toucher.hpp"
#include "runtime/emulated/engine/observer.hpp"

namespace kiln::emulated {

/// Finds what a kernel does wrong without any fault: reads of uninitialised memory, races
/// between threads in shared and global memory, use of memory that an asynchronous copy owns,
/// barriers that threads have left, waits at mbarriers that may come too late. Serves one cluster.
///
/// It only dispatches: accesses go to the checks of shared, local and global memory, and events
/// that synchronise warps go to ClusterOrder, which those checks ask.
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
  /// The block whose shared memory holds the byte, and its offset there.
  [[nodiscard]] std::optional<std::pair<std::size_t, std::uint32_t>> shared_place(
      const std::byte* host) const;
  /// Looks at the lanes `by.lanes` of an access, which are at one place.
  void check_place(const Toucher& by);
  /// Whether an address is one of shared memory of the cluster.
  [[nodiscard]] bool is_shared(std::uint64_t address) const;
  /// Whether an mbarrier is of the warp's own block.
  [[nodiscard]] bool is_near(Warp& warp, std::uint64_t object) const;
  /// The warp goes on behind the barrier of that index.
  void pass(Warp& warp, std::size_t barrier);

  Cluster* cluster_ = nullptr;
  std::vector<LaneMask> issuing_;  ///< of each warp, the lanes of its instruction
  ClusterOrder order_;
  SharedChecks shared_;
  LocalChecks local_;
  GlobalChecks global_;
  RemoteUses remote_;
  PhaseWaits phases_;
};

}  // namespace kiln::emulated
