// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/failures.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace kiln {
namespace {

/// The first line without what differs between candidates: how many elements are wrong and by how
/// much, words that have a digit, and the two numbers that have none.
std::string reason_of(std::string_view message) {
  message = message.substr(0, message.find('\n'));
  for (const std::string_view measure :
       {", expected ", ", error ", " element wrong", " elements wrong"}) {
    message = message.substr(0, message.find(measure));
  }
  std::string reason;
  while (!message.empty()) {
    const auto end = std::min(message.find(' '), message.size());
    std::string_view word = message.substr(0, end);
    message.remove_prefix(std::min(end + 1, message.size()));
    const std::string_view bare = word.substr(0, word.find_first_of(",;"));
    const bool is_number =
        std::ranges::any_of(word, [](unsigned char c) { return std::isdigit(c) != 0; }) ||
        bare.ends_with("nan") || bare.ends_with("inf");
    reason += is_number ? "#" : word;
    reason += ' ';
  }
  return reason;
}

}  // namespace

std::vector<FailureGroup> failure_groups(std::span<const Trial> trials) {
  std::map<std::pair<Outcome, std::string>, std::size_t> places;
  std::vector<FailureGroup> groups;
  for (const Trial& trial : trials) {
    if (trial.outcome == Outcome::ok) continue;
    const auto [place, is_new] =
        places.try_emplace({trial.outcome, reason_of(trial.message)}, groups.size());
    if (is_new) groups.push_back({0, trial});
    ++groups[place->second].count;
  }
  std::ranges::stable_sort(groups, std::ranges::greater{}, &FailureGroup::count);
  return groups;
}

bool is_fault(Outcome outcome) {
  return outcome != Outcome::ok && outcome != Outcome::rejected &&
         outcome != Outcome::out_of_resources;
}

}  // namespace kiln
