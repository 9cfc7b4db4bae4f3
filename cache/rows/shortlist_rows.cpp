// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/rows/shortlist_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <utility>

#include "cache/rows/candidate_rows.hpp"
#include "cache/rows/row_digest.hpp"
#include "cache/rows/trial_rows.hpp"
#include "cache/schema/schema.hpp"

namespace kiln {
namespace {

void put_family(const sqlite::Connection& connection, const std::string& kind,
                std::int64_t device_id, const DeviceClass& device, const Family& family) {
  connection
      .prepare(
          "INSERT OR REPLACE INTO families (kind, device_id, problems, mark, digest) "
          "VALUES (?, ?, ?, ?, ?)")
      .bind(kind, device_id, family.problems, std::bit_cast<std::int64_t>(family.mark),
            row_digest(family, kind, device))
      .run();
}

/// Writes the row; a pair that had none becomes one of its family.
void put_shortlist(const sqlite::Connection& connection, Pair pair, const Subject& subject,
                   const Shortlist& shortlist) {
  ListTexts lists;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    lists[i] = contenders_text(shortlist.*kListedObjectives[i].list);
  }
  const std::string digest = row_digest(shortlist, lists, subject.problem, subject.device);
  const auto trials = static_cast<std::int64_t>(shortlist.trials);
  const auto ok = static_cast<std::int64_t>(shortlist.ok);
  connection
      .prepare(
          "UPDATE shortlists SET trials = ?, ok = ?, provenance = ?, contenders = ?, "
          "by_energy = ?, by_energy_delay = ?, digest = ? WHERE problem_id = ? AND device_id = ?")
      .bind(trials, ok, to_string(shortlist.provenance), lists[0], lists[1], lists[2], digest,
            pair.problem_id, pair.device_id)
      .run();
  if (connection.changes() > 0) return;
  connection
      .prepare(
          "INSERT INTO shortlists (trials, ok, provenance, contenders, by_energy, "
          "by_energy_delay, digest, problem_id, device_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(trials, ok, to_string(shortlist.provenance), lists[0], lists[1], lists[2], digest,
            pair.problem_id, pair.device_id)
      .run();
  std::set<std::string> ignored;
  const std::string kind = subject.problem.kind_text();
  Family family =
      find_family(connection, kind, pair.device_id, subject.device, ignored).value_or(Family{});
  family.add(subject.problem.sizes_text());
  put_family(connection, kind, pair.device_id, subject.device, family);
}

/// The index of codes holds only trials whose code is known.
constexpr const char* kSameCode =
    "t.problem_id = ? AND t.device_id = ? AND t.code_digest = ? AND t.code_digest <> ''";

/// The trials that decide whether `trial` counts: itself, and those that disqualify its candidate,
/// its code or, as long as nothing checked it, its template.
std::vector<Trial> trial_and_faults(const sqlite::Connection& connection, Pair pair,
                                    const Trial& trial) {
  std::set<std::string> ignored;
  TrialReader reader(ignored);
  sqlite::Statement rows = connection.prepare(
      select_trials(connection) +
      " WHERE t.problem_id = ? AND t.device_id = ? AND m.name = ? AND m.digest = ? AND "
      "t.config = ? AND t.outcome IN ('wrong_result', 'crashed', 'timed_out')");
  rows.bind(pair.problem_id, pair.device_id, trial.key.template_name, trial.key.template_digest,
            trial.key.config.canonical());
  sqlite::Statement of_code = connection.prepare(fmt::format(
      "{} WHERE {} AND t.outcome = 'wrong_result'", select_trials(connection), kSameCode));
  of_code.bind(pair.problem_id, pair.device_id, trial.code_digest);
  sqlite::Statement of_template = connection.prepare(
      select_trials(connection) +
      " WHERE t.problem_id = ? AND t.device_id = ? AND m.name = ? AND m.digest = ? AND "
      "t.checked = 1 AND t.outcome = 'wrong_result'");
  of_template.bind(pair.problem_id, pair.device_id, trial.key.template_name,
                   trial.key.template_digest);
  std::vector<Trial> trials{trial};
  for (sqlite::Statement* faults : {&rows, &of_code, &of_template}) {
    while (faults->step()) {
      if (auto fault = reader.read(*faults)) trials.push_back(std::move(*fault));
    }
  }
  return trials;
}

/// Whether the trial says of its code, which others have, too, that it is wrong, or of its
/// template that it has to be checked.
bool discredits_others(const sqlite::Connection& connection, Pair pair, const Trial& trial) {
  if (is_check_finding(trial)) return true;
  if (trial.outcome != Outcome::wrong_result || trial.code_digest.empty()) return false;
  sqlite::Statement others = connection.prepare(
      fmt::format("SELECT 1 FROM trials t WHERE {} AND t.eligible = 1", kSameCode));
  return others.bind(pair.problem_id, pair.device_id, trial.code_digest).step();
}

/// Whether the trial's candidate is among the contenders.
bool lists(const Shortlist& shortlist, const Trial& trial) {
  const std::string config = trial.key.config.canonical();
  return std::any_of(
      shortlist.contenders.begin(), shortlist.contenders.end(), [&](const Contender& contender) {
        return contender.template_name == trial.key.template_name &&
               contender.template_digest == trial.key.template_digest && contender.config == config;
      });
}

using Families = std::map<std::pair<std::string, std::int64_t>, Family>;

Families families_as_they_are(const sqlite::Connection& connection) {
  Families families;
  sqlite::Statement rows = connection.prepare(
      "SELECT p.kind, s.device_id, p.sizes FROM shortlists s JOIN problems p USING (problem_id)");
  while (rows.step()) families[{rows.text(0), rows.integer(1)}].add(rows.text(2));
  return families;
}

bool families_fit(const sqlite::Connection& connection, const Families& families) {
  if (connection.integer("SELECT count(*) FROM families") !=
      static_cast<std::int64_t>(families.size())) {
    return false;
  }
  std::set<std::string> ignored;
  return std::all_of(families.begin(), families.end(), [&](const auto& entry) {
    const auto& [key, family] = entry;
    const auto device = device_of(connection, key.second);
    return device && find_family(connection, key.first, key.second, *device, ignored) == family;
  });
}

std::vector<Pair> read_pairs(const sqlite::Connection& connection, const char* sql) {
  std::vector<Pair> pairs;
  sqlite::Statement rows = connection.prepare(sql);
  while (rows.step()) pairs.push_back({rows.integer(0), rows.integer(1)});
  return pairs;
}

/// Every pair that has trials, in order, from the trials themselves.
std::vector<Pair> pairs_with_trials(const sqlite::Connection& connection) {
  // The index finds the next pair at once; scanning all trials for distinct pairs takes longer.
  std::vector<Pair> pairs;
  sqlite::Statement next = connection.prepare(
      "SELECT problem_id, device_id FROM trials INDEXED BY trials_by_candidate "
      "WHERE (problem_id, device_id) > (?, ?) ORDER BY problem_id, device_id LIMIT 1");
  next.bind(std::int64_t{-1}, std::int64_t{-1});
  while (next.step()) {
    pairs.push_back({next.integer(0), next.integer(1)});
    next.rewind();
    next.bind(pairs.back().problem_id, pairs.back().device_id);
  }
  return pairs;
}

/// Whether there is a shortlist for every pair, judging by the families.
bool shortlists_complete(const sqlite::Connection& connection) {
  const Families families = families_as_they_are(connection);
  if (families.empty())
    return connection.integer("SELECT count(*) FROM (SELECT 1 FROM trials LIMIT 1)") == 0;
  return families_fit(connection, families);
}

constexpr const char* kOutOfDate = "SELECT problem_id, device_id FROM shortlists WHERE digest = ''";

}  // namespace

std::optional<Subject> subject_of(const sqlite::Connection& connection, Pair pair) {
  sqlite::Statement row =
      connection.prepare(fmt::format("SELECT p.kind, p.sizes, {} FROM problems p, devices d "
                                     "WHERE p.problem_id = ? AND d.device_id = ?",
                                     kDeviceColumns));
  row.bind(pair.problem_id, pair.device_id);
  if (!row.step()) return std::nullopt;
  try {
    return Subject{Problem::parse(row.text(0) + " | " + row.text(1)), read_device(row, 2)};
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<DeviceClass> device_of(const sqlite::Connection& connection, std::int64_t id) {
  sqlite::Statement row = connection.prepare(
      fmt::format("SELECT {} FROM devices d WHERE d.device_id = ?", kDeviceColumns));
  row.bind(id);
  if (!row.step()) return std::nullopt;
  return read_device(row, 0);
}

std::vector<Trial> trials_of(const sqlite::Connection& connection, Pair pair,
                             std::set<std::string>& corrupt) {
  TrialReader reader(corrupt);
  sqlite::Statement rows =
      connection.prepare(select_trials(connection) + " WHERE t.problem_id = ? AND t.device_id = ?" +
                         " ORDER BY t.created_unix_ms, t.trial_id");
  rows.bind(pair.problem_id, pair.device_id);
  std::vector<Trial> trials;
  while (rows.step()) {
    if (auto trial = reader.read(rows)) trials.push_back(std::move(*trial));
  }
  return trials;
}

std::optional<Shortlist> find_shortlist(const sqlite::Connection& connection, Pair pair,
                                        const Problem& problem, const DeviceClass& device,
                                        std::set<std::string>& corrupt) {
  sqlite::Statement row = connection.prepare(
      fmt::format("SELECT trials, ok, provenance, contenders, digest, {} FROM shortlists "
                  "WHERE problem_id = ? AND device_id = ?",
                  has_energy(connection) ? "by_energy, by_energy_delay" : "'[]', '[]'"));
  row.bind(pair.problem_id, pair.device_id);
  if (!row.step() || row.text(4).empty()) return std::nullopt;
  const auto provenance = parse_provenance(row.text(2));
  Shortlist shortlist;
  shortlist.trials = static_cast<std::uint64_t>(row.integer(0));
  shortlist.ok = static_cast<std::uint64_t>(row.integer(1));
  shortlist.provenance = provenance.value_or(Provenance::compiled);
  const ListTexts lists{row.text(3), row.text(5), row.text(6)};
  if (provenance && row_digest(shortlist, lists, problem, device) == row.text(4)) {
    try {
      for (std::size_t i = 0; i < lists.size(); ++i) {
        shortlist.*kListedObjectives[i].list = parse_contenders(lists[i]);
      }
      return shortlist;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
    }
  }
  corrupt.insert("shortlist of " + problem.sizes_text());
  return std::nullopt;
}

std::optional<Family> find_family(const sqlite::Connection& connection, const std::string& kind,
                                  std::int64_t device_id, const DeviceClass& device,
                                  std::set<std::string>& corrupt) {
  sqlite::Statement row = connection.prepare(
      "SELECT problems, mark, digest FROM families WHERE kind = ? AND device_id = ?");
  row.bind(kind, device_id);
  if (!row.step()) return std::nullopt;
  const Family family{row.integer(0), std::bit_cast<std::uint64_t>(row.integer(1))};
  if (row_digest(family, kind, device) == row.text(2)) return family;
  corrupt.insert("family " + kind);
  return std::nullopt;
}

void check_families(const sqlite::Connection& connection, std::set<std::string>& corrupt) {
  sqlite::Statement rows = connection.prepare("SELECT kind, device_id FROM families");
  while (rows.step()) {
    const std::string kind = rows.text(0);
    const auto device = device_of(connection, rows.integer(1));
    if (device) {
      (void)find_family(connection, kind, rows.integer(1), *device, corrupt);
    } else {
      corrupt.insert("family " + kind);
    }
  }
}

void rebuild_shortlist(const sqlite::Connection& connection, Pair pair) {
  const auto subject = subject_of(connection, pair);
  if (!subject) return;
  std::set<std::string> left_out;
  put_shortlist(connection, pair, *subject, shortlist_of(trials_of(connection, pair, left_out)));
}

void add_to_shortlist(const sqlite::Connection& connection, Pair pair,
                      const std::vector<Trial>& trials) {
  const CandidateKey& any = trials.front().key;
  std::set<std::string> ignored;
  auto known = find_shortlist(connection, pair, any.problem, any.device, ignored);
  // A trial that a listed candidate kept off the list may belong on it when that one fails.
  const bool one_fails =
      known && std::any_of(trials.begin(), trials.end(), [&](const Trial& trial) {
        return (speaks_against(trial) && lists(*known, trial)) ||
               discredits_others(connection, pair, trial);
      });
  if (!known || one_fails) {
    rebuild_shortlist(connection, pair);
    return;
  }
  for (const Trial& trial : trials) {
    ++known->trials;
    if (trial.outcome == Outcome::ok) ++known->ok;
    known->provenance = std::min(known->provenance, trial.provenance);
    if (!eligible(trial)) continue;
    const std::vector<Trial> deciding = trial_and_faults(connection, pair, trial);
    for (const auto& [name, list] : kListedObjectives) {
      const Objective objective = Objective::read(name).value();
      for (const Trial* able : able_trials(deciding, Suspects::left_out, objective)) {
        ((*known).*list).push_back(contender_of(*able, objective));
      }
    }
  }
  for (const auto& [name, list] : kListedObjectives) {
    (*known).*list = shortlist_of(std::move((*known).*list));
  }
  put_shortlist(connection, pair, {any.problem, any.device}, *known);
}

bool shortlists_need_mending(const sqlite::Connection& connection) {
  return connection.prepare(kOutOfDate).step() || !shortlists_complete(connection);
}

void repair_shortlists(const sqlite::Connection& connection) {
  const bool complete = shortlists_complete(connection);
  sqlite::Statement known = connection.prepare(
      "SELECT 1 FROM shortlists WHERE problem_id = ? AND device_id = ? AND digest <> ''");
  for (const Pair& pair :
       complete ? read_pairs(connection, kOutOfDate) : pairs_with_trials(connection)) {
    if (!known.bind(pair.problem_id, pair.device_id).step()) rebuild_shortlist(connection, pair);
    known.rewind();
  }
  if (complete) return;
  connection.prepare("DELETE FROM families").run();
  for (const auto& [key, family] : families_as_they_are(connection)) {
    if (const auto device = device_of(connection, key.second)) {
      put_family(connection, key.first, key.second, *device, family);
    }
  }
}

std::vector<Pair> all_pairs(const sqlite::Connection& connection) {
  if (shortlists_complete(connection)) {
    std::vector<Pair> pairs = read_pairs(
        connection, "SELECT problem_id, device_id FROM shortlists ORDER BY problem_id, device_id");
    // This may read a different index than the one that the families were compared with.
    const std::int64_t expected =
        connection.integer("SELECT coalesce(sum(problems), 0) FROM families");
    const bool all_differ =
        std::adjacent_find(pairs.begin(), pairs.end(), std::greater_equal<>()) == pairs.end();
    if (all_differ && static_cast<std::int64_t>(pairs.size()) == expected) return pairs;
  }
  return pairs_with_trials(connection);
}

}  // namespace kiln
