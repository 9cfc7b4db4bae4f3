// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the checker remembers of each byte of shared memory.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/emulated/check/checker.hpp"
#include "runtime/emulated/engine/cluster.hpp"
#include "runtime/emulated/engine/warp.hpp"
#include "runtime/emulated/memory/memory_operands.hpp"

namespace kiln::emulated {
namespace {

/// 0: nobody knows.
int element_bytes_of(const WarpAccess* access) {
  return access == nullptr ? 0 : access->element_bytes;
}

}  // namespace

bool Checker::leaves_variable(const Toucher& by, std::uint32_t offset, int bytes) const {
  const Program& program = *cluster_->launch().program;
  const std::uint32_t base =
      program.address_bases.empty() ? 0 : program.address_bases[by.instr->index];
  if (base == 0) return false;
  const SharedVariable& variable = program.shared_variables[base - 1];
  const std::int64_t from = std::int64_t{offset} - variable.begin;
  if (from >= 0 && from + bytes <= variable.bytes) return false;
  const SharedVariable* const other = program.shared_variable_at(offset);
  by.warp->report(
      *by.instr, by.lanes, Finding::out_of_bounds,
      fmt::format("{} {} bytes at {}, which has {} bytes; they are {}",
                  by.writes ? "writes" : "reads", bytes,
                  place_within(variable.name, from, element_bytes_of(by.access)), variable.bytes,
                  other == nullptr     ? "no static variable's"
                  : other == &variable ? "partly another's"
                                       : other->name + "'s"),
      offset);
  return true;
}

void Checker::touch(const Toucher& by, std::size_t block, std::uint32_t offset,
                    std::uint32_t bytes) {
  bool complained = false;  // one finding for an access is enough
  cells_[block].visit(readers_, offset, bytes, [&](ShadowCell& cell, std::uint32_t at) {
    if (!complained) {
      if (auto fault = fault_of(by, cell)) {
        std::string text =
            fmt::format("{} ({})", fault->text,
                        cluster_->launch().program->shared_text(at, element_bytes_of(by.access)));
        if (fault->finding == Finding::race) {
          by.warp->report_race(*by.instr, fault->lanes, fault->rival, std::move(text), at);
        } else {
          by.warp->report(*by.instr, fault->lanes, fault->finding, std::move(text), at);
        }
        complained = true;
      }
    }
    note(by, cell);
    return true;
  });
  if (by.token != 0) pending_.emplace(by.token, Pending{by, block, offset, bytes});
}

bool Checker::allows(Allowed what) const {
  return kiln::allows(cluster_->launch().allowed, what);
}

bool Checker::stores_alike(const Toucher& by, const ShadowCell& cell) const {
  if (!by.writes || by.reads || by.access == nullptr || !allows(Allowed::race_same_value)) {
    return false;
  }
  const bool at_once = cell.writer == agent_of(*by.warp) + 1 &&
                       cell.write_instruction == by.instr->index &&
                       cell.write_clock == clocks_[agent_of(*by.warp)][agent_of(*by.warp)];
  return writes_alike(*by.warp, *by.instr, *by.access, by.lane, at_once ? cell.write_lane : -1);
}

bool Checker::writes_alike(Warp& warp, const Instr& instr, const WarpAccess& access, int lane,
                           int other) {
  const std::vector<std::byte> value = stored_value(warp, instr, lane);
  if (value.empty()) return false;
  // Of lanes that store at once none has yet.
  if (other >= 0 && (access.lanes >> other & 1U) != 0 &&
      access.address[other] == access.address[lane]) {
    return value == stored_value(warp, instr, other);
  }
  return std::equal(value.begin(), value.end(), access.host[lane]);
}

void Checker::check_local(Warp& warp, const Instr& instr, const WarpAccess& access,
                          LaneMask lanes) {
  std::vector<bool>& written = local_written_[warp.block().rank()];
  if (written.empty()) written.resize(warp.block().local_bytes());
  const auto bytes = static_cast<std::ptrdiff_t>(access.bytes);
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    const auto begin = written.begin() + static_cast<std::ptrdiff_t>(
                                             warp.block().local_offset(access.host[lane]).value());
    if (access.kind != AccessKind::load) {
      std::fill(begin, begin + bytes, true);
      continue;
    }
    // Copies of a struct move what it has between its members as well.
    if (std::find(begin, begin + bytes, true) != begin + bytes) continue;
    // Arguments and results of calls are a compiler's.
    if (warp.program().opcodes[instr.index].starts_with("ld.param")) continue;
    if (allows(Allowed::uninitialised_unused)) continue;
    warp.report(instr, LaneMask{1} << lane, Finding::uninitialised,
                "reads uninitialised local memory: an array or struct of the thread's own, here "
                "never written",
                access.address[lane]);
  }
}

std::optional<Checker::Fault> Checker::fault_of(const Toucher& by, const ShadowCell& cell) const {
  const char* const does = by.writes ? "writes" : "reads";
  const std::size_t writer = cell.writer - std::size_t{1};
  const auto by_writer = [&] {
    return agent_text(writer, cell.write_lane, cell.write_instruction);
  };
  const auto fault = [&](Finding finding, std::string text) {
    return Fault{finding, std::move(text), LaneMask{1} << by.lane, {}};
  };
  if (cell.owner != 0) {
    const auto owner = pending_.find(cell.owner);
    return fault(
        Finding::missing_wait,
        fmt::format("{} shared memory that an asynchronous copy still writes, begun at {}", does,
                    owner == pending_.end()
                        ? "some place"
                        : by.warp->program().site_of(owner->second.by.instr->index)));
  }
  if (by.writes && cell.sources > 0) {
    return fault(Finding::missing_wait,
                 "writes shared memory that an asynchronous operation still reads");
  }
  if (by.reads && cell.writer == 0 && !allows(Allowed::uninitialised_unused)) {
    return fault(Finding::uninitialised, "reads uninitialised shared memory");
  }
  const bool lockstep =
      by.reads && by.lockstep && cell.write_lockstep && writer == agent_of(*by.warp);
  if (cell.writer != 0 && (lockstep || !(by.synchronises && cell.write_synchronises))) {
    const LaneMask lanes = racing(by, writer, LaneMask{1} << cell.write_lane, cell.write_clock);
    if (lanes != 0 && !stores_alike(by, cell)) {
      return Fault{Finding::race,
                   fmt::format("{} shared memory that {} writes, and nothing orders the two{}",
                               does, by_writer(),
                               lockstep ? ": lanes of a warp need not run in lockstep, volatile or "
                                          "not, without a __syncwarp() in between"
                                        : ""),
                   lanes,
                   {cell.write_instruction, reach_of(agent_of(*by.warp), writer)}};
    }
  }
  if (by.async && cell.writer != 0 && !fenced(by, cell)) {
    return fault(Finding::missing_fence,
                 fmt::format("{} shared memory through the asynchronous proxy that {} writes, "
                             "without a fence.proxy.async between",
                             does, by_writer()));
  }
  if (const auto* reader = by.writes ? unordered_reader(by, cell) : nullptr) {
    const bool own = reader->agent == agent_of(*by.warp);
    const LaneMask lanes = own ? reader->lanes & ~by.lanes : reader->lanes;
    return Fault{
        Finding::race,
        fmt::format("writes shared memory that {} reads, and nothing orders the two",
                    agent_text(reader->agent, std::countr_zero(lanes), reader->instruction)),
        LaneMask{1} << by.lane,
        {reader->instruction, reach_of(agent_of(*by.warp), reader->agent)}};
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
    cell.write_lockstep = by.lockstep;
  } else if (by.reads) {
    readers_.add(cell.readers,
                 {clocks_[agent][agent], by.lanes, by.instr->index,
                  static_cast<std::uint16_t>(agent), by.synchronises},
                 synced_[agent]);
  }
}

LaneMask Checker::racing(const Toucher& by, std::size_t agent, LaneMask others,
                         std::uint32_t step) const {
  const std::size_t warp = agent_of(*by.warp);
  // Of asynchronous operations that several lanes begin at once nobody knows which is whose.
  if (by.async && agent == warp && (others & ~by.lanes) == 0) return 0;
  const LaneMask lanes = unordered(warp, by.lanes, agent, others, step);
  return by.async && lanes != by.lanes ? 0 : lanes;
}

LaneMask Checker::unordered(std::size_t warp, LaneMask lanes, std::size_t agent, LaneMask others,
                            std::uint32_t step) const {
  if (agent == warp || clocks_[warp][agent] >= step) {
    if (!is_news(warp, agent, step)) return 0;
    // A thread comes behind itself.
    if (std::has_single_bit(others)) lanes &= ~others;
  }
  if (lanes == 0 || news_[warp].empty()) return lanes;
  return lanes & ~news_[warp].knowing(agent, step);
}

bool Checker::copied_by(std::size_t warp, std::size_t agent) const {
  const std::size_t first = copies_[warp].first;
  return first != 0 && agent >= first && agent < first + kLanes;
}

bool Checker::is_news(std::size_t warp, const ShadowCell& cell) const {
  return cell.writer != 0 && is_news(warp, cell.writer - std::size_t{1}, cell.write_clock);
}

bool Checker::is_news(std::size_t warp, std::size_t agent, std::uint32_t step) const {
  if (agent == warp) return step >= synced_[warp];
  return copied_by(warp, agent) && step > copies_[warp].synced[agent - copies_[warp].first];
}

bool Checker::fenced(const Toucher& by, const ShadowCell& cell) const {
  if (cell.write_async) return true;
  const std::size_t writer = cell.writer - std::size_t{1};
  return async_clocks_[agent_of(*by.warp)][writer] >= cell.write_clock;
}

const Reader* Checker::unordered_reader(const Toucher& by, const ShadowCell& cell) const {
  for (const Reader& reader : readers_.all(cell.readers)) {
    if (by.synchronises && reader.synchronises) continue;
    if (racing(by, reader.agent, reader.lanes, reader.clock) != 0) return &reader;
  }
  return nullptr;
}

Reach Checker::reach_of(std::size_t warp, std::size_t agent) const {
  if (is_async(agent)) return Reach::none;
  if (agent == warp) return Reach::warp;
  return agent / warps_per_block_ == warp / warps_per_block_ ? Reach::block : Reach::cluster;
}

std::string Checker::agent_text(std::size_t agent, int lane, std::uint32_t instruction) const {
  const Program& program = *cluster_->launch().program;
  if (is_async(agent)) {
    return fmt::format("an asynchronous copy from {}", program.site_of(instruction));
  }
  const std::string of_block = clocks_.size() == warps_per_block_
                                   ? ""
                                   : fmt::format("block rank {} ", agent / warps_per_block_);
  return fmt::format("{}warp {} lane {} at {}", of_block, agent % warps_per_block_, lane,
                     program.site_of(instruction));
}

}  // namespace kiln::emulated
