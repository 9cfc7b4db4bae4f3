// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What `kiln list` shows: one summary for each problem and device, from their shortlists.
#include <fmt/format.h>

#include <algorithm>

#include "cache/rows/candidate_rows.hpp"
#include "cache/rows/shortlist_rows.hpp"
#include "cache/store/store_impl.hpp"

namespace kiln {

std::optional<ProblemSummary> TuningStore::Impl::summary_of(Pair pair, const Problem& problem,
                                                            const DeviceClass& device,
                                                            const ProblemFilter& filter) {
  ProblemSummary summary;
  summary.problem = problem;
  summary.device = device;
  const auto fill = [&](const Shortlist& shortlist) {
    summary.trials = shortlist.trials;
    summary.ok = shortlist.ok;
    summary.failed = shortlist.trials - shortlist.ok;
    summary.provenance = shortlist.provenance;
    Decision decision = decide(shortlist.contenders, [&](const Contender& contender) {
      return !filter.admits || filter.admits(problem, contender);
    });
    summary.is_admitted = decision.best != nullptr;
    if (!summary.is_admitted) {
      decision = decide(shortlist.contenders, [](const Contender&) { return true; });
    }
    summary.best.reset();
    if (decision.best == nullptr) return true;
    summary.best = trial_of(*decision.best);
    if (summary.best) summary.provenance = summary.best->provenance;
    return summary.best.has_value();
  };
  const auto stored = find_shortlist(connection, pair, problem, device, corrupt);
  // All its trials were removed, by hand or by prune.
  if (stored && stored->trials == 0) return std::nullopt;
  if (!stored || !fill(*stored)) {
    const Shortlist fresh = shortlist_of(trials_of(connection, pair, corrupt));
    if (fresh.trials == 0) return std::nullopt;
    (void)fill(fresh);
  }
  return summary;
}

std::vector<ProblemSummary> TuningStore::summaries(const ProblemFilter& filter) const {
  const sqlite::WorkLimit limit(impl_->connection, reading_seconds(impl_->connection));
  const sqlite::Snapshot snapshot(impl_->connection);
  std::optional<std::int64_t> only;
  if (filter.problem) {
    only = find_problem(impl_->connection, *filter.problem);
    if (!only) return {};
  }
  auto sessions = impl_->last_sessions(only);
  const std::vector<Pair> pairs = all_pairs(impl_->connection);
  std::vector<ProblemSummary> found;
  found.reserve(pairs.size());
  for (const Pair& pair : pairs) {
    if (only && pair.problem_id != *only) continue;
    const auto subject = subject_of(impl_->connection, pair);
    if (!subject) {
      impl_->corrupt.insert(
          fmt::format("problem {} or device {}", pair.problem_id, pair.device_id));
      continue;
    }
    if (!filter.kind_text.empty() && subject->problem.kind_text() != filter.kind_text) continue;
    auto summary = impl_->summary_of(pair, subject->problem, subject->device, filter);
    if (!summary) continue;
    if (const auto session = sessions.find(pair); session != sessions.end()) {
      summary->last_session = std::move(session->second);
    }
    found.push_back(std::move(*summary));
  }
  // The texts to sort by are made once, and what they belong to is moved once.
  using Key = std::pair<std::string, std::string>;
  std::vector<std::pair<Key, std::size_t>> order;
  order.reserve(found.size());
  for (const ProblemSummary& summary : found) {
    order.emplace_back(Key(summary.problem.canonical(), summary.device.canonical()), order.size());
  }
  std::sort(order.begin(), order.end());
  std::vector<ProblemSummary> summaries;
  summaries.reserve(found.size());
  for (const auto& [key, place] : order) summaries.push_back(std::move(found[place]));
  return summaries;
}

}  // namespace kiln
