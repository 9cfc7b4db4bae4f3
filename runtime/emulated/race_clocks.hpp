// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// \file
/// Vector clocks: which accesses of others a warp is known to come after (Mattern, 1989), with a
/// place remembering one reader as long as one is enough, as in FastTrack (Flanagan and Freund,
/// 2009).

namespace kiln::emulated {

/// For each agent, up to which of its steps everything is known to have happened.
class VectorClock {
 public:
  VectorClock() = default;
  explicit VectorClock(std::size_t agents) : at_(agents, 0) {}
  [[nodiscard]] std::uint32_t operator[](std::size_t agent) const {
    return agent < at_.size() ? at_[agent] : 0;
  }
  void set(std::size_t agent, std::uint32_t clock) {
    if (agent >= at_.size()) at_.resize(agent + 1, 0);
    at_[agent] = clock;
  }
  void raise(std::size_t agent, std::uint32_t clock) {
    if (clock > (*this)[agent]) set(agent, clock);
  }
  void tick(std::size_t agent) { ++at_[agent]; }
  void join(const VectorClock& other) {
    if (at_.size() < other.at_.size()) at_.resize(other.at_.size(), 0);
    for (std::size_t i = 0; i < other.at_.size(); ++i) at_[i] = std::max(at_[i], other.at_[i]);
  }

 private:
  std::vector<std::uint32_t> at_;
};

/// Lanes of an agent that have read a place since it was written. Empty if `lanes` is 0.
struct Reader {
  std::uint32_t clock = 0;
  std::uint32_t lanes = 0;
  std::uint32_t instruction = 0;  ///< the last that read
  std::uint16_t agent = 0;
  bool synchronises = false;

  /// Takes in a later reading if the two are alike.
  [[nodiscard]] bool merge(const Reader& later) {
    if (agent != later.agent || clock != later.clock || synchronises != later.synchronises) {
      return false;
    }
    lanes |= later.lanes;
    instruction = later.instruction;
    return true;
  }
  /// Forgets the lanes that are not needed beside a later reading: whatever races with them races
  /// with that, too. What the agent did before `synced` all its lanes know of. Its clock alone says
  /// nothing about that, because fences and arrivals of one lane raise it. True if none are left.
  [[nodiscard]] bool yield_to(const Reader& later, std::uint32_t synced) {
    if (agent != later.agent || (later.synchronises && !synchronises)) return false;
    lanes &= clock < synced ? 0 : ~later.lanes;
    return lanes == 0;
  }
};

/// All readers of a place. Nearly always that is one, which the place itself holds; only where
/// several agents read, or lanes of one at different times, does it own a list here.
struct Readers {
  Reader first;
  std::uint32_t list = 0;  ///< 0: no other than the first
};

class ReaderLists {
 public:
  ReaderLists() : lists_(1) {}

  /// `synced` as for Reader::yield_to().
  void add(Readers& readers, const Reader& reader, std::uint32_t synced) {
    if (readers.list == 0) {
      Reader& first = readers.first;
      if (first.lanes != 0 && first.merge(reader)) return;
      if (first.lanes == 0 || first.yield_to(reader, synced)) {
        first = reader;
        return;
      }
      readers.list = make();
      lists_[readers.list].push_back(readers.first);
    }
    std::vector<Reader>& list = lists_[readers.list];
    bool merged = false;
    bool gone = false;
    for (Reader& known : list) {
      if (known.merge(reader)) {
        merged = true;
      } else {
        gone |= known.yield_to(reader, synced);
      }
    }
    if (gone) std::erase_if(list, [](const Reader& known) { return known.lanes == 0; });
    if (!merged) list.push_back(reader);
  }
  void clear(Readers& readers) {
    readers.first.lanes = 0;
    if (readers.list == 0) return;
    lists_[readers.list].clear();
    free_.push_back(readers.list);
    readers.list = 0;
  }
  [[nodiscard]] std::span<const Reader> all(const Readers& readers) const {
    if (readers.list != 0) return lists_[readers.list];
    return {&readers.first, readers.first.lanes != 0 ? std::size_t{1} : std::size_t{0}};
  }

 private:
  std::uint32_t make() {
    if (free_.empty()) {
      lists_.emplace_back();
      return static_cast<std::uint32_t>(lists_.size()) - 1;
    }
    const std::uint32_t list = free_.back();
    free_.pop_back();
    return list;
  }

  std::vector<std::vector<Reader>> lists_;
  std::vector<std::uint32_t> free_;  ///< lists that no place owns
};

}  // namespace kiln::emulated
