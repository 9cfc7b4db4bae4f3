// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/check/global_shadow.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace kiln::emulated {

GlobalShadow::Known GlobalShadow::Clocks::of(std::uint32_t block) const {
  const auto at = std::ranges::lower_bound(entries_, block, {}, &Entry::block);
  return at == entries_.end() || at->block != block ? Known{} : at->known;
}

void GlobalShadow::Clocks::raise_direct(std::uint32_t block, std::uint32_t clock) {
  auto at = std::ranges::lower_bound(entries_, block, {}, &Entry::block);
  if (at == entries_.end() || at->block != block) at = entries_.insert(at, Entry{block, {}});
  at->known.direct = std::max(at->known.direct, clock);
}

void GlobalShadow::Clocks::add_blocks_of(const Clocks& others) {
  const std::size_t size = entries_.size();
  std::size_t mine = 0;
  for (const Entry& other : others.entries_) {
    while (mine < size && entries_[mine].block < other.block) ++mine;
    if (mine == size || entries_[mine].block != other.block) entries_.push_back({other.block, {}});
  }
  if (entries_.size() == size) return;
  std::ranges::inplace_merge(entries_, entries_.begin() + static_cast<std::ptrdiff_t>(size), {},
                             &Entry::block);
}

template <class Take>
void GlobalShadow::Clocks::take_from(const Clocks& others, Take take) {
  add_blocks_of(others);
  auto mine = entries_.begin();
  for (const Entry& other : others.entries_) {
    while (mine->block < other.block) ++mine;
    take(other.block, mine->known, other.known);
  }
}

bool GlobalShadow::ordered(const BlockState& state, std::uint32_t block, std::uint32_t clock) {
  const Known known = state.known.of(block);
  return std::max(known.direct, known.relayed) >= clock;
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

bool GlobalShadow::conflicts(const BlockState& state, const Touch& touch, const ThreadOrder& order,
                             const Cell& cell, Conflict& conflict) {
  // What a thread did may also be known through another block.
  const auto follows = [&](std::uint32_t block, std::uint32_t clock, const Threads& threads) {
    return (block == state.block && order.follows(threads)) || ordered(state, block, clock);
  };
  if (cell.writer != 0) {
    const Site& site = cell.write_site;
    const Threads writer{site.warp(), LaneMask{1} << site.lane(), cell.write_step};
    if (!follows(cell.writer - 1, cell.write_clock, writer)) {
      conflict = {cell.writer - 1, writer, site.instruction(), true};
      return true;
    }
  }
  if (!touch.writes || cell.reader == 0) return false;
  for (const Reading& reading : cell.readings) {
    const Threads reader{reading.site.warp(), reading.lanes, reading.step};
    if (reading.lanes != 0 && !follows(cell.reader - 1, reading.clock, reader)) {
      conflict = {cell.reader - 1, reader, reading.site.instruction(), false};
      return true;
    }
  }
  if (cell.other_reader != 0 && cell.other_reader - 1 != state.block &&
      !ordered(state, cell.other_reader - 1, cell.other_clock)) {
    // Blocks do alike: where the last one read, this one will have, too.
    conflict = {cell.other_reader - 1, {}, cell.readings[0].site.instruction(), false};
    return true;
  }
  return false;
}

void GlobalShadow::Cell::note_write(const BlockState& state, const Touch& touch) {
  writer = state.block + 1;
  write_clock = state.clock;
  write_step = touch.by.step;
  write_site = {touch.instruction, touch.by.warp,
                static_cast<std::uint32_t>(std::countr_zero(touch.by.lanes))};
  reader = other_reader = 0;
}

void GlobalShadow::Cell::note_read(const BlockState& state, const Touch& touch) {
  if (reader != state.block + 1) {
    other_reader = reader;
    other_clock = readings[0].clock;
    reader = state.block + 1;
    readings = {};
  }
  Reading& last = readings[0];
  const bool same_warp = last.lanes != 0 && last.site.warp() == touch.by.warp;
  if (same_warp && touch.by.step < last.step) {
    // Within the block the reading that is known to all adds nothing to the one before.
    last.clock = state.clock;
    return;
  }
  if (same_warp && last.step == touch.by.step) {
    last.clock = state.clock;
    last.lanes |= touch.by.lanes;
    last.site = {touch.instruction, touch.by.warp, 0};
    return;
  }
  // Of one warp the later reading stands for the earlier ones: other warps that do not come behind
  // those do not come behind this one either.
  if (!same_warp) readings[1] = last;
  last = {state.clock, touch.by.step, touch.by.lanes, {touch.instruction, touch.by.warp, 0}};
}

bool GlobalShadow::access(const BlockState& state, const Touch& touch, const ThreadOrder& order,
                          Conflict& conflict) {
  const std::uint64_t number = touch.address / kPage;
  const auto begin = static_cast<std::uint32_t>(touch.address % kPage);
  const std::uint32_t end = begin + static_cast<std::uint32_t>(touch.bytes);
  Shard& shard = shards_[number % shards_.size()];
  const std::scoped_lock lock(shard.lock);
  Page& page = shard.pages[number];
  // The largest power of two that begin and end are multiples of.
  const std::uint32_t place_bytes = 1U << std::countr_zero(begin | end);
  if (page.place_bytes == 0 || place_bytes < page.place_bytes) divide(page, place_bytes);
  bool found = false;
  for (std::uint32_t at = begin; at < end; at += page.place_bytes) {
    Cell& cell = page.cells[at / page.place_bytes];
    found = found || conflicts(state, touch, order, cell, conflict);
    if (touch.writes) {
      cell.note_write(state, touch);
    } else {
      cell.note_read(state, touch);
    }
  }
  return found;
}

void GlobalShadow::count_busy(const std::array<std::uint32_t, 3>& place) {
  busy_blocks_.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t i = 0; i < place.size(); ++i) {
    std::uint32_t end = busy_end_[i].load(std::memory_order_relaxed);
    while (end <= place[i] &&
           !busy_end_[i].compare_exchange_weak(end, place[i] + 1, std::memory_order_relaxed)) {
    }
  }
}

GlobalShadow::Busy GlobalShadow::busy() const {
  return {busy_blocks_.load(), {busy_end_[0].load(), busy_end_[1].load(), busy_end_[2].load()}};
}

void GlobalShadow::fence(BlockState& state) {
  state.published = state.clock++;
  state.known.take_from(state.seen, [](std::uint32_t, Known& known, const Known& seen) {
    known.direct = std::max(known.direct, seen.direct);
    known.relayed = std::max(known.relayed, seen.relayed);
  });
  state.seen.clear();
}

void GlobalShadow::exchange(BlockState& state, Clocks& at, Order order) {
  if (acquires(order)) {
    // What the block itself left there says nothing of the order of its threads.
    state.seen.take_from(at, [&](std::uint32_t block, Known& seen, const Known& known) {
      seen.relayed = std::max(seen.relayed, known.relayed);
      if (block != state.block) seen.direct = std::max(seen.direct, known.direct);
    });
  }
  if (!releases(order)) return;
  at.take_from(state.known, [](std::uint32_t, Known& relayed, const Known& known) {
    relayed.relayed = std::max({relayed.relayed, known.direct, known.relayed});
  });
  at.raise_direct(state.block, state.published);
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
