// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "tuner/compile/pool.hpp"
#include "tuner/session/compile_forecast.hpp"
#include "tuner/session/compiler.hpp"
#include "tuner/session/ledger.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/strategies/strategy.hpp"

namespace kiln {

/// A candidate with the reason why it is tried.
struct Proposal {
  enum class Origin : std::uint8_t {
    unfinished,  ///< on the device when an earlier run was killed
    standard,    ///< default configuration of its template
    likely,      ///< what an application would get as things are
    strategy,
    variant,  ///< of a good one, tried while code is being compiled
    polish,   ///< a good one with settings of the compiler, once the search is over
  };
  Candidate candidate;
  Origin origin = Origin::strategy;
};

/// The order in which a session tries candidates: the default of each template, then what is likely
/// to be good, then what a killed run left unfinished, then what the strategy proposes; none twice.
/// A default that by its template's costs takes many times as long as another waits until the
/// strategy proposes it.
class ProposalQueue {
 public:
  ProposalQueue(const StrategyInput& input, Strategy& strategy);
  /// A candidate that needs no try. Before the first next().
  void exclude(const Candidate& candidate);
  /// Ignored if it is not in the space.
  void add_likely(const Candidate& candidate);
  void add_unfinished(const Candidate& candidate);
  /// No more candidates of that template.
  void abandon(const std::string& template_name);
  [[nodiscard]] std::optional<Proposal> next();
  /// Whether the strategy expects no gain from what is left.
  [[nodiscard]] bool has_converged() const { return strategy_.has_converged(); }
  /// Takes a candidate out of turn; false if it was proposed or excluded before.
  [[nodiscard]] bool take(const Candidate& candidate);

 private:
  void leave_out_slow(const StrategyInput& input);

  const SearchSpace& space_;
  Strategy& strategy_;
  std::deque<Proposal> first_;
  std::set<Candidate> out_;  ///< proposed, taken or excluded
  std::set<std::string> abandoned_;
};

/// Moves candidates through the compile pool to the caller that evaluates them: in the order in
/// which they were proposed where a run has to be repeatable, else as they come. Then it also keeps
/// slow compilations from using up the budget: one that is expected to outlast it is not begun, and
/// one that takes many times as long as the others is given up and waits until nothing else is
/// left.
class CandidateSearch {
 public:
  using Prepare = std::function<PreparedCandidate(const Proposal&)>;
  /// Decides the candidate and records its outcome; false if the session's end came first.
  using Consume = std::function<bool(const Proposal&, const PreparedCandidate&)>;
  /// Decides a candidate that needs no compiler; false if there is none. Empty: there never is.
  using WhileWaiting = std::function<bool()>;

  /// What a search that takes results as they come needs; all must outlive it.
  struct Pipeline {
    CompileForecast& forecast;
    SessionCompiler& compiler;
  };
  /// Without a pipeline it is repeatable.
  CandidateSearch(const SessionContext& context, const BudgetClock& clock, SessionLedger& ledger,
                  ProposalQueue& proposals, Prepare prepare,
                  std::optional<Pipeline> pipeline = std::nullopt);

  /// Fills the pool. run() does it too; calling it earlier, or while a candidate runs, uses idle
  /// time.
  void fill();
  /// Whether fill() found anything to do.
  [[nodiscard]] bool has_work() const { return pool_.pending() > 0; }
  /// Returns how the session ended: "complete" (nothing is left), "converged" (nothing that is left
  /// is expected to be faster), "budget" or "interrupted". Once.
  /// `while_waiting` is called as long as the compilers have nothing ready.
  [[nodiscard]] std::string run(const Consume& consume, const WhileWaiting& while_waiting = {});
  /// Seconds by which a try of the candidate is expected to delay the others. Without a pipeline
  /// all tries cost the same.
  [[nodiscard]] double cost_s(const Candidate& candidate) const;
  /// Candidates of that template are dropped from now on, in the pool as well.
  void abandon(const std::string& template_name);
  /// Whether the session was stopped, or has no time left to search in. From any thread.
  [[nodiscard]] bool must_end() const { return context_.stop || clock_.search_left_s() <= 0; }
  /// How it ends where it must.
  [[nodiscard]] std::string end_state() const { return context_.stop ? "interrupted" : "budget"; }

 private:
  [[nodiscard]] std::string consume_all(const Consume& consume, const WhileWaiting& while_waiting);
  [[nodiscard]] bool wait_for_result(const WhileWaiting& while_waiting);
  [[nodiscard]] std::optional<Proposal> next_proposal();
  [[nodiscard]] bool would_outlast_budget(const Candidate& candidate) const;
  void submit(Proposal proposal);
  [[nodiscard]] Proposal taken_out(const Candidate& candidate);
  void note_compilation(const Proposal& proposal, const PreparedCandidate& prepared);
  void note_device(double seconds);
  [[nodiscard]] std::size_t window() const;
  [[nodiscard]] bool resume_put_off();

  const SessionContext& context_;
  const BudgetClock& clock_;
  SessionLedger& ledger_;
  ProposalQueue& proposals_;
  Prepare prepare_;
  std::optional<Pipeline> pipeline_;
  std::size_t threads_;
  bool exhausted_ = false;    ///< nothing more is asked for
  bool out_of_time_ = false;  ///< because hardly anything could be compiled in time
  bool decides_ = false;      ///< a candidate is neither in the pool nor recorded
  std::deque<Proposal> in_pool_;
  std::deque<Proposal> put_off_;  ///< because compiling them takes too long
  double patience_ = 1.0;         ///< doubled each time that those are taken up again
  double compile_s_ = 0.0;        ///< of the last compilations, on average; 0: not known
  double device_s_ = 0.0;         ///< likewise of what came after them
  std::set<std::string> abandoned_;
  CompilePool pool_;  ///< last: its threads use what is above
};

}  // namespace kiln
