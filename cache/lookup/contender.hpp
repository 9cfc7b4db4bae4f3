// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cache/lookup/ranking.hpp"

namespace kiln {

/// An eligible trial that nothing disqualifies, reduced to what choosing the best needs.
struct Contender {
  std::string trial_id;
  Rank rank;
  std::string template_name;
  std::string template_digest;
  std::string config;  ///< canonical text
  std::string driver;
  std::string toolkit;
  std::string judge;  ///< judge_of() the trial; "" for one that was only compiled
  friend bool operator==(const Contender&, const Contender&) = default;
};

[[nodiscard]] Contender contender_of(const Trial& trial, const Objective& objective = {});

/// The orders of docs/reference/schema.md: which leads, and which is preferred among those that tie
/// with the leader. Both are strict and total.
[[nodiscard]] bool leads(const Contender& left, const Contender& right);
[[nodiscard]] bool preferred_in_tie(const Contender& left, const Contender& right);

/// The first by leads(), and the one preferred among those that tie with it, which is the best.
/// Both null when there is none.
struct Decision {
  const Contender* leader = nullptr;
  const Contender* best = nullptr;
};
/// Decides among those that `admits` accepts; `contenders` are in the order of leads(). Calls
/// `admits` for as few as it can, and at most once for each: it may be slow.
[[nodiscard]] Decision decide(std::span<const Contender> contenders,
                              const std::function<bool(const Contender&)>& admits);

/// Those, in the order of leads(), of which one is always the best whatever set of provenances,
/// templates, judges and environments a look-up is restricted to. The others each have a rival of
/// the same provenance, template, judge and environment that costs no more, is measured at least as
/// precisely and is preferred in a tie; so wherever they are admitted, that rival is admitted too
/// and goes first.
[[nodiscard]] std::vector<Contender> shortlist_of(std::vector<Contender> contenders);

}  // namespace kiln
