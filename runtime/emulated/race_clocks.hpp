// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

/// \file
/// Vector clocks: which accesses of others a warp is known to come after (Mattern, 1989), and the
/// economical form of them for readers that FastTrack uses (Flanagan and Freund, 2009).

namespace kiln::emulated {

/// For each agent, up to which of its steps everything is known to have happened.
class VectorClock {
 public:
  explicit VectorClock(std::size_t agents = 0) : at_(agents, 0) {}
  [[nodiscard]] std::uint32_t operator[](std::size_t agent) const {
    return agent < at_.size() ? at_[agent] : 0;
  }
  void set(std::size_t agent, std::uint32_t clock) {
    if (agent >= at_.size()) at_.resize(agent + 1, 0);
    at_[agent] = clock;
  }
  void tick(std::size_t agent) { ++at_[agent]; }
  void join(const VectorClock& other) {
    if (at_.size() < other.at_.size()) at_.resize(other.at_.size(), 0);
    for (std::size_t i = 0; i < other.at_.size(); ++i) at_[i] = std::max(at_[i], other.at_[i]);
  }

 private:
  std::vector<std::uint32_t> at_;
};

/// Who has read a place since it was written. Places that the same threads read share one set, so
/// that a set is a number and adding a reader is looking it up.
class ReaderSets {
 public:
  struct Reader {
    std::uint16_t agent = 0;
    std::uint32_t clock = 0;
    std::uint32_t lanes = 0;
    std::uint32_t instruction = 0;  ///< the last that read
  };
  static constexpr std::uint32_t kNone = 0;

  ReaderSets() : sets_(1) {}
  [[nodiscard]] const std::vector<Reader>& operator[](std::uint32_t set) const {
    return sets_[set];
  }
  [[nodiscard]] std::uint32_t with(std::uint32_t set, const Reader& reader) {
    const auto [at, fresh] =
        next_.try_emplace({set, reader.agent, reader.clock, reader.lanes, reader.instruction}, 0);
    if (!fresh) return at->second;
    std::vector<Reader> readers = sets_[set];
    const auto own = std::find_if(readers.begin(), readers.end(),
                                  [&](const Reader& r) { return r.agent == reader.agent; });
    if (own == readers.end()) {
      readers.push_back(reader);
    } else if (own->clock == reader.clock) {
      own->lanes |= reader.lanes;
      own->instruction = reader.instruction;
    } else {
      *own = reader;
    }
    sets_.push_back(std::move(readers));
    at->second = static_cast<std::uint32_t>(sets_.size()) - 1;
    return at->second;
  }

 private:
  using Key = std::tuple<std::uint32_t, std::uint16_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  std::vector<std::vector<Reader>> sets_;
  std::map<Key, std::uint32_t> next_;
};

}  // namespace kiln::emulated
