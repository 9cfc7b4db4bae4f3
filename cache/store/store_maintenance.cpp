// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Maintenance on request: checking the store, and making it smaller.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "cache/exchange/offer_check.hpp"
#include "cache/lookup/ranking.hpp"
#include "cache/rows/candidate_rows.hpp"
#include "cache/rows/shortlist_rows.hpp"
#include "cache/rows/trial_check.hpp"
#include "cache/schema/schema.hpp"
#include "cache/store/store_impl.hpp"
#include "templates/operation/operation.hpp"

namespace kiln {
namespace {

using Candidate = std::tuple<std::string, std::string, Config>;

Candidate candidate_of(const Trial& trial) {
  return {trial.key.template_name, trial.key.template_digest, trial.key.config};
}

/// The trials of the best `keep_best` candidates, by the order that answers follow.
void keep_leaders(std::vector<Trial> trials, int keep_best, const Objective& objective,
                  std::set<std::string>& kept) {
  for (int place = 0; place < keep_best; ++place) {
    const Standing standing = standing_of(trials, Suspects::left_out, objective);
    if (standing.best == nullptr) return;
    kept.insert(standing.best->id);
    // Without the leader, trials would tie that do not tie now.
    kept.insert(standing.leader->id);
    const Candidate winner = candidate_of(*standing.best);
    std::erase_if(trials, [&](const Trial& trial) { return candidate_of(trial) == winner; });
  }
}

/// Ids of what may be deleted of the trials of one problem and device, oldest first.
std::vector<std::string> removable(const std::vector<Trial>& trials,
                                   const std::vector<Objective>& objectives,
                                   std::int64_t before_unix_ms, int keep_best) {
  std::set<std::string> kept;
  // Each judge has leaders of its own: which one is the present one is not known here.
  std::map<std::string, std::vector<Trial>> by_judge;
  for (const Trial& trial : trials) by_judge[judge_of(trial)].push_back(trial);
  for (const auto& [judge, judged] : by_judge) {
    for (const Objective& objective : objectives) keep_leaders(judged, keep_best, objective, kept);
  }
  const std::string& newest_session = trials.back().session_id;
  for (const Trial& trial : trials) {
    if (trial.session_id == newest_session || trial.created_unix_ms > before_unix_ms) {
      kept.insert(trial.id);
    }
  }
  std::set<Candidate> living;
  std::set<std::string> living_codes;
  std::set<std::pair<std::string, std::string>> living_templates;
  std::set<std::string> sources;
  for (const Trial& trial : trials) {
    if (!kept.contains(trial.id)) continue;
    living.insert(candidate_of(trial));
    if (!trial.code_digest.empty()) living_codes.insert(trial.code_digest);
    living_templates.emplace(trial.key.template_name, trial.key.template_digest);
    sources.insert(trial.shared_from);
  }
  kept.merge(sources);
  std::vector<std::string> ids;
  for (const Trial& trial : trials) {
    // Evidence against a candidate, its code or its template stays as long as any evidence for it.
    const bool evidence =
        (speaks_against(trial) &&
         (living.contains(candidate_of(trial)) || living_codes.contains(trial.code_digest))) ||
        (is_check_finding(trial) &&
         living_templates.contains({trial.key.template_name, trial.key.template_digest}));
    if (!evidence && !kept.contains(trial.id)) ids.push_back(trial.id);
  }
  return ids;
}

/// Why nobody asks for a problem: its operation, which is built in, has other fields. "" if
/// somebody may. What a file declares may have had other fields when it was tuned.
std::string why_undeclared(const std::string& kind, const std::string& sizes) {
  try {
    const Problem problem = Problem::parse(kind + " | " + sizes);
    const Operation* const operation = find_operation(problem.operation);
    if (operation != nullptr && !operation->is_declared()) check_declared(problem);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    return error.what();
  }
  return "";
}

/// Compares each shortlist with the trials it derives from, and checks that none is missing.
void check_shortlists(const sqlite::Connection& connection, std::set<std::string>& corrupt,
                      std::vector<std::string>& faults) {
  check_families(connection, corrupt);
  // What a person changed is marked out of date, which is no fault.
  if (connection.integer("SELECT count(*) FROM shortlists WHERE digest = ''") == 0 &&
      shortlists_need_mending(connection)) {
    faults.emplace_back(
        "some shortlists are missing or incomplete (a shortlist summarises the trials of one "
        "problem). Kiln rebuilds the shortlists when a run next opens the database for writing");
  }
  for (const Pair& pair : all_pairs(connection)) {
    const std::vector<Trial> trials = trials_of(connection, pair, corrupt);
    if (trials.empty()) continue;
    const CandidateKey& any = trials.front().key;
    const auto stored = find_shortlist(connection, pair, any.problem, any.device, corrupt);
    if (stored && *stored != shortlist_of(trials)) {
      faults.push_back(
          fmt::format("the shortlist of {} on {} does not match the stored trials (a shortlist "
                      "summarises the trials of one problem)",
                      any.problem.sizes_text(), any.device.name));
    }
  }
}

}  // namespace

std::uint64_t TuningStore::prune(std::int64_t older_than_ms, int keep_best, bool dry_run) {
  std::optional<sqlite::Transaction> transaction;
  if (!dry_run) {
    impl_->require_write();
    transaction.emplace(impl_->connection);
  }
  std::map<std::pair<std::string, std::string>, std::vector<Trial>> groups;
  for (Trial& trial : trials({})) {
    groups[{trial.key.problem.canonical(), trial.key.device.canonical()}].push_back(
        std::move(trial));
  }
  const std::int64_t before =
      older_than_ms > 0 ? unix_ms_now() - older_than_ms : std::numeric_limits<std::int64_t>::max();
  // What sessions searched for is what will be asked for.
  std::set<std::string> texts(Objective::kNames.begin(), Objective::kNames.end());
  for (const SessionRecord& session : sessions({})) texts.insert(session.objective);
  std::vector<Objective> objectives;
  for (const std::string& text : texts) {
    if (auto objective = Objective::read(text)) objectives.push_back(std::move(*objective));
  }
  std::uint64_t removed = 0;
  sqlite::Statement erase = impl_->connection.prepare("DELETE FROM trials WHERE trial_id = ?");
  for (const auto& [key, group] : groups) {
    const std::vector<std::string> ids = removable(group, objectives, before, keep_best);
    removed += ids.size();
    if (dry_run || ids.empty()) continue;
    for (const std::string& id : ids) erase.bind(id).run();
    const CandidateKey& any = group.front().key;
    rebuild_shortlist(impl_->connection, {intern_problem(impl_->connection, any.problem),
                                          intern_device(impl_->connection, any.device)});
  }
  if (transaction) transaction->commit();
  return removed;
}

std::vector<std::string> TuningStore::check() const {
  std::vector<std::string> faults;
  const sqlite::Connection& connection = impl_->connection;
  const sqlite::WorkLimit limit(connection, 2.0 * reading_seconds(connection));
  sqlite::Statement integrity = connection.prepare("PRAGMA integrity_check");
  while (integrity.step()) {
    if (integrity.text(0) != "ok") faults.push_back("SQLite: " + integrity.text(0));
  }
  sqlite::Statement references = connection.prepare("PRAGMA foreign_key_check");
  while (references.step()) {
    faults.push_back(fmt::format("{} row {} refers to a missing row of {}", references.text(0),
                                 references.integer(1), references.text(2)));
  }
  // Reading everything finds every digest mismatch.
  (void)trials({});
  (void)sessions({});
  (void)impl_->attempts({});
  sqlite::Statement problems = connection.prepare("SELECT kind, sizes, flops FROM problems");
  while (problems.step()) {
    const auto flops = flops_of(problems.text(0), problems.text(1));
    if (flops && (problems.is_null(2) || problems.real(2) != *flops)) {
      faults.push_back(
          fmt::format("problem {}: the stored FLOP count does not match the sizes of the problem",
                      problems.text(1)));
    }
    if (const auto why = why_undeclared(problems.text(0), problems.text(1)); !why.empty()) {
      faults.push_back(
          fmt::format("Kiln ignores the results of problem {}: {}", problems.text(1), why));
    }
  }
  if (impl_->has_shortlists) check_shortlists(connection, impl_->corrupt, faults);
  for (const std::string& view : altered_views(connection)) {
    faults.push_back(view +
                     ". Queries of this view may fail or return wrong rows. Kiln itself does not "
                     "read the view");
  }
  for (const std::string& row : impl_->corrupt) {
    faults.push_back(row +
                     ": the content does not match the stored digest, so Kiln ignores this row");
  }
  return faults;
}

}  // namespace kiln
