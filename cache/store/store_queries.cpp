// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Raw trials, for callers that want all of them.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "cache/lookup/ranking.hpp"
#include "cache/rows/candidate_rows.hpp"
#include "cache/rows/trial_rows.hpp"
#include "cache/rows/where_clause.hpp"
#include "cache/store/store_impl.hpp"

namespace kiln {
namespace {

WhereClause conditions(const TrialFilter& filter) {
  WhereClause where;
  if (!filter.operation.empty()) where.add("p.operation = ?", {filter.operation});
  if (filter.problem) {
    where.add("p.kind = ? AND p.sizes = ?",
              {filter.problem->kind_text(), filter.problem->sizes_text()});
  }
  if (!filter.kind_text.empty()) where.add("p.kind = ?", {filter.kind_text});
  if (filter.device) {
    const DeviceClass& device = *filter.device;
    where.add(
        "d.name = ? AND d.arch = ? AND d.sm_count = ? AND d.l2_bytes = ? AND "
        "d.mig_profile = ?",
        {device.name, device.arch, std::int64_t{device.sm_count}, device.l2_bytes,
         device.mig_profile});
  }
  if (!filter.template_name.empty()) where.add("m.name = ?", {filter.template_name});
  if (filter.outcome) where.add("t.outcome = ?", {std::string(to_string(*filter.outcome))});
  if (filter.provenance) {
    where.add("t.provenance = ?", {std::string(to_string(*filter.provenance))});
  }
  if (!filter.session_id.empty()) where.add("t.session_id = ?", {filter.session_id});
  return where;
}

}  // namespace

std::vector<Trial> TuningStore::trials(const TrialFilter& filter) const {
  const sqlite::WorkLimit limit(impl_->connection, reading_seconds(impl_->connection));
  const WhereClause where = conditions(filter);
  const bool newest_first = filter.limit > 0;
  std::string sql =
      select_trials(impl_->connection) + where.text() +
      fmt::format(" ORDER BY t.created_unix_ms {0}, t.trial_id {0}", newest_first ? "DESC" : "ASC");
  if (newest_first) sql += fmt::format(" LIMIT {}", filter.limit);
  sqlite::Statement rows = impl_->connection.prepare(sql);
  where.bind_to(rows);
  TrialReader reader(impl_->corrupt);
  std::vector<Trial> trials;
  while (rows.step()) {
    if (auto trial = reader.read(rows)) trials.push_back(std::move(*trial));
  }
  if (newest_first) std::reverse(trials.begin(), trials.end());
  return trials;
}

std::optional<Trial> TuningStore::trial_of_code(const CodeQuery& query) const {
  const sqlite::WorkLimit limit(impl_->connection, kLookUpSeconds);
  const auto problem = find_problem(impl_->connection, query.problem);
  const auto device = find_device(impl_->connection, query.device);
  if (!problem || !device || query.code_digest.empty()) return std::nullopt;
  WhereClause where;
  where.add("t.problem_id = ? AND t.device_id = ? AND t.code_digest = ? AND t.code_digest <> ''",
            {*problem, *device, query.code_digest});
  where.add("t.provenance = ?", {std::string(to_string(query.provenance))});
  const Environment& environment = query.environment;
  where.add("e.driver = ? AND e.toolkit = ? AND e.policy = ?",
            {environment.driver, environment.toolkit, environment.policy});
  if (!query.session_id.empty()) where.add("t.session_id = ?", {query.session_id});
  sqlite::Statement rows = impl_->connection.prepare(
      select_trials(impl_->connection) + where.text() +
      " ORDER BY t.outcome = 'wrong_result' DESC, t.created_unix_ms DESC, t.trial_id DESC");
  where.bind_to(rows);
  TrialReader reader(impl_->corrupt);
  while (rows.step()) {
    auto trial = reader.read(rows);
    if (trial && judge_of(*trial) == query.judge) return trial;
  }
  return std::nullopt;
}

std::vector<Trial> latest_of(const std::vector<Trial>& trials) {
  // Keeping the last of each candidate means keeping the first of each from the back.
  std::set<std::tuple<std::string, std::string, Config, Provenance, std::string>> seen;
  std::vector<Trial> latest;
  for (std::size_t i = trials.size(); i-- > 0;) {
    const Trial& trial = trials[i];
    const CandidateKey& key = trial.key;
    if (seen.emplace(key.template_name, key.template_digest, key.config, trial.provenance,
                     judge_of(trial))
            .second) {
      latest.push_back(trial);
    }
  }
  std::reverse(latest.begin(), latest.end());
  return latest;
}

std::vector<Trial> TuningStore::latest_trials(const Problem& problem,
                                              const DeviceClass& device) const {
  TrialFilter filter;
  filter.problem = problem;
  filter.device = device;
  return latest_of(trials(filter));
}

}  // namespace kiln
