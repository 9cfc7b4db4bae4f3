// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What is known of problems that resemble one that was never tuned.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "cache/rows/candidate_rows.hpp"
#include "cache/rows/shortlist_rows.hpp"
#include "cache/store/store_impl.hpp"

namespace kiln {
namespace {

constexpr NeighbourLimits kAnyDistance{.octaves_per_size = std::numeric_limits<double>::infinity(),
                                       .octaves = std::numeric_limits<double>::infinity()};

bool nearer(const RelatedProblem& left, const RelatedProblem& right) {
  if (left.distance != right.distance) return left.distance < right.distance;
  const auto key = [](const RelatedProblem& related) {
    return std::tuple{related.problem.canonical(), related.device.canonical()};
  };
  return key(left) < key(right);
}

}  // namespace

const std::vector<TuningStore::Impl::KnownKind>& TuningStore::Impl::kinds() {
  const auto stamp = connection.change_stamp();
  if (kinds_ && kinds_->first == stamp) return kinds_->second;
  std::vector<KnownKind> found;
  const auto read = [&](const std::string& pairs) {
    found.clear();
    // Any sizes will do: a kind alone does not say which there are.
    sqlite::Statement rows = connection.prepare(
        "SELECT kind, device_id, coalesce((SELECT sizes FROM problems p WHERE p.kind = f.kind "
        "LIMIT 1), '') FROM " +
        pairs + " f");
    while (rows.step()) {
      const std::string kind = rows.text(0);
      const auto device = device_of(connection, rows.integer(1));
      try {
        const Problem problem = Problem::parse(kind + " | " + rows.text(2));
        if (device) found.push_back({problem, rows.integer(1), *device});
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::usage) throw;
        corrupt.insert("family " + kind);
      }
    }
  };
  read("families");
  check_families(connection, corrupt);
  const bool complete =
      has_shortlists && connection.integer("SELECT coalesce(sum(problems), 0) FROM families") ==
                            connection.integer("SELECT count(*) FROM shortlists");
  if (!complete) {
    if (has_shortlists) corrupt.insert("families");
    read(
        "(SELECT DISTINCT p.kind, t.device_id FROM trials t INDEXED BY trials_by_candidate "
        "JOIN problems p USING (problem_id))");
  }
  kinds_.emplace(stamp, std::move(found));
  return kinds_->second;
}

std::vector<RelatedProblem> TuningStore::related(const Problem& problem, const DeviceClass& device,
                                                 std::size_t most) const {
  const sqlite::WorkLimit limit(impl_->connection, kLookUpSeconds);
  const sqlite::Snapshot snapshot(impl_->connection);
  std::vector<RelatedProblem> found;
  for (const auto& kind : impl_->kinds()) {
    const auto apart = kind_distance(problem, device, kind.problem, kind.device);
    if (!apart) continue;
    Problem wanted = kind.problem;
    wanted.sizes = problem.sizes;
    const bool own = wanted == problem && kind.device == device;
    NeighbourQueue queue(impl_->sizes_of(wanted, kind.device_id, kind.device), wanted, kAnyDistance,
                         own ? Itself::left_out : Itself::included);
    for (std::size_t i = 0; i < most; ++i) {
      auto next = queue.next();
      if (!next) break;
      found.push_back({std::move(next->problem), kind.device, *apart + next->octaves});
    }
  }
  const auto own_device = find_device(impl_->connection, device);
  if (own_device && !find_problem(impl_->connection, problem)) {
    impl_->note_if_lost(problem, *own_device);
  }
  std::sort(found.begin(), found.end(), nearer);
  if (found.size() > most) found.resize(most);
  return found;
}

const std::vector<Contender>& TuningStore::Impl::known_contenders(const RelatedProblem& related) {
  static const std::vector<Contender> none;
  const auto problem = find_problem(connection, related.problem);
  const auto device = find_device(connection, related.device);
  if (!problem || !device) {
    // It was found among the sizes of its kind.
    corrupt.insert("problem " + related.problem.sizes_text());
    return none;
  }
  const Pair pair{*problem, *device};
  const auto stamp = connection.change_stamp();
  const auto known = shortlists_.find(pair);
  if (known != shortlists_.end() && known->second.stamp == stamp) return known->second.list;
  if (shortlists_.size() >= kMostPairs) shortlists_.clear();
  auto shortlist = find_shortlist(connection, pair, related.problem, related.device, corrupt);
  Contenders entry{
      stamp, shortlist ? std::move(shortlist->contenders) : shortlist_of(all_contenders(pair))};
  return shortlists_.insert_or_assign(pair, std::move(entry)).first->second.list;
}

std::vector<Contender> TuningStore::contenders(const RelatedProblem& related) const {
  const sqlite::WorkLimit limit(impl_->connection, kLookUpSeconds);
  const sqlite::Snapshot snapshot(impl_->connection);
  return impl_->known_contenders(related);
}

bool TuningStore::judged_again(const RelatedProblem& related, const Contender& contender,
                               const std::string& template_digest,
                               const std::optional<std::string>& judge) const {
  const sqlite::WorkLimit limit(impl_->connection, kLookUpSeconds);
  const sqlite::Snapshot snapshot(impl_->connection);
  const auto problem = find_problem(impl_->connection, related.problem);
  const auto device = find_device(impl_->connection, related.device);
  if (!problem || !device) return false;
  return impl_->judged_again({*problem, *device}, contender,
                             [&](const std::string& digest, const std::string& by) {
                               return digest == template_digest && (!judge || by == *judge);
                             });
}

std::optional<Trial> TuningStore::trial(const Contender& contender) const {
  const sqlite::WorkLimit limit(impl_->connection, kLookUpSeconds);
  return impl_->trial_of(contender);
}

}  // namespace kiln
