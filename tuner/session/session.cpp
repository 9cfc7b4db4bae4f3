// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/progress.hpp"
#include "tuner/session/request.hpp"

#include "tuner/session/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <future>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "kiln/error.hpp"
#include "runtime/choice/kernel_chooser.hpp"
#include "templates/operation/judge.hpp"
#include "templates/space/compile_settings.hpp"
#include "tuner/kept_sizes.hpp"
#include "tuner/session/begin_task.hpp"
#include "tuner/session/checks.hpp"
#include "tuner/session/compile_forecast.hpp"
#include "tuner/session/compiler.hpp"
#include "tuner/session/context.hpp"
#include "tuner/session/finalists.hpp"
#include "tuner/session/imported.hpp"
#include "tuner/session/ledger.hpp"
#include "tuner/session/polish.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/resume.hpp"
#include "tuner/session/search.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/session/setup.hpp"
#include "tuner/session/sharing.hpp"
#include "tuner/session/stop_grace.hpp"
#include "tuner/session/variants.hpp"
#include "tuner/strategies/strategy.hpp"

namespace kiln {
namespace {

/// A template whose best candidate takes this many times as long as the overall best is abandoned:
/// no tile size makes up for a factor that large, and its tries would cost the others theirs.
constexpr double kHopelessFactor = 20.0;
/// Number of kernels that are tried first because an application would get them without tuning: a
/// session of one second must not end with a slower one.
constexpr std::size_t kMostLikely = 8;
/// Of another autotuner's results.
constexpr std::size_t kMostImported = 8;
/// Predictions' substitute for a measurement policy: they change with the model.
constexpr std::string_view kPredictionPolicy = "model 3";
/// How soon a wait for the set-up notices the session's end.
constexpr std::chrono::milliseconds kWaitSlice{50};

bool is_modelled(const SessionContext& context) {
  return context.provenance == Provenance::modelled;
}

/// Whether the run must not depend on how long anything takes.
bool is_repeatable(const SessionContext& context) {
  return is_modelled(context) || context.request.budget.candidates > 0;
}

/// One tuning run on a device.
class DeviceSession {
 public:
  DeviceSession(const SessionContext& context, const SearchSpace& space, Compiler& compiler,
                Evaluator& evaluator)
      : context_(context),
        request_(context.request),
        search_compiler_(compiler, [this] { return search_.must_end(); }),
        last_compiler_(compiler, [this] { return context_.stop || clock_.left_s() <= 0.0; }),
        polish_compiler_(compiler, [this] { return search_.must_end(); }),
        evaluator_(evaluator),
        polishes_(request_.polish && !is_repeatable(context) && has_polish(space)),
        polish_s_(polishes_ ? polish_share_s(request_.budget) : 0.0),
        last_s_(is_modelled(context) ? checks_share_s(request_.budget)
                                     : finalists_share_s(request_.budget, request_.policy.finalists,
                                                         request_.objective.needs_energy())),
        clock_(request_.budget, polish_s_ + last_s_),
        space_(space),
        forecast_(space),
        strategy_(make_strategy(
            request_.strategy,
            {space_, context.problem, context.limits, context.device, request_.seed,
             [this] { return search_.must_end(); },
             [this](const Candidate& candidate) { return search_.cost_s(candidate); }})),
        proposals_({space_, context.problem, context.limits, context.device, request_.seed},
                   *strategy_),
        cases_(verification_cases(request_.tuned, request_.thoroughness)),
        ledger_(context, space_, strategy_->canonical(), clock_),
        finalists_(context, ledger_),
        variants_(context, space_, cases_),
        search_(
            context, clock_, ledger_, proposals_,
            [this](const Proposal& proposal) { return prepare(proposal); },
            is_repeatable(context)
                ? std::nullopt
                : std::optional(CandidateSearch::Pipeline{forecast_, search_compiler_})) {}

  [[nodiscard]] TuneResult run();

 private:
  void take_over();
  void add_likely();
  [[nodiscard]] std::string search();
  [[nodiscard]] std::optional<EvaluationSetup> wait_for(std::future<EvaluationSetup>& setup);
  [[nodiscard]] PreparedCandidate prepare(const Proposal& proposal);
  [[nodiscard]] bool make_ready();
  [[nodiscard]] bool decide(const Proposal& proposal, const PreparedCandidate& prepared);
  [[nodiscard]] bool fills_waits() const;
  [[nodiscard]] bool decide_variant();
  [[nodiscard]] bool evaluate(const Proposal& proposal, const EvaluationJob& planned, Trial& trial);
  void require_value(const Trial& trial) const;
  void observe(const Trial& trial);
  void give_up_hopeless();
  void divide_time();
  [[nodiscard]] bool would_compile_longer(const Candidate& candidate, double seconds);
  void polish();

  const SessionContext& context_;
  const TuneRequest& request_;
  SessionCompiler search_compiler_;  ///< of the set-up and the candidates
  SessionCompiler last_compiler_;    ///< of the finalists
  SessionCompiler polish_compiler_;
  Evaluator& evaluator_;
  bool polishes_;
  double polish_s_;  ///< for polish(), see divide_time()
  double last_s_;    ///< reserved for the finalists or the checks
  BudgetClock clock_;
  const SearchSpace& space_;
  CompileForecast forecast_;
  std::unique_ptr<Strategy> strategy_;
  ProposalQueue proposals_;
  std::vector<ProblemCase> cases_;
  SessionLedger ledger_;
  Finalists finalists_;
  LaunchVariants variants_;
  std::optional<Candidate> leader_;  ///< the best one that this run tried
  std::set<std::string> given_up_;
  std::uint64_t elsewhere_ = 0;  ///< candidates measured by another session
  std::exception_ptr failed_;    ///< what went wrong while a candidate ran
  CandidateSearch search_;       ///< last: its threads use what is above
};

TuneResult DeviceSession::run() {
  take_over();
  ledger_.enter("preparing");
  std::string state = search();
  if (elsewhere_ > 0) {
    context_.observer.on_note(fmt::format(
        "this run skipped {} candidates, because another run that uses this database is measuring "
        "these candidates. Next: when the other run has ended, `kiln show` lists the results",
        elsewhere_));
  }
  polish();
  std::vector<Trial> finalists;
  if (state != "interrupted") {
    ledger_.enter("finalists");
    finalists = finalists_.compare(evaluator_, last_compiler_, cases_, clock_.left_s());
  }
  WinnerChecks checks(context_, space_, ledger_, clock_);
  if (is_modelled(context_)) {
    if (state == "interrupted") {
      checks.leave_out();
    } else {
      checks.run(evaluator_, last_compiler_);
      if (checks.ran_out_of_time()) state = "budget";
      if (checks.was_stopped()) state = "interrupted";
    }
  }
  TuneResult result = ledger_.conclude(space_, state);
  result.finalists = std::move(finalists);
  if (checks.ran_out_of_time()) result.ended_by_count = false;
  if (result.best && is_modelled(context_)) {
    if (auto twin = checks.checked_twin(*result.best)) result.best = std::move(twin);
  }
  const bool is_checked =
      result.best && result.best->verification && result.best->verification->checked;
  if (!is_checked && best_unless_checked(context_, space_)) result.unchecked = checks.unchecked();
  if (result.best) {
    result.ragged_sizes = count_ragged(context_.catalog.at(result.best->key.template_name),
                                       result.best->key.config, context_.limits, cases_);
  }
  return result;
}

/// Tries candidates; returns how that ended.
std::string DeviceSession::search() {
  // Compilers are busy with this, and then with candidates, while the strategy times its space.
  std::future<EvaluationSetup> setup;
  // Abandons pending compilations, also when unwinding.
  const EndOfCompiling end(search_compiler_);
  const bool is_covered = ledger_.progress().known >= space_.count();
  if (!is_covered) {
    setup = begin_task([&] { return make_setup(request_, search_compiler_, evaluator_.info()); });
  }
  search_.fill();
  if (!search_.has_work()) {
    return !is_covered && search_.must_end() ? search_.end_state() : "complete";
  }
  const auto made = wait_for(setup);
  if (!made) return search_.end_state();
  evaluator_.set_up(*made);
  if (make_ready()) ledger_.enter("searching");
  CandidateSearch::WhileWaiting while_waiting;
  if (fills_waits()) while_waiting = [this] { return decide_variant(); };
  return search_.run(
      [this](const Proposal& proposal, const PreparedCandidate& prepared) {
        const bool decided = decide(proposal, prepared);
        divide_time();
        return decided;
      },
      while_waiting);
}

/// Nothing if the session's end comes first.
std::optional<EvaluationSetup> DeviceSession::wait_for(std::future<EvaluationSetup>& setup) {
  while (setup.wait_for(kWaitSlice) == std::future_status::timeout) {
    if (search_.must_end()) search_compiler_.end();
  }
  try {
    return setup.get();
  } catch (const Error&) {
    // What was given up fails, too.
    if (!search_.must_end()) throw;
    return std::nullopt;
  }
}

/// False if the session is to end before the evaluator is ready for the next candidate.
bool DeviceSession::make_ready() {
  return evaluator_.make_ready([this] { return search_.must_end(); });
}

void DeviceSession::take_over() {
  Inheritance inheritance = inherit(context_, space_);
  std::uint64_t elsewhere = 0;
  for (const auto& trial : inheritance.known) {
    proposals_.exclude({trial.key.template_name, trial.key.config});
    if (trial.environment != context_.environment) ++elsewhere;
    ledger_.take_over(trial);
  }
  for (const auto& trial : inheritance.known) observe(trial);
  for (const Candidate& candidate : imported_candidates(context_, space_, kMostImported)) {
    proposals_.add_likely(candidate);
  }
  if (inheritance.known.empty() && !request_.again) add_likely();
  for (const auto& candidate : inheritance.unfinished) proposals_.add_unfinished(candidate);
  if (elsewhere > 0) {
    context_.observer.on_note(fmt::format(
        "this run uses stored results of {} candidates. These results come from another "
        "driver, toolkit or measurement policy. Next: to measure these candidates "
        "again, add --again",
        elsewhere));
  }
  give_up_hopeless();
}

/// By this database, which may know related problems, and by what the templates call usual.
void DeviceSession::add_likely() {
  // They are hints: what keeps the database from giving some is told where its answers are used.
  detail::WarningSink unheard([](std::string_view) {}, "");
  detail::KernelChooser chooser(context_.catalog, evaluator_.info(), context_.store.path(), {},
                                unheard, request_.objective);
  for (const detail::Choice& choice :
       chooser.likely(context_.problem, context_.environment.toolkit, kMostLikely)) {
    proposals_.add_likely({choice.kernel_template->name(), choice.config});
  }
}

PreparedCandidate DeviceSession::prepare(const Proposal& proposal) {
  // If everything spilled, refusing it all would leave nothing; so each template keeps its default.
  const auto admission =
      proposal.origin == Proposal::Origin::standard ? Admission::runnable : Admission::competitive;
  return prepare_candidate(proposal.candidate, context_.catalog, search_compiler_, context_.limits,
                           cases_, admission, context_.code);
}

bool DeviceSession::decide(const Proposal& proposal, const PreparedCandidate& prepared) {
  const double device_s = ledger_.progress().device_s;
  Trial trial = prepared_trial(context_, prepared);
  if (trial.outcome == Outcome::ok) {
    auto same = ledger_.outcome_of_code(trial.code_digest);
    if (same && lacks_figures(context_, *same, ledger_.best_ns())) same.reset();
    // Before the attempt is noted: what the evaluator does first is not this candidate's doing.
    if (!same && !make_ready()) return false;
    if (!ledger_.claim(trial.key)) {
      ++elsewhere_;
      return true;
    }
    // The observer was just notified of the trial before, and may have stopped the run.
    if (context_.stop) {
      context_.store.withdraw_attempt(trial.key, context_.session_id);
      return false;
    }
    if (same) {
      share_outcome(trial, *same);
    } else if (!evaluate(proposal, prepared.job, trial)) {
      return false;
    }
    ledger_.count_code(same.has_value());
  }
  const Trial& recorded = ledger_.record(std::move(trial));
  require_value(recorded);
  observe(recorded);
  if (eligible(recorded, request_.objective)) {
    finalists_.keep(prepared, recorded, ledger_.progress().device_s - device_s);
    variants_.keep(prepared, ledger_);
    if (ledger_.value_of(recorded) <= ledger_.best_value()) leader_ = proposal.candidate;
  }
  give_up_hopeless();
  if (failed_) std::rethrow_exception(failed_);
  return true;
}

/// Off for reproducible or count-limited sessions: spare tries depend on how long compilers take.
bool DeviceSession::fills_waits() const {
  return request_.fill_waits && !is_repeatable(context_);
}

/// False if there was none, or the session's end came first.
bool DeviceSession::decide_variant() {
  const auto prepared = variants_.next(ledger_, proposals_);
  return prepared && decide({prepared->candidate, Proposal::Origin::variant}, *prepared);
}

/// False if it was aborted because the session has to end.
bool DeviceSession::evaluate(const Proposal& proposal, const EvaluationJob& planned, Trial& trial) {
  if (proposal.origin == Proposal::Origin::unfinished) {
    Trial unfinished = unfinished_trial(context_, proposal.candidate);
    unfinished.code_digest = trial.code_digest;
    context_.store.record(unfinished);
    context_.store.record_attempt(trial.key, context_.session_id);
  }
  EvaluationJob job = planned;
  if (request_.objective.follows_time()) job.best_ns = ledger_.best_ns();
  job.best_j = ledger_.best_j();
  job.timeout_s = request_.candidate_timeout_s;
  auto evaluation = ledger_.occupy_device([&] {
    return evaluator_.evaluate(job, StopGrace(context_.stop, &clock_), [this, &proposal] {
      try {
        // Once the search is over, its pool takes no more.
        if (proposal.origin != Proposal::Origin::polish) search_.fill();
      } catch (...) {
        failed_ = std::current_exception();  // once the candidate has its outcome
      }
    });
  });
  if (!evaluation) {
    context_.store.withdraw_attempt(trial.key, context_.session_id);
    if (failed_) std::rethrow_exception(failed_);
    if (!context_.stop) {
      context_.observer.on_note(
          fmt::format("the budget ended while {} ran, so Kiln stored no result for this candidate. "
                      "Next: use a longer --budget",
                      job.label));
    }
    return false;
  }
  trial.outcome = evaluation->outcome;
  trial.message = std::move(evaluation->message);
  trial.timing = std::move(evaluation->timing);
  // With any other outcome the verifier reached no verdict.
  if ((trial.outcome == Outcome::ok && !evaluation->hopeless) ||
      trial.outcome == Outcome::wrong_result) {
    trial.verification = std::move(evaluation->verification);
  }
  return true;
}

/// The search has the time of polish(), too, where that could not even compile the best one again.
void DeviceSession::divide_time() {
  if (!polishes_) return;
  const bool is_too_short = leader_ && would_compile_longer(*leader_, polish_s_);
  clock_.reserve(is_too_short ? last_s_ : last_s_ + polish_s_);
}

bool DeviceSession::would_compile_longer(const Candidate& candidate, double seconds) {
  return forecast_.expected_s(candidate).value_or(0.0) > seconds;
}

/// Off for repeatable runs: predictions are the same for every route, and a count of candidates is
/// for the search. Without a new result, an earlier session polished, or found no time for it.
void DeviceSession::polish() {
  if (!polishes_ || !ledger_.found_any()) return;
  clock_.reserve(last_s_);
  if (search_.must_end()) return;
  ledger_.enter("polishing");
  const EndOfCompiling end(polish_compiler_);
  Polish(context_, ledger_)
      .run({.take =
                [this](const Candidate& candidate) {
                  return !would_compile_longer(candidate, clock_.search_left_s()) &&
                         proposals_.take(candidate);
                },
            .prepare =
                [this](const Candidate& candidate) {
                  return prepare_candidate(candidate, context_.catalog, polish_compiler_,
                                           context_.limits, cases_, Admission::competitive,
                                           context_.code);
                },
            .decide =
                [this](const Candidate& candidate, const PreparedCandidate& prepared) {
                  return decide({candidate, Proposal::Origin::polish}, prepared);
                },
            .must_end = [this] { return search_.must_end(); }});
}

/// An expression that some candidate has no value by would silently leave out candidates.
void DeviceSession::require_value(const Trial& trial) const {
  const Objective& objective = request_.objective;
  if (objective.follows_time() || !eligible(trial)) return;
  objective.require_value(trial);  // nothing is wrong where the device failed to measure a figure
}

/// Settings of the compiler are no tunables, so a strategy knows nothing of candidates with some.
void DeviceSession::observe(const Trial& trial) {
  if (has_settings(trial.key.config)) return;
  strategy_->observe({trial.key.template_name, trial.key.config}, trial.outcome,
                     ledger_.value_of(trial));
}

void DeviceSession::give_up_hopeless() {
  if (!request_.objective.follows_time()) return;
  const double best_ns = ledger_.best_ns();
  for (const auto& part : space_.parts) {
    const std::string& name = part.kernel_template->name();
    const double own_ns = ledger_.best_ns(name);
    if (own_ns <= kHopelessFactor * best_ns || !given_up_.insert(name).second) continue;
    ledger_.leave_out(name, part.space.count());
    search_.abandon(name);
    context_.observer.on_note(
        fmt::format("tune skips the remaining candidates of template {0}: the fastest candidate of "
                    "{0} so far takes {1:.0f} times as long as the fastest of all candidates",
                    name, own_ns / best_ns));
  }
}

}  // namespace

TuneResult tune(const TuneRequest& request, const SearchSpace& space, const Catalog& catalog,
                std::shared_ptr<Compiler> compiler, Evaluator& evaluator, TuningStore& store,
                SessionObserver& observer, const std::atomic<bool>& stop) {
  require_product(request.tuned.problem);
  const DeviceInfo& device = evaluator.info();
  const bool modelled = device.provenance == Provenance::modelled;
  TuneRequest wanted = request;
  wanted.policy.energy = request.objective.needs_energy();
  if (wanted.policy.energy && modelled) {
    throw Error(ErrorKind::usage,
                fmt::format("the objective {} needs energy, which the emulated GPU {} does not "
                            "predict. Next: use a GPU, or an objective of time_ns and resources",
                            request.objective.canonical(), device.spec));
  }
  // Predictions do not drift: the first is as good as one interleaved with others.
  if (modelled) wanted.policy.finalists = 0;
  if (modelled) wanted.thoroughness = Thoroughness::brief;
  for (const SearchSpace::Part& part : space.parts) {
    auto kept = kept_sizes(*part.kernel_template, request.tuned.problem, device.limits);
    auto& all = wanted.tuned.kept_sizes;
    if (!kept.empty() && std::ranges::find(all, kept) == all.end()) all.push_back(std::move(kept));
  }
  const std::string policy =
      modelled ? policy_of_model(kPredictionPolicy, request.policy) : request.policy.canonical();
  const SessionContext context{
      .request = wanted,
      .catalog = catalog,
      .store = store,
      .observer = observer,
      .stop = stop,
      .problem = request.tuned.problem,
      .limits = device.limits,
      .device = device.device_class,
      .environment = {device.driver, compiler->identity(), policy},
      .provenance = device.provenance,
      .code = device.code,
      .judge = judge_digest(*find_operation(request.tuned.problem.operation)),
      .session_id = random_id()};
  return DeviceSession(context, space, *compiler, evaluator).run();
}

}  // namespace kiln
