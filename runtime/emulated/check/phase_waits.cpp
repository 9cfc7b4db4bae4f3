// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/check/phase_waits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/emulated/engine/cluster.hpp"
#include "runtime/emulated/engine/warp.hpp"

namespace kiln::emulated {
namespace {

/// "phase 3 (parity 1)" of the one before `phase`, which may be the first.
std::string phase_before(std::uint32_t phase) {
  return phase == 0 ? "the phase before phase 0 (parity 1)"
                    : fmt::format("phase {} (parity {})", phase - 1, (phase - 1) & 1U);
}

std::string text_of(Warp& warp, const Instr& instr, int lane) {
  const std::string of_block = warp.block().cluster().blocks().size() == 1
                                   ? ""
                                   : fmt::format("block rank {} ", warp.block().rank());
  return fmt::format("{}warp {} lane {} at {}", of_block, warp.index(), lane,
                     warp.program().site_of(instr.index));
}

}  // namespace

void PhaseWaits::begin(std::size_t blocks, std::size_t warps_per_block, std::size_t barriers) {
  warps_per_block_ = warps_per_block;
  clocks_.assign(blocks * warps_per_block, {});
  for (std::size_t agent = 0; agent < clocks_.size(); ++agent) clocks_[agent].set(agent, 1);
  barriers_.assign(barriers, {});
}

std::size_t PhaseWaits::agent_of(Warp& warp) const {
  return warp.block().rank() * warps_per_block_ + static_cast<std::size_t>(warp.index());
}

VectorClock& PhaseWaits::told_to(std::uint64_t object) {
  const auto at = mbarriers_.find(object / 2);
  return at == mbarriers_.end() ? objects_[object] : at->second.told[object & 1U];
}

void PhaseWaits::tell(Warp& warp, VectorClock& clock) {
  const std::size_t agent = agent_of(warp);
  clock.join(clocks_[agent]);
  clocks_[agent].tick(agent);
}

void PhaseWaits::release(Warp& warp, std::uint64_t object) {
  if (!idle()) tell(warp, told_to(object));
}

void PhaseWaits::acquire(Warp& warp, const Instr& instr, std::uint64_t object, LaneMask lanes) {
  if (idle()) return;
  const std::size_t agent = agent_of(warp);
  const auto at = mbarriers_.find(object / 2);
  if (at == mbarriers_.end()) {
    const auto other = objects_.find(object);
    if (other != objects_.end()) clocks_[agent].join(other->second);
    return;
  }
  clocks_[agent].join(at->second.told[object & 1U]);
  const Wait wait{&warp, &instr, lanes, clocks_[agent][agent]};
  auto& waits = at->second.waits;
  const auto known =
      std::find_if(waits.begin(), waits.end(), [&](const Wait& one) { return one.warp == &warp; });
  if (known == waits.end()) {
    waits.push_back(wait);
  } else {
    *known = wait;
  }
}

void PhaseWaits::arrive(Warp& warp, std::size_t barrier) {
  if (!idle()) tell(warp, barriers_[barrier]);
}

void PhaseWaits::leave(Warp& warp, std::size_t barrier) {
  if (!idle()) clocks_[agent_of(warp)].join(barriers_[barrier]);
}

void PhaseWaits::issue(Warp& warp, std::uint64_t token, std::uint64_t count) {
  if (idle()) return;
  VectorClock known;
  tell(warp, known);
  for (std::uint64_t i = 0; i < count; ++i) issued_.emplace(token + i, known);
}

void PhaseWaits::finish(std::uint64_t token, std::uint64_t object) {
  const auto operation = issued_.find(token);
  if (operation == issued_.end()) return;
  told_to(object).join(operation->second);
  issued_.erase(operation);
}

void PhaseWaits::begin_phase(Warp& warp, const Instr& instr, int lane, std::uint64_t object,
                             std::uint32_t phase) {
  Mbarrier& mbarrier = mbarriers_[object / 2];
  if (phase == 0) {
    mbarrier = {};
    return;
  }
  const VectorClock& told = mbarrier.told[object & 1U];
  for (const Wait& wait : std::exchange(mbarrier.waits, {})) {
    if (told[agent_of(*wait.warp)] >= wait.step) continue;
    report(wait, object, phase - 1, text_of(warp, instr, lane));
  }
}

void PhaseWaits::report(const Wait& wait, std::uint64_t object, std::uint32_t phase,
                        const std::string& completer) {
  const auto begin = reinterpret_cast<std::uintptr_t>(wait.warp->block().shared(kSharedBase));
  const std::uint64_t offset = object / 2 - begin;
  wait.warp->report(
      *wait.instr, wait.lanes, Finding::race,
      fmt::format(
          "waits for {} of the mbarrier at offset {}, but phase {} may already be complete when "
          "this wait starts. Then the warp waits for phase {}, which has the same parity, and "
          "may hang. In this run, {} completed phase {}",
          phase_before(phase), offset, phase, phase + 1, completer, phase),
      offset);
}

}  // namespace kiln::emulated
