// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/check/shared_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace kiln::emulated {
namespace {

/// 0: nobody knows.
int element_bytes_of(const WarpAccess* access) {
  return access == nullptr ? 0 : access->element_bytes;
}

const char* verb_of(const Toucher& by) {
  return by.writes ? "writes" : "reads";
}

/// What its last writer is among the agents.
std::size_t writer_of(const ShadowCell& cell) {
  return cell.writer - std::size_t{1};
}

}  // namespace

void SharedChecks::begin(Cluster& cluster) {
  launch_ = &cluster.launch();
  for (const auto& block : cluster.blocks()) cells_.emplace_back(block->shared_bytes());
}

bool SharedChecks::leaves_variable(const Toucher& by, std::uint32_t offset, int bytes) const {
  const Program& program = *launch_->program;
  const std::uint32_t base =
      program.address_bases.empty() ? 0 : program.address_bases[by.instr->index];
  if (base == 0) return false;
  const SharedVariable& variable = program.shared_variables[base - 1];
  const std::int64_t from = std::int64_t{offset} - variable.begin;
  if (from >= 0 && from + bytes <= variable.bytes) return false;
  const SharedVariable* const other = program.shared_variable_at(offset);
  by.warp->report(
      *by.instr, by.lanes, Finding::out_of_bounds,
      fmt::format("{} {} bytes outside an array in shared memory: the access starts at {}; the "
                  "array has {} bytes. The accessed bytes belong {}",
                  verb_of(by), bytes,
                  place_within(variable.name, from, element_bytes_of(by.access)), variable.bytes,
                  other == nullptr     ? "to no static __shared__ variable"
                  : other == &variable ? "partly to another variable"
                                       : "to " + other->name),
      offset);
  return true;
}

void SharedChecks::touch(const Toucher& by, std::size_t block, std::uint32_t offset,
                         std::uint32_t bytes) {
  bool complained = false;  // one finding for an access is enough
  cells_[block].visit(readers_, offset, bytes, [&](ShadowCell& cell, std::uint32_t at) {
    if (!complained) {
      if (auto fault = fault_of(by, cell)) {
        report(by, std::move(*fault), at);
        complained = true;
      }
    }
    note(by, cell);
    return true;
  });
  if (by.token != 0) pending_.emplace(by.token, Pending{by, block, offset, bytes});
}

void SharedChecks::report(const Toucher& by, Fault fault, std::uint32_t offset) const {
  std::string text = fmt::format(
      "{} ({})", fault.text, launch_->program->shared_text(offset, element_bytes_of(by.access)));
  if (fault.finding == Finding::race) {
    by.warp->report_race(*by.instr, fault.lanes, fault.rival, std::move(text), offset);
  } else {
    by.warp->report(*by.instr, fault.lanes, fault.finding, std::move(text), offset);
  }
}

void SharedChecks::finish(std::uint64_t token, ClusterOrder::Done done) {
  const auto [first, last] = pending_.equal_range(token);
  for (auto at = first; at != last; ++at) {
    const Pending& pending = at->second;
    const auto lane = static_cast<unsigned>(pending.by.lane);
    const auto finish_cell = [&](ShadowCell& cell, std::uint32_t) {
      if (pending.by.reads) {
        if (cell.sources > 0) --cell.sources;
        // The agent has no lanes that could know of each other or not: its last reading counts.
        readers_.add(cell.readers,
                     {done.step, LaneMask{1} << lane, pending.by.instr->index,
                      static_cast<std::uint16_t>(done.agent), false},
                     ~std::uint32_t{0});
        return true;
      }
      cell.owner = 0;
      cell.writer = static_cast<std::uint16_t>(done.agent + 1);
      cell.write_lane = static_cast<std::uint8_t>(pending.by.lane);
      cell.write_clock = done.step;
      cell.write_instruction = pending.by.instr->index;
      cell.write_synchronises = pending.by.synchronises;
      cell.write_async = pending.by.async;
      cell.write_lockstep = false;
      readers_.clear(cell.readers);
      return true;
    };
    cells_[pending.block].visit(readers_, pending.offset, pending.bytes, finish_cell);
  }
  pending_.erase(first, last);
}

bool SharedChecks::stores_alike(const Toucher& by, const ShadowCell& cell) const {
  if (!by.writes || by.reads || by.access == nullptr ||
      !allows(launch_->allowed, Allowed::race_same_value)) {
    return false;
  }
  const std::size_t agent = agent_of(by);
  const bool at_once = cell.writer == agent + 1 && cell.write_instruction == by.instr->index &&
                       cell.write_clock == order_.of(agent).step();
  return writes_alike(*by.warp, *by.instr, *by.access, by.lane, at_once ? cell.write_lane : -1);
}

std::optional<SharedChecks::Fault> SharedChecks::fault_of(const Toucher& by,
                                                          const ShadowCell& cell) const {
  const auto fault = [&](Finding finding, std::string text) {
    return Fault{finding, std::move(text), LaneMask{1} << by.lane, {}};
  };
  if (cell.owner != 0) {
    const auto owner = pending_.find(cell.owner);
    return fault(
        Finding::missing_wait,
        fmt::format("{} shared memory while an asynchronous copy is still writing this memory. The "
                    "copy started at {}",
                    verb_of(by),
                    owner == pending_.end()
                        ? "an unknown place"
                        : by.warp->program().site_of(owner->second.by.instr->index)));
  }
  if (by.writes && cell.sources > 0) {
    return fault(Finding::missing_wait,
                 "writes shared memory that an asynchronous operation still reads");
  }
  if (by.reads && cell.writer == 0 && !allows(launch_->allowed, Allowed::uninitialised_unused)) {
    return fault(Finding::uninitialised, "reads uninitialised shared memory");
  }
  if (cell.writer != 0) {
    if (auto with_writer = fault_with_writer(by, cell)) return with_writer;
  }
  return by.writes ? fault_with_readers(by, cell) : std::nullopt;
}

std::optional<SharedChecks::Fault> SharedChecks::fault_with_writer(const Toucher& by,
                                                                   const ShadowCell& cell) const {
  const std::size_t writer = writer_of(cell);
  const auto by_writer = [&] {
    return agent_text(writer, cell.write_lane, cell.write_instruction);
  };
  const bool lockstep = by.reads && by.lockstep && cell.write_lockstep && writer == agent_of(by);
  if (lockstep || !(by.synchronises && cell.write_synchronises)) {
    const LaneMask lanes = racing(by, writer, LaneMask{1} << cell.write_lane, cell.write_clock);
    if (lanes != 0 && !stores_alike(by, cell)) {
      return Fault{
          Finding::race,
          fmt::format("{} shared memory that {} writes, and nothing orders the two accesses{}",
                      verb_of(by), by_writer(),
                      lockstep ? ". Without __syncwarp(), the lanes of a warp need not run in "
                                 "lockstep. Volatile accesses do not change this"
                               : ""),
          lanes,
          {cell.write_instruction, order_.agents().reach(agent_of(by), writer)}};
    }
  }
  if (by.async && !fenced(by, cell)) {
    return Fault{Finding::missing_fence,
                 fmt::format("{} shared memory that {} writes. This write needs a "
                             "fence.proxy.async after it, because the other access uses the "
                             "asynchronous proxy",
                             verb_of(by), by_writer()),
                 LaneMask{1} << by.lane,
                 {}};
  }
  return std::nullopt;
}

std::optional<SharedChecks::Fault> SharedChecks::fault_with_readers(const Toucher& by,
                                                                    const ShadowCell& cell) const {
  const Reader* const reader = unordered_reader(by, cell);
  if (reader == nullptr) return std::nullopt;
  const bool own = reader->agent == agent_of(by);
  const LaneMask lanes = own ? reader->lanes & ~by.lanes : reader->lanes;
  return Fault{
      Finding::race,
      fmt::format("writes shared memory that {} reads, and nothing orders the two accesses",
                  agent_text(reader->agent, std::countr_zero(lanes), reader->instruction)),
      LaneMask{1} << by.lane,
      {reader->instruction, order_.agents().reach(agent_of(by), reader->agent)}};
}

void SharedChecks::note(const Toucher& by, ShadowCell& cell) {
  if (by.token != 0) {
    // What has begun counts as done when it ends.
    if (by.writes) cell.owner = static_cast<std::uint32_t>(by.token);
    if (by.reads) ++cell.sources;
    return;
  }
  const std::size_t agent = agent_of(by);
  const WarpKnowledge& knows = order_.of(agent);
  if (by.writes) {
    readers_.clear(cell.readers);
    // A plain write of the same warp that nothing has ordered yet can still race with others.
    if (by.synchronises && !cell.write_synchronises && cell.writer != 0 &&
        knows.is_news(writer_of(cell), cell.write_clock)) {
      return;
    }
    cell.writer = static_cast<std::uint16_t>(agent + 1);
    cell.write_lane = static_cast<std::uint8_t>(by.lane);
    cell.write_clock = knows.step();
    cell.write_instruction = by.instr->index;
    cell.write_synchronises = by.synchronises;
    cell.write_async = false;
    cell.write_lockstep = by.lockstep;
  } else if (by.reads) {
    readers_.add(cell.readers,
                 {knows.step(), by.lanes, by.instr->index, static_cast<std::uint16_t>(agent),
                  by.synchronises},
                 knows.synced());
  }
}

LaneMask SharedChecks::racing(const Toucher& by, std::size_t agent, LaneMask others,
                              std::uint32_t step) const {
  const std::size_t warp = agent_of(by);
  // Of asynchronous operations that several lanes begin at once nobody knows which is whose.
  if (by.async && agent == warp && (others & ~by.lanes) == 0) return 0;
  const LaneMask lanes = order_.of(warp).unordered(by.lanes, agent, others, step);
  return by.async && lanes != by.lanes ? 0 : lanes;
}

bool SharedChecks::fenced(const Toucher& by, const ShadowCell& cell) const {
  return cell.write_async || order_.async_clock(agent_of(by))[writer_of(cell)] >= cell.write_clock;
}

const Reader* SharedChecks::unordered_reader(const Toucher& by, const ShadowCell& cell) const {
  for (const Reader& reader : readers_.all(cell.readers)) {
    if (by.synchronises && reader.synchronises) continue;
    if (racing(by, reader.agent, reader.lanes, reader.clock) != 0) return &reader;
  }
  return nullptr;
}

std::string SharedChecks::agent_text(std::size_t agent, int lane, std::uint32_t instruction) const {
  const Program& program = *launch_->program;
  const ClusterAgents& agents = order_.agents();
  if (agents.is_async(agent)) {
    return fmt::format("an asynchronous copy from {}", program.site_of(instruction));
  }
  const std::size_t warps = agents.warps_per_block();
  const std::string of_block =
      agents.blocks() == 1 ? "" : fmt::format("block rank {} ", agent / warps);
  return fmt::format("{}warp {} lane {} at {}", of_block, agent % warps, lane,
                     program.site_of(instruction));
}

}  // namespace kiln::emulated
