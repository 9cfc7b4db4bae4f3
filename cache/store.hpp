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

#include "cache/records.hpp"

namespace kiln {

enum class OpenMode : std::uint8_t { read_only, read_write };

/// Selects trials; an empty field does not restrict.
struct TrialFilter {
  std::string operation;
  std::optional<Problem> problem;      ///< exactly this problem
  std::string kind_text;               ///< any sizes of this kind
  std::optional<DeviceClass> device;
  std::string template_name;
  std::optional<Outcome> outcome;
  std::optional<Provenance> provenance;
  std::string session_id;
  int limit = 0;                       ///< 0: all
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
  std::string last_session_state;
};

/// The tuning database (schema.sql; docs/schema.md is binding). Every write is committed when the
/// call returns. A row whose digest does not fit its content is left out of every answer and
/// counted in `corrupt_rows()`. Not thread-safe: one connection, one thread.
/// Errors: Error(database) whose text names the file, what is wrong and the next step.
class TuningStore {
 public:
  /// Opens, creating (read_write only: directory 0700, file 0600, complete or not at all) and
  /// migrating as needed. Refuses: not a database, another application's, a newer schema, damaged,
  /// a symbolic link, a foreign owner, group- or world-writable.
  [[nodiscard]] static TuningStore open(const std::string& path, OpenMode mode);

  TuningStore(TuningStore&&) noexcept;
  TuningStore& operator=(TuningStore&&) noexcept;
  ~TuningStore();

  void begin_session(const SessionRecord& session);
  void end_session(const std::string& id, const std::string& state, std::uint64_t evaluated);
  [[nodiscard]] std::vector<SessionRecord> sessions(const TrialFilter& filter = {}) const;

  /// Before a candidate is launched: if the host dies with it, a resumed run does not try it again.
  /// Cleared by the record() of the same key.
  void record_attempt(const CandidateKey& key, const std::string& session_id);
  /// Attempts of this problem and device without an outcome (left by a killed run).
  [[nodiscard]] std::vector<CandidateKey> open_attempts(const Problem& problem,
                                                        const DeviceClass& device) const;
  /// Stores the trial; returns its id. Storing the same id twice is one row.
  std::string record(const Trial& trial);
  /// Several trials in one transaction, for imports.
  void record_all(const std::vector<Trial>& trials);

  [[nodiscard]] std::vector<Trial> trials(const TrialFilter& filter) const;
  [[nodiscard]] std::vector<ProblemSummary> summaries(const TrialFilter& filter = {}) const;
  /// Latest trial of each candidate of that problem and device: what a resumed session skips.
  [[nodiscard]] std::vector<Trial> latest_trials(const Problem& problem, const DeviceClass& device) const;

  /// Deletes trials older than the age (0: any) but keeps, for each problem and device, the best
  /// `keep_best` and the newest session's. Returns how many went.
  std::uint64_t prune(std::int64_t older_than_ms, int keep_best);

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] int schema_version() const;
  [[nodiscard]] std::uint64_t corrupt_rows() const;
  /// SQLite's integrity_check and every row digest; one line per fault, empty when sound.
  [[nodiscard]] std::vector<std::string> check() const;

  class Impl;

 private:
  explicit TuningStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The order that "best" means: measured before modelled before compiled; shorter median; within
/// noise (intervals overlap) fewer registers; then canonical template name and config. `compiled`
/// rows compare by occupancy. Only verified `ok` trials may be compared.
[[nodiscard]] bool better(const Trial& left, const Trial& right);
/// Whether the trial may serve as best at all: ok, verified, with a time (or compiled).
[[nodiscard]] bool eligible(const Trial& trial);

}  // namespace kiln
