// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What `kiln list` shows: one summary for each problem and device, from their shortlists.
#include <fmt/format.h>

#include <algorithm>

#include "cache/candidate_rows.hpp"
#include "cache/shortlist_rows.hpp"
#include "cache/store_impl.hpp"

namespace kiln {
namespace {

std::vector<Pair> pairs_of(const sqlite::Connection& connection, const ProblemFilter& filter) {
  std::vector<Pair> pairs = all_pairs(connection);
  if (!filter.problem) return pairs;
  const auto problem = find_problem(connection, *filter.problem);
  std::erase_if(pairs, [&](const Pair& pair) { return pair.problem_id != problem; });
  return pairs;
}

/// Whether the index that finds the sessions of a problem has them all.
bool finds_all_sessions(const sqlite::Connection& connection) {
  return connection.integer("SELECT count(*) FROM sessions NOT INDEXED") ==
         connection.integer("SELECT count(*) FROM sessions INDEXED BY sessions_by_problem");
}

}  // namespace

std::optional<ProblemSummary> TuningStore::Impl::summary_of(Pair pair, const Problem& problem,
                                                            const DeviceClass& device) {
  ProblemSummary summary;
  summary.problem = problem;
  summary.device = device;
  const auto fill = [&](const Shortlist& shortlist) {
    summary.trials = shortlist.trials;
    summary.ok = shortlist.ok;
    summary.failed = shortlist.trials - shortlist.ok;
    summary.provenance = shortlist.provenance;
    const Decision decision = decide(shortlist.contenders, [](const Contender&) { return true; });
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
  summary.last_session_state = last_session_state(pair);
  return summary;
}

std::vector<ProblemSummary> TuningStore::summaries(const ProblemFilter& filter) const {
  const sqlite::WorkLimit limit(impl_->connection, reading_seconds(impl_->connection));
  const sqlite::Snapshot snapshot(impl_->connection);
  if (!finds_all_sessions(impl_->connection)) impl_->corrupt.insert("index of sessions");
  using Key = std::pair<std::string, std::string>;
  std::vector<std::pair<Key, ProblemSummary>> found;
  for (const Pair& pair : pairs_of(impl_->connection, filter)) {
    const auto subject = subject_of(impl_->connection, pair);
    if (!subject) {
      impl_->corrupt.insert(
          fmt::format("problem {} or device {}", pair.problem_id, pair.device_id));
      continue;
    }
    if (!filter.kind_text.empty() && subject->problem.kind_text() != filter.kind_text) continue;
    auto summary = impl_->summary_of(pair, subject->problem, subject->device);
    if (!summary) continue;
    found.emplace_back(Key(subject->problem.canonical(), subject->device.canonical()),
                       std::move(*summary));
  }
  std::sort(found.begin(), found.end(),
            [](const auto& left, const auto& right) { return left.first < right.first; });
  std::vector<ProblemSummary> summaries;
  summaries.reserve(found.size());
  for (auto& [key, summary] : found) summaries.push_back(std::move(summary));
  return summaries;
}

}  // namespace kiln
