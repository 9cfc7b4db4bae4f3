// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/global_shadow.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace kiln::emulated {
namespace {

void join(GlobalShadow::Clocks& into, const GlobalShadow::Clocks& from) {
  for (const auto& [block, clock] : from) {
    auto& at = into[block];
    at = std::max(at, clock);
  }
}

}  // namespace

bool GlobalShadow::ordered(const BlockState& state, std::uint32_t block, std::uint32_t clock) {
  if (block == state.block) return true;
  const auto at = state.known.find(block);
  return at != state.known.end() && at->second >= clock;
}

void GlobalShadow::divide(Page& page, std::uint32_t place_bytes) {
  std::vector<Cell> cells(kPage / place_bytes);
  if (page.place_bytes != 0) {
    // What was done to a place was done to every part of it.
    const std::size_t parts = page.place_bytes / place_bytes;
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = page.cells[i / parts];
  }
  page.place_bytes = place_bytes;
  page.cells = std::move(cells);
}

bool GlobalShadow::access(const BlockState& state, std::uint64_t address, int bytes, bool writes,
                          std::uint32_t instruction, Conflict& conflict) {
  const std::uint64_t number = address / kPage;
  const auto begin = static_cast<std::uint32_t>(address % kPage);
  const std::uint32_t end = begin + static_cast<std::uint32_t>(bytes);
  Shard& shard = shards_[number % shards_.size()];
  const std::scoped_lock lock(shard.mutex);
  Page& page = shard.pages[number];
  // The largest power of two that begin and end are multiples of.
  const std::uint32_t place_bytes = 1U << std::countr_zero(begin | end);
  if (page.place_bytes == 0 || place_bytes < page.place_bytes) divide(page, place_bytes);
  bool found = false;
  for (std::uint32_t at = begin; at < end; at += page.place_bytes) {
    Cell& cell = page.cells[at / page.place_bytes];
    if (!found && cell.writer != 0 && !ordered(state, cell.writer - 1, cell.write_clock)) {
      conflict = {cell.writer - 1, cell.write_instruction, true};
      found = true;
    }
    if (!found && writes && cell.reader != 0 && !ordered(state, cell.reader - 1, cell.read_clock)) {
      conflict = {cell.reader - 1, cell.read_instruction, false};
      found = true;
    }
    if (!found && writes && cell.other_reader != 0 &&
        !ordered(state, cell.other_reader - 1, cell.other_clock)) {
      // Blocks do alike: where the last one read, this one will have, too.
      conflict = {cell.other_reader - 1, cell.read_instruction, false};
      found = true;
    }
    if (writes) {
      cell.writer = state.block + 1;
      cell.write_clock = state.clock;
      cell.write_instruction = instruction;
      cell.reader = cell.other_reader = 0;
    } else {
      if (cell.reader != state.block + 1) {
        cell.other_reader = cell.reader;
        cell.other_clock = cell.read_clock;
      }
      cell.reader = state.block + 1;
      cell.read_clock = state.clock;
      cell.read_instruction = instruction;
    }
  }
  return found;
}

void GlobalShadow::fence(BlockState& state) {
  state.published = state.clock++;
  join(state.known, state.seen);
}

void GlobalShadow::exchange(BlockState& state, Clocks& at, Order order) {
  if (acquires(order)) join(state.seen, at);
  if (!releases(order)) return;
  join(at, state.known);
  auto& own = at[state.block];
  own = std::max(own, state.published);
}

void GlobalShadow::atomic(BlockState& state, std::uint64_t object, Order order) {
  const std::scoped_lock lock(objects_mutex_);
  const auto at = objects_.find(object);
  if (at != objects_.end()) {
    exchange(state, at->second, order);
  } else if (releases(order) && (state.published != 0 || !state.known.empty())) {
    exchange(state, objects_[object], order);
  }
}

}  // namespace kiln::emulated
