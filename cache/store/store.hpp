// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/lookup/neighbours.hpp"
#include "cache/lookup/related.hpp"
#include "cache/objective.hpp"
#include "cache/records.hpp"

namespace kiln {

struct Contender;  // cache/lookup/contender.hpp

enum class OpenMode : std::uint8_t {
  read_only,
  read_write,
  /// Like read_only, but also reads what it can of a file that is damaged or has a foreign schema:
  /// its trials() and sessions(), row by row. Takes longer: scans the whole file.
  salvage,
};

/// Selects trials; an empty field does not restrict.
struct TrialFilter {
  std::string operation;
  std::optional<Problem> problem;  ///< exactly this problem
  std::string kind_text;           ///< any sizes of this kind
  std::optional<DeviceClass> device;
  std::string template_name;
  std::optional<Outcome> outcome;
  std::optional<Provenance> provenance;
  std::string session_id;
  int limit = 0;  ///< 0: all
};

/// Selects problems; an empty field does not restrict.
struct ProblemFilter {
  std::optional<Problem> problem;  ///< exactly this problem
  std::string kind_text;           ///< any sizes of this kind
  /// Which trials a summary may give as the best, as long as it admits any; absent: all.
  std::function<bool(const Problem&, const Contender&)> admits = {};
};

/// One line of `kiln list`: what is known of one problem on one device class.
struct ProblemSummary {
  Problem problem;
  DeviceClass device;
  Provenance provenance = Provenance::measured;
  std::uint64_t trials = 0;
  std::uint64_t ok = 0;
  std::uint64_t failed = 0;
  std::optional<Trial> best;
  bool is_admitted = true;  ///< the best, by the filter; else the filter admits none that is there
  std::optional<SessionRecord> last_session;  ///< the newest; see state_now() for whether it runs
};

/// A query for the best trial of one problem and device. An empty function admits everything.
struct BestQuery {
  Problem problem;
  DeviceClass device;
  std::optional<Environment> environment;  ///< only its driver and toolkit are compared
  std::function<bool(std::string_view name, std::string_view digest)> admits_template;
  std::function<bool(std::string_view template_name, const Config&)> admits;
  bool compiled_too = false;
  std::optional<Provenance> provenance;  ///< only this one
  std::optional<std::string> judge;      ///< only verdicts of this one
  Objective objective = {};              ///< what "best" means
};

/// Asks for trials by what ran, whichever candidate it belonged to.
struct CodeQuery {
  Problem problem;
  DeviceClass device;
  Environment environment;  ///< all of it
  Provenance provenance = Provenance::measured;
  std::string code_digest;
  std::string session_id;  ///< only of that session; "": of any
  std::string judge;       ///< judge_of() the trials
};

/// The outcome of storing rows.
struct RecordCount {
  std::uint64_t written = 0;
  std::uint64_t present = 0;
  std::vector<std::size_t> conflicts;  ///< positions of those whose id is stored with other content
};

/// The tuning database (schema.sql; docs/reference/schema.md is binding). Every write is committed
/// when the call returns. A row whose digest does not match its content is left out of every answer
/// and counted in `corrupt_rows()`. Not thread-safe: one connection, one thread. Errors:
/// Error(database) whose text names the file, what is wrong and the next step.
class TuningStore {
 public:
  /// Opens, creating as needed (read_write only: directory 0700, file 0600, complete or not at
  /// all). Refuses: not a database, another application's, a newer schema, one from before the
  /// first release, a schema with anything that Kiln did not make, damaged, a symbolic link, a
  /// foreign owner, group- or world-writable.
  [[nodiscard]] static TuningStore open(const std::string& path, OpenMode mode);

  TuningStore(TuningStore&&) noexcept;
  TuningStore& operator=(TuningStore&&) noexcept;
  ~TuningStore();

  /// Stores a session, or continues the one of that id. The id comes from random_id().
  void begin_session(const SessionRecord& session);
  void end_session(const std::string& id, const std::string& state, std::uint64_t evaluated);
  /// In the order of their starts; with a limit, only the newest that many.
  [[nodiscard]] std::vector<SessionRecord> sessions(const TrialFilter& filter = {}) const;
  /// Adds sessions of another database; of two states of one session the later wins.
  RecordCount adopt_sessions(const std::vector<SessionRecord>& sessions);

  /// Before a candidate is launched: if the host dies with it, a resumed run does not try it again.
  /// Cleared by the record() of the same key. Each commit waits for the disk, so what record()
  /// would store can come `along` in the same transaction, before the attempt.
  void record_attempt(const CandidateKey& key, const std::string& session_id,
                      const std::optional<Trial>& along = {});
  /// The same, unless the candidate belongs to another session of the same environment: one that
  /// has it on the device now (and for which `is_running` holds), or has measured it since
  /// `session` started. Then false, and only `along` is recorded.
  [[nodiscard]] bool claim_attempt(const CandidateKey& key, const SessionRecord& session,
                                   const std::function<bool(const std::string&)>& is_running,
                                   const std::optional<Trial>& along = {});
  /// After an attempt that was aborted on purpose, which says nothing about the candidate.
  void withdraw_attempt(const CandidateKey& key, const std::string& session_id);
  /// Attempts of this problem and device without an outcome (left by a killed run), of the sessions
  /// that `of_session` admits or of all.
  [[nodiscard]] std::vector<CandidateKey> open_attempts(
      const Problem& problem, const DeviceClass& device,
      const std::function<bool(const std::string&)>& of_session = {}) const;
  /// A date for a new trial of that candidate: now, but after every stored one of it, even if
  /// the clock was ahead then. Otherwise it could never make up for an earlier crash.
  [[nodiscard]] std::int64_t date_after(const CandidateKey& key) const;
  /// Stores the trial; returns its id. Storing the same id twice is one row. Throws Error(usage)
  /// for a trial that breaks a rule of docs/reference/schema.md, or whose id another trial has.
  std::string record(const Trial& trial);
  /// Several trials in one transaction, for imports: all or nothing. A trial whose id is taken by
  /// one with other content is left out and listed. A damaged row is replaced by its intact
  /// twin.
  RecordCount record_all(const std::vector<Trial>& trials);

  /// Oldest first (see Trial); with a limit, only the newest that many.
  [[nodiscard]] std::vector<Trial> trials(const TrialFilter& filter) const;
  [[nodiscard]] std::vector<ProblemSummary> summaries(const ProblemFilter& filter = {}) const;
  /// best_of() over the trials that the query admits: a few rows, however many trials there are,
  /// but all trials of the problem if the objective is an expression.
  [[nodiscard]] std::optional<Trial> best(const BestQuery& query) const;
  /// Also tells which trial would have been the best if the query had admitted its template and its
  /// judge; nothing if the answer is that one.
  [[nodiscard]] std::optional<Trial> best(const BestQuery& query,
                                          std::optional<Trial>* unavailable) const;
  /// Devices that have trials of problems of that kind.
  [[nodiscard]] std::vector<DeviceClass> devices(const std::string& kind_text) const;
  /// Other problems of that kind with trials on that device, the nearest first.
  [[nodiscard]] NeighbourQueue neighbours(const Problem& problem, const DeviceClass& device,
                                          const NeighbourLimits& limits) const;
  /// Problems that resemble it, on devices of its device's architecture: the nearest first, then by
  /// their text; at most `most`, the problem on its own device not among them.
  [[nodiscard]] std::vector<RelatedProblem> related(const Problem& problem,
                                                    const DeviceClass& device,
                                                    std::size_t most) const;
  /// Whether the contender's candidate has an outcome, good or bad, of that state of its template
  /// and that judge: then what another one found is history. Without a judge, of any.
  [[nodiscard]] bool judged_again(const RelatedProblem& related, const Contender& contender,
                                  const std::string& template_digest,
                                  const std::optional<std::string>& judge) const;
  /// Those of its trials that can be the fastest under some restriction of a look-up, the best
  /// first.
  [[nodiscard]] std::vector<Contender> contenders(const RelatedProblem& related) const;
  /// The trial of a contender by time; nothing if it is damaged.
  [[nodiscard]] std::optional<Trial> trial(const Contender& contender) const;
  /// latest_of() that problem and device: what a resumed session skips.
  [[nodiscard]] std::vector<Trial> latest_trials(const Problem& problem,
                                                 const DeviceClass& device) const;

  /// What is known of that code: a wrong result if it ever gave one, else the latest trial.
  [[nodiscard]] std::optional<Trial> trial_of_code(const CodeQuery& query) const;

  /// Deletes trials older than the age (0: any) but keeps, for each problem and device, the best
  /// `keep_best` by time, by energy, by both and by what sessions searched for, and the newest
  /// session's. Returns how many were deleted; with `dry_run`, how many
  /// would be, and changes nothing.
  std::uint64_t prune(std::int64_t older_than_ms, int keep_best, bool dry_run = false);

  /// After OpenMode::salvage: why rows may be missing, as the rest of a sentence about the file
  /// ("is damaged: ..."); "" if SQLite finds no damage and the schema is Kiln's own. Rows that
  /// only fail their digest are counted in corrupt_rows() as usual.
  [[nodiscard]] const std::string& salvage_fault() const;
  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] int schema_version() const;
  [[nodiscard]] std::uint64_t corrupt_rows() const;
  /// SQLite's integrity_check and every row digest; one line per fault, empty if there is none.
  [[nodiscard]] std::vector<std::string> check() const;

  class Impl;

 private:
  explicit TuningStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The latest trial of each candidate, provenance and judge among trials of one problem and device
/// that are ordered by date.
[[nodiscard]] std::vector<Trial> latest_of(const std::vector<Trial>& trials);

/// A strict total order, safe for sorting: measured before modelled before compiled; lower cost
/// (the objective's value, with times and energies a quarter higher unless interleaved; minus the
/// occupancy for `compiled`); fewer registers; then template name, config and id. Only eligible
/// trials may be compared.
[[nodiscard]] bool better(const Trial& left, const Trial& right, const Objective& objective = {});
/// Whether the trial may serve as best at all: ok, verified, with a time (or compiled) and with
/// whatever else the objective needs.
[[nodiscard]] bool eligible(const Trial& trial, const Objective& objective = {});
/// The best of trials of one problem and device, or null. Of the first by better() and all whose
/// 95 % intervals overlap with it and whose cost is at most a 64th higher (a tie within noise is a
/// tie), the one with the fewest registers, then by template name and config. A candidate that ever
/// gave a wrong result is never best under the judge that found it, nor is one whose code did so in
/// another candidate; for one
/// that crashed or hung only later trials count, though what happened on an emulated device does
/// not count against a measured trial. "Overlaps" is not transitive, so this is a property of the
/// whole set, not of pairs.
[[nodiscard]] const Trial* best_of(const std::vector<Trial>& trials,
                                   const Objective& objective = {});

}  // namespace kiln
