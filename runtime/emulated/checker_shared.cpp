// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the checker remembers of each byte of shared memory.
#include <fmt/format.h>

#include <bit>
#include <utility>

#include "runtime/emulated/checker.hpp"
#include "runtime/emulated/cluster.hpp"
#include "runtime/emulated/warp.hpp"

namespace kiln::emulated {

void Checker::touch(const Toucher& by, std::size_t block, std::uint32_t offset,
                    std::uint32_t bytes) {
  bool complained = false;  // one finding for an access is enough
  cells_[block].visit(readers_, offset, bytes, [&](ShadowCell& cell, std::uint32_t at) {
    if (!complained) {
      if (auto fault = fault_of(by, cell)) {
        report(by, fault->first, at, std::move(fault->second));
        complained = true;
      }
    }
    note(by, cell);
    return true;
  });
  if (by.token != 0) pending_.emplace(by.token, Pending{by, block, offset, bytes});
}

std::optional<std::pair<Finding, std::string>> Checker::fault_of(const Toucher& by,
                                                                 const ShadowCell& cell) const {
  const char* const does = by.writes ? "writes" : "reads";
  const auto by_writer = [&] {
    return agent_text(cell.writer - std::size_t{1}, cell.write_lane, cell.write_instruction);
  };
  if (cell.owner != 0) {
    const auto owner = pending_.find(cell.owner);
    return {
        {Finding::missing_wait,
         fmt::format("{} shared memory that an asynchronous copy still writes, begun at {}", does,
                     owner == pending_.end()
                         ? "some place"
                         : by.warp->program().place_of(owner->second.by.instr->index))}};
  }
  if (by.writes && cell.sources > 0) {
    return {
        {Finding::missing_wait, "writes shared memory that an asynchronous operation still reads"}};
  }
  if (by.reads && cell.writer == 0) {
    return {{Finding::uninitialised, "reads shared memory that nobody wrote"}};
  }
  const bool both_synchronise = by.synchronises && cell.write_synchronises;
  if (cell.writer != 0 && !both_synchronise && !follows_write(by, cell)) {
    return {
        {Finding::race, fmt::format("{} shared memory that {} writes, and nothing orders the two",
                                    does, by_writer())}};
  }
  if (by.async && cell.writer != 0 && !fenced(by, cell)) {
    return {{Finding::missing_fence,
             fmt::format("{} shared memory through the asynchronous proxy that {} writes, without "
                         "a fence.proxy.async between",
                         does, by_writer())}};
  }
  if (const auto* reader = by.writes ? unordered_reader(by, cell) : nullptr) {
    const bool own = reader->agent == agent_of(*by.warp);
    const LaneMask lanes = own ? reader->lanes & ~by.lanes : reader->lanes;
    return {{Finding::race,
             fmt::format("writes shared memory that {} reads, and nothing orders the two",
                         agent_text(reader->agent, std::countr_zero(lanes), reader->instruction))}};
  }
  return std::nullopt;
}

void Checker::note(const Toucher& by, ShadowCell& cell) {
  const std::size_t agent = agent_of(*by.warp);
  if (by.token != 0) {
    // What has begun counts as done when it ends.
    if (by.writes) cell.owner = static_cast<std::uint32_t>(by.token);
    if (by.reads) ++cell.sources;
  } else if (by.writes) {
    readers_.clear(cell.readers);
    // A plain write of the same warp that nothing has ordered yet can still race with others.
    if (by.synchronises && !cell.write_synchronises && is_news(agent, cell)) return;
    cell.writer = static_cast<std::uint16_t>(agent + 1);
    cell.write_lane = static_cast<std::uint8_t>(by.lane);
    cell.write_clock = clocks_[agent][agent];
    cell.write_instruction = by.instr->index;
    cell.write_synchronises = by.synchronises;
    cell.write_async = false;
  } else if (by.reads) {
    readers_.add(cell.readers,
                 {clocks_[agent][agent], by.lanes, by.instr->index,
                  static_cast<std::uint16_t>(agent), by.synchronises},
                 synced_[agent]);
  }
}

bool Checker::follows_write(const Toucher& by, const ShadowCell& cell) const {
  const std::size_t agent = agent_of(*by.warp);
  const std::size_t writer = cell.writer - std::size_t{1};
  if (writer != agent) {
    if (clocks_[agent][writer] < cell.write_clock) return false;
    if (!copied_by(agent, writer)) return true;
  }
  // Of the same warp: the same thread, or before the lanes synchronised. Of asynchronous operations
  // that several lanes begin at once nobody knows which is whose.
  const LaneMask lane = LaneMask{1} << cell.write_lane;
  const bool same_thread = by.async ? (by.lanes & lane) != 0 : by.lanes == lane;
  return same_thread || !is_news(agent, cell);
}

bool Checker::copied_by(std::size_t warp, std::size_t agent) const {
  const std::size_t first = copies_[warp].first;
  return first != 0 && agent >= first && agent < first + kLanes;
}

bool Checker::is_news(std::size_t warp, const ShadowCell& cell) const {
  if (cell.writer == 0) return false;
  const std::size_t writer = cell.writer - std::size_t{1};
  if (writer == warp) return cell.write_clock >= synced_[warp];
  return copied_by(warp, writer) &&
         cell.write_clock > copies_[warp].synced[writer - copies_[warp].first];
}

bool Checker::fenced(const Toucher& by, const ShadowCell& cell) const {
  if (cell.write_async) return true;
  const std::size_t writer = cell.writer - std::size_t{1};
  return async_clocks_[agent_of(*by.warp)][writer] >= cell.write_clock;
}

const Reader* Checker::unordered_reader(const Toucher& by, const ShadowCell& cell) const {
  const std::size_t agent = agent_of(*by.warp);
  for (const Reader& reader : readers_.all(cell.readers)) {
    const bool own = reader.agent == agent;
    const bool others = (reader.lanes & ~by.lanes) != 0;
    if (by.synchronises && reader.synchronises) continue;
    if (own ? others && reader.clock >= synced_[agent]
            : clocks_[agent][reader.agent] < reader.clock) {
      return &reader;
    }
  }
  return nullptr;
}

void Checker::report(const Toucher& by, Finding finding, std::uint32_t offset,
                     std::string text) const {
  by.warp->report(*by.instr, LaneMask{1} << by.lane, finding,
                  fmt::format("{} (offset {})", text, offset), offset);
}

std::string Checker::agent_text(std::size_t agent, int lane, std::uint32_t instruction) const {
  const Program& program = *cluster_->launch().program;
  if (is_async(agent)) {
    return fmt::format("an asynchronous copy from {}", program.place_of(instruction));
  }
  const std::string of_block = clocks_.size() == warps_per_block_
                                   ? ""
                                   : fmt::format("block rank {} ", agent / warps_per_block_);
  return fmt::format("{}warp {} lane {} at {}", of_block, agent % warps_per_block_, lane,
                     program.place_of(instruction));
}

}  // namespace kiln::emulated
