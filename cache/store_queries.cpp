// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the store answers: lists, summaries, and the best trial.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "cache/candidate_rows.hpp"
#include "cache/ranking.hpp"
#include "cache/store_impl.hpp"
#include "cache/trial_rows.hpp"
#include "cache/where_clause.hpp"

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

/// "t.template_id IN (3,5)" of the templates that the query admits; nothing when there are none.
std::optional<std::string> admitted_templates(const sqlite::Connection& connection,
                                              const BestQuery& query) {
  if (!query.admits_template) return "1";
  std::vector<std::int64_t> ids;
  sqlite::Statement rows = connection.prepare("SELECT template_id, name, digest FROM templates");
  while (rows.step()) {
    if (query.admits_template(rows.text(1), rows.text(2))) ids.push_back(rows.integer(0));
  }
  if (ids.empty()) return std::nullopt;
  return fmt::format("t.template_id IN ({})", fmt::join(ids, ","));
}

/// The twin of what standing_of() asks of a candidate: never wrong, and no fault since.
constexpr const char* kTrusted =
    "NOT EXISTS (SELECT 1 FROM trials w WHERE w.outcome = 'wrong_result' AND "
    "w.problem_id = t.problem_id AND w.device_id = t.device_id AND "
    "w.template_id = t.template_id AND w.config = t.config) AND "
    "NOT EXISTS (SELECT 1 FROM trials f WHERE f.outcome IN ('crashed', 'timed_out') AND "
    "f.problem_id = t.problem_id AND f.device_id = t.device_id AND "
    "f.template_id = t.template_id AND f.config = t.config AND "
    "f.provenance_rank <= t.provenance_rank AND "
    "(f.created_unix_ms, f.trial_id) > (t.created_unix_ms, t.trial_id))";

}  // namespace

std::vector<Trial> TuningStore::trials(const TrialFilter& filter) const {
  const WhereClause where = conditions(filter);
  const bool newest_first = filter.limit > 0;
  std::string sql =
      select_trials() + where.text() +
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

std::vector<ProblemSummary> TuningStore::summaries(const TrialFilter& filter) const {
  std::map<std::pair<std::string, std::string>, std::vector<Trial>> groups;
  for (Trial& trial : trials(filter)) {
    groups[{trial.key.problem.canonical(), trial.key.device.canonical()}].push_back(
        std::move(trial));
  }
  std::map<std::pair<std::string, std::string>, std::string> states;
  for (const SessionRecord& session : sessions(filter)) {
    states[{session.problem.canonical(), session.device.canonical()}] = session.state;
  }

  std::vector<ProblemSummary> summaries;
  for (const auto& [key, group] : groups) {
    ProblemSummary summary;
    summary.problem = group.front().key.problem;
    summary.device = group.front().key.device;
    summary.trials = group.size();
    summary.provenance = Provenance::compiled;
    for (const Trial& trial : group) {
      ++(trial.outcome == Outcome::ok ? summary.ok : summary.failed);
      summary.provenance = std::min(summary.provenance, trial.provenance);
    }
    if (const Trial* best = best_of(group)) {
      summary.best = *best;
      summary.provenance = best->provenance;
    }
    if (const auto state = states.find(key); state != states.end()) {
      summary.last_session_state = state->second;
    }
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

std::optional<Trial> TuningStore::best(const BestQuery& query) const {
  const sqlite::Connection& connection = impl_->connection;
  const auto problem = find_problem(connection, query.problem);
  const auto device = find_device(connection, query.device);
  const auto templates = admitted_templates(connection, query);
  if (!problem || !device || !templates) return std::nullopt;

  WhereClause where;
  where.add("t.eligible = 1 AND t.problem_id = ? AND t.device_id = ?", {*problem, *device});
  where.add(*templates, {});
  where.add(kTrusted, {});
  if (!query.compiled_too) where.add("t.provenance <> 'compiled'", {});
  if (query.provenance) {
    where.add("t.provenance = ?", {std::string(to_string(*query.provenance))});
  }
  if (query.environment) {
    where.add("e.driver = ? AND e.toolkit = ?",
              {query.environment->driver, query.environment->toolkit});
  }
  TrialReader reader(impl_->corrupt);
  const auto admitted = [&](const sqlite::Statement& row) -> std::optional<Trial> {
    auto trial = reader.read(row);
    // The full key is compared again, whatever an index or a generated column claimed.
    if (!trial || trial->key.problem != query.problem || trial->key.device != query.device ||
        !eligible(*trial) || (query.admits && !query.admits(*trial))) {
      return std::nullopt;
    }
    return trial;
  };

  // The index gives the leader without reading the rest.
  std::optional<Trial> leader;
  {
    sqlite::Statement rows = connection.prepare(
        select_trials_by_cost() + where.text() +
        " ORDER BY t.provenance_rank, t.cost, coalesce(t.registers, 2147483647), m.name, t.config, "
        "t.trial_id");
    where.bind_to(rows);
    while (!leader && rows.step()) leader = admitted(rows);
  }
  if (!leader) return std::nullopt;

  const Rank rank = rank_of(*leader);
  sqlite::Statement rows = connection.prepare(
      select_trials_by_cost() + where.text() +
      " AND t.provenance_rank = ? AND t.cost <= ? AND t.cost - t.noise <= ?"
      " ORDER BY coalesce(t.registers, 2147483647), m.name, t.config, t.cost, t.trial_id");
  where.bind_to(rows);
  rows.bind(rank.provenance, tie_limit(rank), rank.cost + rank.noise);
  while (rows.step()) {
    auto trial = admitted(rows);
    if (trial && ties_with(rank_of(*trial), rank)) return trial;
  }
  return leader;
}

std::vector<Problem> TuningStore::problems(const std::string& kind_text,
                                           const DeviceClass& device) const {
  std::vector<Problem> problems;
  const auto device_id = find_device(impl_->connection, device);
  if (!device_id) return problems;
  sqlite::Statement rows = impl_->connection.prepare(
      "SELECT p.kind, p.sizes FROM problems p WHERE p.kind = ? AND EXISTS "
      "(SELECT 1 FROM trials t WHERE t.problem_id = p.problem_id AND t.device_id = ? AND "
      "t.eligible = 1 AND t.provenance_rank < 2) ORDER BY p.sizes");
  rows.bind(kind_text, *device_id);
  while (rows.step()) {
    try {
      problems.push_back(Problem::parse(rows.text(0) + " | " + rows.text(1)));
    } catch (const Error&) {
      impl_->corrupt.insert("problem " + rows.text(1));
    }
  }
  return problems;
}

std::vector<Trial> TuningStore::latest_trials(const Problem& problem,
                                              const DeviceClass& device) const {
  TrialFilter filter;
  filter.problem = problem;
  filter.device = device;
  std::vector<Trial> latest = trials(filter);
  // Keeping the last of each candidate means keeping the first of each from the back.
  std::set<std::tuple<std::string, std::string, Config, Provenance>> seen;
  std::reverse(latest.begin(), latest.end());
  std::erase_if(latest, [&](const Trial& trial) {
    return !seen.emplace(trial.key.template_name, trial.key.template_digest, trial.key.config,
                         trial.provenance)
                .second;
  });
  std::reverse(latest.begin(), latest.end());
  return latest;
}

}  // namespace kiln
