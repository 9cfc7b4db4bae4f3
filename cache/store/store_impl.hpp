// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cache/lookup/neighbours.hpp"
#include "cache/rows/shortlist_rows.hpp"
#include "cache/rows/where_clause.hpp"
#include "cache/store/sqlite.hpp"
#include "cache/store/store.hpp"

namespace kiln {

/// Processor time, in seconds, that an answer may take, which reads few rows of however many.
/// See sqlite::reading_seconds() for what reads all of them.
inline constexpr double kLookUpSeconds = 2.0;

/// One connection and what it has noticed. Shared by the store_*.cpp files.
class TuningStore::Impl {
 public:
  Impl(sqlite::Connection the_connection, std::string the_path, bool may_write,
       bool with_shortlists)
      : connection(std::move(the_connection)),
        path(std::move(the_path)),
        writable(may_write),
        has_shortlists(with_shortlists) {}

  /// Throws Error(usage) if the store was opened for reading.
  void require_write() const;
  /// Stores the trial in the transaction that is open; returns its id.
  std::string insert(const Trial& trial);
  /// Intact attempts of the wanted sessions; a damaged one goes to `corrupt`.
  [[nodiscard]] std::vector<CandidateKey> attempts(
      const WhereClause& where, const std::function<bool(const std::string&)>& of_session = {});

  /// Without its session. Nothing if all of the pair's trials are damaged.
  [[nodiscard]] std::optional<ProblemSummary> summary_of(Pair pair, const Problem& problem,
                                                         const DeviceClass& device,
                                                         const ProblemFilter& filter);
  /// The newest intact session of each problem and device, or of those of one problem.
  [[nodiscard]] std::map<Pair, SessionRecord> last_sessions(std::optional<std::int64_t> problem_id);
  /// All contenders of the pair in the order of better(), from its trials. Cached until anything
  /// changes; valid until the next call.
  [[nodiscard]] const std::vector<Contender>& all_contenders(Pair pair,
                                                             const Objective& objective = {});
  /// The trial of a contender by that objective; one that is damaged, or does not match the
  /// contender, goes to `corrupt`.
  [[nodiscard]] std::optional<Trial> trial_of(const Contender& contender,
                                              const Objective& objective = {});
  /// Whether its candidate has an intact trial of the contender's provenance that `is_current`
  /// admits by its template's digest and its judge.
  [[nodiscard]] bool judged_again(
      Pair pair, const Contender& contender,
      const std::function<bool(const std::string& digest, const std::string& judge)>& is_current);
  /// The sizes of all problems of that kind with trials on the device. Cached likewise.
  [[nodiscard]] std::shared_ptr<const SizeTable> sizes_of(const Problem& problem,
                                                          std::int64_t device_id,
                                                          const DeviceClass& device);
  /// A kind of problem, with any sizes, and a device that has some of it.
  struct KnownKind {
    Problem problem;
    std::int64_t device_id = 0;
    DeviceClass device;
  };
  /// All of them. Cached likewise; valid until the next call.
  [[nodiscard]] const std::vector<KnownKind>& kinds();
  /// Those of its shortlist, or all where that is missing. Cached likewise; valid until the next
  /// call.
  [[nodiscard]] const std::vector<Contender>& known_contenders(const RelatedProblem& related);
  /// Goes to `corrupt` if the known sizes list the problem but its index did not find it.
  void note_if_lost(const Problem& problem, std::int64_t device_id);

  sqlite::Connection connection;
  std::string path;
  bool writable;
  bool has_shortlists;  ///< false for a copy in memory of what was salvaged
  std::string salvage_fault;
  /// Rows whose digest did not match, by table and id, so that each counts once.
  std::set<std::string> corrupt;

 private:
  using Stamp = std::pair<std::int64_t, std::int64_t>;
  struct Contenders {
    Stamp stamp;
    std::vector<Contender> list;
  };
  static constexpr std::size_t kMostPairs = 32;
  std::map<std::pair<Pair, std::string>, Contenders> contenders_;  ///< also by objective
  std::map<Pair, Contenders> shortlists_;
  std::optional<std::pair<Stamp, std::vector<KnownKind>>> kinds_;
  struct SizeTables {
    std::shared_ptr<const SizeTable> table;
    Family family;      ///< of the problems in the table
    bool fits = false;  ///< equals the stored family; else it is valid until anything changes
    Stamp stamp;
  };
  std::map<std::pair<std::string, std::int64_t>, SizeTables> size_tables_;
};

}  // namespace kiln
