// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cache/files/session_lock.hpp"
#include "tuner/session/budget.hpp"
#include "tuner/session/context.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/session/session.hpp"

namespace kiln {

/// The records of one session: its row in the database, its trials, and its progress.
class SessionLedger {
 public:
  /// Opens the session's row.
  SessionLedger(const SessionContext& context, const SearchSpace& space,
                const std::string& strategy, const BudgetClock& clock);
  /// Closes the row as `failed` if close() was not called: the session ended by an exception.
  ~SessionLedger();
  SessionLedger(const SessionLedger&) = delete;
  SessionLedger& operator=(const SessionLedger&) = delete;

  /// A candidate decided by an earlier session.
  void take_over(Trial trial);
  /// A candidate is there to run: whether its code had an outcome already. Before its record().
  void count_code(bool known);
  /// Notes that the candidate is about to run, and stores with it what is unwritten: one wait for
  /// the disk. False if another session that shares the database has the candidate.
  [[nodiscard]] bool claim(const CandidateKey& key);
  /// The trial of this code, if it has one (see trial_of_same_code).
  [[nodiscard]] std::optional<Trial> outcome_of_code(const std::string& code_digest);
  /// Takes the candidate's outcome and returns the trial with its id. One that is ok is stored with
  /// the next claim(), or by write(), which must precede all that may take long; the observer is
  /// notified when it is stored.
  const Trial& record(Trial trial);
  /// Stores what record() left unwritten, if anything, and notifies the observer.
  void write();
  /// Stores a further trial of a candidate that already has an outcome. One that is found wrong
  /// now, and counted as ok in this run, is counted as wrong.
  Trial record_again(Trial trial);
  void close(const std::string& state);
  /// Closes the session's row and returns its result.
  [[nodiscard]] TuneResult conclude(const SearchSpace& space, const std::string& state);

  /// Those of the template's `count` candidates that have no outcome yet will not be tried.
  void leave_out(const std::string& template_name, std::uint64_t count);
  void enter(const std::string& phase);
  /// Does what occupies the device, and counts the time that it takes.
  template <class Work>
  auto occupy_device(const Work& work) {
    const double start_s = clock_.elapsed_s();
    auto result = work();
    progress_.device_s += clock_.elapsed_s() - start_s;
    return result;
  }
  /// How the compilers fared, for the report.
  void note_compilers(int threads, double busy_share, std::uint64_t put_off);
  void note_compilation(const std::string& candidate, double seconds);
  void report();

  [[nodiscard]] std::uint64_t done() const { return progress_.done; }
  [[nodiscard]] const Progress& progress() const { return progress_; }
  [[nodiscard]] const SessionRecord& session() const { return session_; }
  /// Time of the fastest candidate so far, of one template or ("") of all; 0 if there is none.
  [[nodiscard]] double best_ns(const std::string& template_name = "") const;
  /// What a search minimises: the objective's value of a trial that is ok; by time its median. A
  /// trial without energy, because it is hopelessly slow, counts as if it drew the best one's
  /// power.
  [[nodiscard]] double value_of(const Trial& trial) const;
  /// The lowest value of an eligible trial; 0 if there is none.
  [[nodiscard]] double best_value() const { return best_value_; }
  /// Energy per run of the best candidate so far, if that is what is searched for; 0: none.
  [[nodiscard]] double best_j() const;
  /// Whether a candidate that ran here, not one known before, succeeded.
  [[nodiscard]] bool found_any() const { return found_any_; }
  /// The best eligible trials, best first; of those with the same code only the best.
  [[nodiscard]] std::vector<Trial> leaders(std::size_t count) const;
  /// The eligible trials of other candidates that have the code of this one, in its environment.
  [[nodiscard]] std::vector<Trial> with_code_of(const Trial& trial) const;

 private:
  void identify(Trial& trial) const;
  void acknowledge();
  void consider(const Trial& trial);
  [[nodiscard]] bool is_eligible(const Trial& trial) const;
  [[nodiscard]] bool is_better(const Trial& left, const Trial& right) const;
  void recount(const Trial& trial);
  void estimate();

  const SessionContext& context_;
  const BudgetClock& clock_;
  SessionLock lock_;  ///< released after the row is closed
  SessionRecord session_;
  Progress progress_;
  std::vector<Trial> trials_;       ///< one per candidate, known and new
  std::optional<Trial> unwritten_;  ///< the last one, until it is stored
  std::map<std::string, double> best_ns_;
  double best_value_ = 0.0;
  std::map<std::string, std::uint64_t> decided_;  ///< candidates with an outcome, by template
  double search_started_s_ = 0.0;
  bool found_any_ = false;
  bool closed_ = false;
};

}  // namespace kiln
