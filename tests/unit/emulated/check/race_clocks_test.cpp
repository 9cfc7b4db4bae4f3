// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/check/race_clocks.hpp"

#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

namespace kiln::emulated {
namespace {

// Clocks have groups of agents in common, of which a user must not notice anything.
RC_GTEST_PROP(VectorClock, IsANumberForEachAgentOfItsOwn, ()) {
  constexpr std::size_t kClocks = 4;
  std::array<VectorClock, kClocks> clocks;
  std::array<std::map<std::size_t, std::uint32_t>, kClocks> plain;
  const int steps = *rc::gen::inRange(1, 80);
  for (int step = 0; step < steps; ++step) {
    const auto at = *rc::gen::inRange<std::size_t>(0, kClocks);
    const auto other = *rc::gen::inRange<std::size_t>(0, kClocks);
    const auto agent = *rc::gen::inRange<std::size_t>(0, 100);
    const auto value = *rc::gen::inRange<std::uint32_t>(0, 20);
    switch (*rc::gen::inRange(0, 5)) {
      case 0:
        clocks[at].set(agent, value);
        plain[at][agent] = value;
        break;
      case 1:
        clocks[at].raise(agent, value);
        plain[at][agent] = std::max(plain[at][agent], value);
        break;
      case 2:
        clocks[at].tick(agent);
        ++plain[at][agent];
        break;
      case 3:
        clocks[at] = clocks[other];
        plain[at] = plain[other];
        break;
      default:
        clocks[at].join(clocks[other]);
        for (const auto& [each, clock] : std::map(plain[other])) {
          plain[at][each] = std::max(plain[at][each], clock);
        }
    }
  }
  for (std::size_t at = 0; at < kClocks; ++at) {
    for (std::size_t agent = 0; agent < 130; ++agent) {
      RC_ASSERT(clocks[at][agent] == plain[at][agent]);
    }
  }
}

TEST(ReaderLists, KeepFewReadingsOfOneAgentAndLoseNoLane) {
  ReaderLists lists;
  Readers readers;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    lists.add(readers, {lane + 1, 1U << lane, 100 + lane, 3, false}, 0);
    lists.add(readers, {lane + 1, 1U << lane, 200 + lane, 4, true}, 0);
  }
  std::uint32_t lanes[5] = {};
  std::uint32_t oldest[5] = {99, 99, 99, 99, 99};
  for (const Reader& reader : lists.all(readers)) {
    lanes[reader.agent] |= reader.lanes;
    oldest[reader.agent] = std::min(oldest[reader.agent], reader.clock);
  }
  EXPECT_LE(lists.all(readers).size(), 8U);
  for (const int agent : {3, 4}) {
    EXPECT_EQ(lanes[agent], 0xFFFFFFFFU);
    EXPECT_EQ(oldest[agent], 1U);
  }
}

}  // namespace
}  // namespace kiln::emulated
