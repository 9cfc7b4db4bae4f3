// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The look-ups' queries: the best trial of a problem, and which problems are near it.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cache/rows/candidate_rows.hpp"
#include "cache/rows/shortlist_rows.hpp"
#include "cache/rows/trial_rows.hpp"
#include "cache/store/store_impl.hpp"

namespace kiln {
namespace {

/// A query as a condition on contenders that caches results, because `admits` may be slow and the
/// same candidate often has several trials.
class Admission {
 public:
  explicit Admission(const BestQuery& query) : query_(query) {}

  bool operator()(const Contender& contender) {
    return fits(contender) && is_current(contender) && admits_config(contender);
  }
  /// The same, as if templates and judges were still what they were. Where its present state has
  /// results of its own, an older state of a template, or of its judge, is history.
  bool as_it_was(const Contender& contender, const std::vector<Contender>& all,
                 const std::function<bool(const Contender&)>& judged_again) {
    if (!fits(contender)) return false;
    if (is_current(contender)) return admits_config(contender);
    if (judged_again(contender)) return false;
    return std::none_of(all.begin(), all.end(), [&](const Contender& other) {
      return other.template_name == contender.template_name && fits(other) && is_current(other);
    });
  }
  /// Whether template and judge are those that the query admits.
  [[nodiscard]] bool is_current(const Contender& contender) const {
    const auto provenance = static_cast<Provenance>(contender.rank.provenance);
    const bool is_judged = provenance != Provenance::compiled;
    return is_current(contender.template_name, contender.template_digest,
                      is_judged ? contender.judge : query_.judge.value_or(""));
  }
  [[nodiscard]] bool is_current(std::string_view name, std::string_view digest,
                                std::string_view judge) const {
    if (query_.judge && judge != *query_.judge) return false;
    return !query_.admits_template || query_.admits_template(name, digest);
  }
  /// Whether the caller refused any for its configuration.
  [[nodiscard]] bool refused_any() const { return refused_any_; }

 private:
  [[nodiscard]] bool fits(const Contender& contender) const {
    const auto provenance = static_cast<Provenance>(contender.rank.provenance);
    if (provenance == Provenance::compiled && !query_.compiled_too) return false;
    if (query_.provenance && provenance != *query_.provenance) return false;
    return !query_.environment || (contender.driver == query_.environment->driver &&
                                   contender.toolkit == query_.environment->toolkit);
  }
  bool admits_config(const Contender& contender) {
    if (!query_.admits) return true;
    const auto [known, fresh] =
        asked_.try_emplace({contender.template_name, contender.config}, false);
    if (fresh) known->second = asks(contender);
    if (!known->second) refused_any_ = true;
    return known->second;
  }
  [[nodiscard]] bool asks(const Contender& contender) const {
    try {
      return query_.admits(contender.template_name, Config::parse(contender.config));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      return false;  // malformed: reported where the trial is read
    }
  }

  const BestQuery& query_;
  std::map<std::pair<std::string, std::string>, bool> asked_;
  bool refused_any_ = false;
};

std::optional<Trial> read_trial(const sqlite::Connection& connection, const std::string& id,
                                std::set<std::string>& corrupt) {
  sqlite::Statement rows = connection.prepare(select_trials(connection) + " WHERE t.trial_id = ?");
  rows.bind(id);
  return rows.step() ? TrialReader(corrupt).read(rows) : std::nullopt;
}

}  // namespace

const std::vector<Contender>& TuningStore::Impl::all_contenders(Pair pair,
                                                                const Objective& objective) {
  const auto stamp = connection.change_stamp();
  const auto key = std::make_pair(pair, objective.canonical());
  const auto known = contenders_.find(key);
  if (known != contenders_.end() && known->second.stamp == stamp) return known->second.list;
  if (contenders_.size() >= kMostPairs) contenders_.clear();
  std::vector<Contender> list;
  const std::vector<Trial> trials = trials_of(connection, pair, corrupt);
  for (const Trial* trial : able_trials(trials)) {
    if (trial->provenance != Provenance::compiled) objective.require_value(*trial);
  }
  for (const Trial* trial : able_trials(trials, Suspects::left_out, objective)) {
    list.push_back(contender_of(*trial, objective));
  }
  return contenders_.insert_or_assign(key, Contenders{stamp, std::move(list)}).first->second.list;
}

std::optional<Trial> TuningStore::Impl::trial_of(const Contender& contender,
                                                 const Objective& objective) {
  auto trial = read_trial(connection, contender.trial_id, corrupt);
  if (trial && contender_of(*trial, objective) == contender) return trial;
  corrupt.insert("trial " + contender.trial_id);
  return std::nullopt;
}

bool TuningStore::Impl::judged_again(
    Pair pair, const Contender& contender,
    const std::function<bool(const std::string& digest, const std::string& judge)>& is_current) {
  sqlite::Statement rows = connection.prepare(
      select_trials(connection) +
      " WHERE t.problem_id = ? AND t.device_id = ? AND m.name = ? AND t.config = ?");
  rows.bind(pair.problem_id, pair.device_id, contender.template_name, contender.config);
  TrialReader reader(corrupt);
  while (rows.step()) {
    const auto trial = reader.read(rows);
    if (!trial || static_cast<int>(trial->provenance) != contender.rank.provenance) continue;
    if (is_current(trial->key.template_digest, judge_of(*trial))) return true;
  }
  return false;
}

std::optional<Trial> TuningStore::best(const BestQuery& query) const {
  return best(query, nullptr);
}

std::optional<Trial> TuningStore::best(const BestQuery& query,
                                       std::optional<Trial>* unavailable) const {
  const sqlite::WorkLimit limit(impl_->connection, kLookUpSeconds);
  const sqlite::Snapshot snapshot(impl_->connection);
  const auto problem = find_problem(impl_->connection, query.problem);
  const auto device = find_device(impl_->connection, query.device);
  if (device && !problem) impl_->note_if_lost(query.problem, *device);
  if (!problem || !device) return std::nullopt;
  const Pair pair{*problem, *device};
  Admission admission(query);

  const auto judged_again = [&](const Contender& contender) {
    return impl_->judged_again(
        pair, contender, [&](const std::string& digest, const std::string& judge) {
          return admission.is_current(contender.template_name, digest, judge);
        });
  };
  const auto answer_from = [&](const std::vector<Contender>& contenders,
                               std::optional<Trial>& best) {
    const Decision decision =
        decide(contenders, [&](const Contender& contender) { return admission(contender); });
    if (decision.best != nullptr) {
      best = impl_->trial_of(*decision.best, query.objective);
      if (!best) return false;
    }
    if (unavailable == nullptr) return true;
    const Decision ideal = decide(contenders, [&](const Contender& contender) {
      return admission.as_it_was(contender, contenders, judged_again);
    });
    if (ideal.best != nullptr && !admission.is_current(*ideal.best)) {
      *unavailable = impl_->trial_of(*ideal.best, query.objective);
    }
    return true;
  };

  std::optional<Trial> best;
  const auto shortlist =
      find_shortlist(impl_->connection, pair, query.problem, query.device, impl_->corrupt);
  const std::vector<Contender>* const list = shortlist ? shortlist->list(query.objective) : nullptr;
  // A refused configuration may have kept others off the list, and a trial that does not match the
  // list is damaged: then all trials decide.
  if (list != nullptr && answer_from(*list, best) && !admission.refused_any()) {
    return best;
  }
  best.reset();
  (void)answer_from(impl_->all_contenders(pair, query.objective), best);
  return best;
}

std::vector<DeviceClass> TuningStore::devices(const std::string& kind_text) const {
  std::vector<DeviceClass> devices;
  sqlite::Statement rows = impl_->connection.prepare(
      fmt::format("SELECT {} FROM devices d WHERE EXISTS (SELECT 1 FROM problems p JOIN trials t "
                  "USING (problem_id) WHERE p.kind = ? AND t.device_id = d.device_id)",
                  kDeviceColumns));
  rows.bind(kind_text);
  while (rows.step()) devices.push_back(read_device(rows, 0));
  return devices;
}

NeighbourQueue TuningStore::neighbours(const Problem& problem, const DeviceClass& device,
                                       const NeighbourLimits& limits) const {
  const sqlite::WorkLimit limit(impl_->connection, kLookUpSeconds);
  const sqlite::Snapshot snapshot(impl_->connection);
  const auto device_id = find_device(impl_->connection, device);
  if (!device_id) {
    // It may be here but damaged: then what is known of it does not match.
    check_families(impl_->connection, impl_->corrupt);
    return {};
  }
  auto table = impl_->sizes_of(problem, *device_id, device);
  if (!find_problem(impl_->connection, problem)) impl_->note_if_lost(problem, *device_id);
  return {std::move(table), problem, limits};
}

void TuningStore::Impl::note_if_lost(const Problem& problem, std::int64_t device_id) {
  const auto known = size_tables_.find({problem.kind_text(), device_id});
  if (known == size_tables_.end() || !known->second.table) return;
  const std::string sizes = problem.sizes_text();
  if (known->second.table->contains(sizes)) corrupt.insert("problem " + sizes);
}

std::shared_ptr<const SizeTable> TuningStore::Impl::sizes_of(const Problem& problem,
                                                             std::int64_t device_id,
                                                             const DeviceClass& device) {
  const std::string kind = problem.kind_text();
  // A kind without a family has no problems here.
  const Family family =
      find_family(connection, kind, device_id, device, corrupt).value_or(Family{});
  const auto stamp = connection.change_stamp();
  SizeTables& known = size_tables_[{kind, device_id}];
  if (known.table && (known.fits ? known.family == family : known.stamp == stamp)) {
    return known.table;
  }

  const auto read = [&](const char* sql) {
    auto table = std::make_shared<SizeTable>(problem);
    Family found;
    std::vector<std::string> others;
    sqlite::Statement rows = connection.prepare(sql);
    rows.bind(kind, device_id);
    while (rows.step()) {
      const std::string sizes = rows.text(0);
      found.add(sizes);
      if (!table->add(sizes)) others.push_back(sizes);
    }
    known = {table, found, found == family, stamp};
    // The digest of the family says whether other names are damage, or those of a declaration that
    // had other sizes.
    if (known.fits) return;
    for (const std::string& sizes : others) corrupt.insert("problem " + sizes);
  };
  read(
      "SELECT p.sizes FROM problems p JOIN shortlists s USING (problem_id) "
      "WHERE p.kind = ? AND s.device_id = ?");
  if (known.fits && has_shortlists) return known.table;
  // Problems are missing, or too many, or their family is missing: the trials decide. Only an older
  // schema has no families at all, and that is no fault.
  read(
      "SELECT p.sizes FROM problems p WHERE p.kind = ? AND EXISTS "
      "(SELECT 1 FROM trials t WHERE t.problem_id = p.problem_id AND t.device_id = ?)");
  if (!known.fits && has_shortlists) corrupt.insert("family " + kind);
  known.fits = false;
  return known.table;
}

}  // namespace kiln
