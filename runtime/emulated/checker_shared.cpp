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
  // One finding for an access is enough.
  cells_[block].visit(readers_, offset, bytes,
                      [&](ShadowCell& cell, std::uint32_t at) { return touch_cell(by, at, cell); });
  if (by.token != 0) pending_.emplace(by.token, Pending{by, block, offset, bytes});
}

bool Checker::touch_cell(const Toucher& by, std::uint32_t offset, ShadowCell& cell) {
  bool good = true;
  const auto complain = [&](Finding finding, std::string text) {
    if (good) report(by, finding, offset, std::move(text));
    good = false;
  };
  const std::size_t writer = cell.writer == 0 ? 0 : cell.writer - std::size_t{1};
  if (cell.owner != 0) {
    const auto owner = pending_.find(cell.owner);
    complain(Finding::missing_wait,
             fmt::format("{} shared memory that an asynchronous copy still writes, begun at {}",
                         by.reads ? "reads" : "writes",
                         owner == pending_.end()
                             ? "some place"
                             : by.warp->program().place_of(owner->second.by.instr->index)));
  } else if (by.writes && cell.sources > 0) {
    complain(Finding::missing_wait,
             "writes shared memory that an asynchronous operation still reads");
  } else if (by.reads && cell.writer == 0) {
    complain(Finding::uninitialised, "reads shared memory that nobody wrote");
  } else if (cell.writer != 0 && !follows_write(by, cell)) {
    complain(Finding::race,
             fmt::format("{} shared memory that {} writes, and nothing orders the two",
                         by.reads ? "reads" : "writes",
                         agent_text(writer, cell.write_lane, cell.write_instruction)));
  } else if (by.async && cell.writer != 0 && !fenced(by, cell)) {
    complain(Finding::missing_fence,
             fmt::format("{} shared memory through the asynchronous proxy that {} writes, without "
                         "a fence.proxy.async between",
                         by.reads ? "reads" : "writes",
                         agent_text(writer, cell.write_lane, cell.write_instruction)));
  } else if (const auto* reader = by.writes ? unordered_reader(by, cell) : nullptr) {
    complain(Finding::race,
             fmt::format(
                 "writes shared memory that {} reads, and nothing orders the two",
                 agent_text(reader->agent, std::countr_zero(reader->lanes), reader->instruction)));
  }
  const std::size_t agent = agent_of(*by.warp);
  if (by.token != 0) {
    // What has begun counts as done when it ends.
    if (by.writes) cell.owner = static_cast<std::uint32_t>(by.token);
    if (by.reads) ++cell.sources;
  } else if (by.writes) {
    cell.writer = static_cast<std::uint16_t>(agent + 1);
    cell.write_lane = static_cast<std::uint8_t>(by.lane);
    cell.write_clock = clocks_[agent][agent];
    cell.write_instruction = by.instr->index;
    readers_.clear(cell.readers);
  } else if (by.reads) {
    readers_.add(cell.readers, {clocks_[agent][agent], by.lanes, by.instr->index,
                                static_cast<std::uint16_t>(agent)});
  }
  return good;
}

bool Checker::follows_write(const Toucher& by, const ShadowCell& cell) const {
  const std::size_t agent = agent_of(*by.warp);
  const std::size_t writer = cell.writer - std::size_t{1};
  if (writer != agent) return clocks_[agent][writer] >= cell.write_clock;
  // Of the same warp: the same thread, or before the lanes synchronised.
  return by.async || by.lanes == LaneMask{1} << cell.write_lane ||
         cell.write_clock < clocks_[agent][agent];
}

bool Checker::fenced(const Toucher& by, const ShadowCell& cell) const {
  const std::size_t writer = cell.writer - std::size_t{1};
  if (is_async(writer)) return true;
  return async_clocks_[agent_of(*by.warp)][writer] >= cell.write_clock;
}

const Reader* Checker::unordered_reader(const Toucher& by, const ShadowCell& cell) const {
  const std::size_t agent = agent_of(*by.warp);
  for (const Reader& reader : readers_.all(cell.readers)) {
    const bool own = reader.agent == agent;
    const bool others = (reader.lanes & ~(LaneMask{1} << by.lane)) != 0;
    if (own ? !by.async && others && reader.clock >= clocks_[agent][agent]
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
  return fmt::format("warp {} lane {} at {}", agent % warps_per_block_, lane,
                     program.place_of(instruction));
}

}  // namespace kiln::emulated
