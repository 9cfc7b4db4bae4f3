// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

/// \file
/// Vector clocks: which accesses of others a warp is known to come after (Mattern, 1989), with a
/// place remembering one reader as long as one is enough, as in FastTrack (Flanagan and Freund,
/// 2009).

namespace kiln::emulated {

/// For each agent, up to which of its steps everything is known to have happened. Agents lie in
/// groups, which clocks have in common until one of them learns more: there is a clock for each
/// place that atomics touched, and 33 agents for each warp that copies.
class VectorClock {
 public:
  /// Of agents whose numbers begin at a multiple of it.
  static constexpr std::size_t kGroup = 32;

  [[nodiscard]] std::uint32_t operator[](std::size_t agent) const {
    const std::size_t group = agent / kGroup;
    return group < groups_.size() && groups_[group] ? (*groups_[group])[agent % kGroup] : 0;
  }
  void set(std::size_t agent, std::uint32_t clock) { own(agent / kGroup)[agent % kGroup] = clock; }
  void raise(std::size_t agent, std::uint32_t clock) {
    if (clock > (*this)[agent]) set(agent, clock);
  }
  void tick(std::size_t agent) { ++own(agent / kGroup)[agent % kGroup]; }
  /// Whether it knows all that the other does.
  [[nodiscard]] bool covers(const VectorClock& other) const {
    static constexpr Group kNothing{};
    for (std::size_t i = 0; i < other.groups_.size(); ++i) {
      const Group* const theirs = other.groups_[i].get();
      const Group* const mine = i < groups_.size() && groups_[i] ? groups_[i].get() : &kNothing;
      if (theirs != nullptr && theirs != mine && !is_within(*theirs, *mine)) return false;
    }
    return true;
  }
  void join(const VectorClock& other) {
    if (groups_.size() < other.groups_.size()) groups_.resize(other.groups_.size());
    for (std::size_t i = 0; i < other.groups_.size(); ++i) {
      const std::shared_ptr<Group>& theirs = other.groups_[i];
      if (!theirs || theirs == groups_[i]) continue;
      if (!groups_[i] || is_within(*groups_[i], *theirs)) {
        groups_[i] = theirs;
      } else if (!is_within(*theirs, *groups_[i])) {
        Group& mine = own(i);
        std::transform(mine.begin(), mine.end(), theirs->begin(), mine.begin(),
                       [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
      }
    }
  }

 private:
  using Group = std::array<std::uint32_t, kGroup>;

  static bool is_within(const Group& less, const Group& more) {
    return std::equal(less.begin(), less.end(), more.begin(), std::less_equal<>());
  }
  /// The group as one that no other clock has.
  Group& own(std::size_t group) {
    if (group >= groups_.size()) groups_.resize(group + 1);
    std::shared_ptr<Group>& at = groups_[group];
    if (!at) {
      at = std::make_shared<Group>();
    } else if (at.use_count() > 1) {
      at = std::make_shared<Group>(*at);
    }
    return *at;
  }

  std::vector<std::shared_ptr<Group>> groups_;
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
    if (merged) return;
    list.push_back(reader);
    if (list.size() > kMostAlike) limit(list);
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
  /// Readings of one agent at different times that are kept apart. Usual kernels have one or two.
  static constexpr std::ptrdiff_t kMostAlike = 4;

  /// Puts the oldest two together if the newest is one too many of its kind. The older clock of the
  /// two then stands for both, so that a race may be missed, and none is made up.
  static void limit(std::vector<Reader>& list) {
    const Reader& newest = list.back();
    const auto is_alike = [agent = newest.agent,
                           synchronises = newest.synchronises](const Reader& each) {
      return each.agent == agent && each.synchronises == synchronises;
    };
    if (std::count_if(list.begin(), list.end(), is_alike) <= kMostAlike) return;
    const auto first = std::find_if(list.begin(), list.end(), is_alike);
    const auto second = std::find_if(first + 1, list.end(), is_alike);
    first->lanes |= second->lanes;
    first->instruction = second->instruction;
    list.erase(second);
  }
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
