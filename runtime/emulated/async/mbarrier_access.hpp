// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/emulated/async/async_memory.hpp"
#include "runtime/emulated/engine/mbarrier.hpp"

/// \file
/// mbarriers as instructions reach them: by address, with findings for what is wrong.

namespace kiln::emulated {

struct BarrierRef {
  SharedSpot at;
  Mbarrier* state = nullptr;

  /// What Observer::synchronise() and async_end() are told of the phase that is going on.
  [[nodiscard]] std::uint64_t object() const { return object(state->parity()); }
  [[nodiscard]] std::uint64_t object(std::uint32_t parity) const {
    return reinterpret_cast<std::uintptr_t>(at.host()) * 2 + parity;
  }
};

/// The mbarrier at an address. Ends the launch if there is none.
[[nodiscard]] BarrierRef barrier_at(Warp& warp, const Instr& instr, int lane,
                                    std::uint64_t address);
[[nodiscard]] BarrierRef barrier_at(Warp& warp, const Instr& instr, int lane,
                                    const SharedSpot& spot);

/// Tells the observer that lanes touch mbarriers, so that it sees one that is used before its
/// initialisation is known to the thread, or after its end. A use counts as a load: of stores the
/// observer remembers the last one alone, which has to be the initialisation.
class BarrierTouches {
 public:
  explicit BarrierTouches(AccessKind kind) {
    access_.space = ptx::Space::shared;
    access_.kind = kind;
    access_.bytes = 8;
    access_.synchronises = kind == AccessKind::load;
  }
  /// One for each lane.
  void add(int lane, const SharedSpot& spot) {
    access_.lanes |= LaneMask{1} << lane;
    access_.address[lane] = spot.offset;
    access_.host[lane] = spot.host();
  }
  void notify(Warp& warp, const Instr& instr) {
    Observer* const observer = warp.block().cluster().observer();
    if (observer != nullptr && access_.lanes != 0) observer->access(warp, instr, access_);
  }

 private:
  WarpAccess access_;
};

/// Ends the launch if `wrong`, which an operation on the mbarrier returned, says anything.
void require(Warp& warp, const Instr& instr, int lane, const BarrierRef& barrier,
             const std::string& wrong);

/// Changes the mbarrier by `how`, which returns what is wrong or "", and tells the observer if that
/// completes a phase.
template <class How>
void change(Warp& warp, const Instr& instr, int lane, const BarrierRef& barrier, How how) {
  const std::uint64_t object = barrier.object();
  const std::uint32_t phase = barrier.state->phase();
  require(warp, instr, lane, barrier, how(*barrier.state));
  Cluster& cluster = warp.block().cluster();
  cluster.progress();
  if (cluster.observer() != nullptr && barrier.state->phase() != phase) {
    cluster.observer()->begin_phase(warp, instr, lane, object, barrier.state->phase());
  }
}

/// One arrival of a thread, with its synchronisation.
struct Arrival {
  std::uint32_t count = 1;
  bool drops = false;
  bool completes = true;
  std::optional<Order> order = Order::release;
};
void arrive(Warp& warp, const Instr& instr, int lane, const BarrierRef& barrier,
            const Arrival& arrival);

/// An asynchronous operation reports bytes to the mbarrier at a place.
void complete_bytes(Warp& warp, const Instr& instr, int lane, const SharedSpot& spot,
                    std::uint32_t bytes);

}  // namespace kiln::emulated
