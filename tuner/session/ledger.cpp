// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/ledger.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "kiln/error.hpp"
#include "templates/space/compile_settings.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/session/sharing.hpp"

namespace kiln {
namespace {

/// Whether racing cut the measurement short: candidates that are simply slow get few samples too.
bool was_dropped(const Trial& trial, const MeasurementPolicy& policy, double best_ns) {
  return trial.outcome == Outcome::ok && trial.timing && best_ns > 0 &&
         trial.timing->samples_ns.size() < static_cast<std::size_t>(policy.samples) &&
         trial.timing->median_ns > policy.drop_factor * best_ns;
}

}  // namespace

SessionLedger::SessionLedger(const SessionContext& context, const SearchSpace& space,
                             const std::string& strategy, const BudgetClock& clock)
    : context_(context), clock_(clock), lock_(context.store.path(), context.session_id) {
  session_.id = context.session_id;
  session_.problem = context.problem;
  session_.device = context.device;
  session_.environment = context.environment;
  session_.strategy = strategy;
  session_.budget = context.request.budget.canonical();
  session_.objective = context.objective().canonical();
  session_.space_size = space.count();
  session_.state = "running";
  session_.started_unix_ms = next_unix_ms();
  progress_.space = session_.space_size;
  context.store.begin_session(session_);
}

SessionLedger::~SessionLedger() {
  if (closed_) return;
  try {
    close("failed");
  } catch (const Error&) {
    // It was the database that failed; the next run marks this one as interrupted.
  }
}

void SessionLedger::take_over(Trial trial) {
  // A space does not count configurations with settings.
  if (!has_settings(trial.key.config)) {
    ++progress_.known;
    ++decided_[trial.key.template_name];
  }
  consider(trial);
  trials_.push_back(std::move(trial));
}

void SessionLedger::count_code(bool known) {
  ++(known ? progress_.shared : progress_.codes);
}

bool SessionLedger::claim(const CandidateKey& key) {
  TuningStore& store = context_.store;
  bool is_free = true;
  if (context_.request.again) {
    store.record_attempt(key, session_.id, unwritten_);
  } else {
    is_free = store.claim_attempt(
        key, session_, [&](const std::string& id) { return session_is_alive(store.path(), id); },
        unwritten_);
  }
  acknowledge();
  return is_free;
}

std::optional<Trial> SessionLedger::outcome_of_code(const std::string& code_digest) {
  if (unwritten_ && unwritten_->code_digest == code_digest) write();
  return trial_of_same_code(context_, code_digest);
}

const Trial& SessionLedger::record(Trial trial) {
  const bool races = context_.objective().follows_time();
  if (races && was_dropped(trial, context_.request.policy, best_ns())) ++progress_.dropped;
  write();
  identify(trial);
  unwritten_ = trial;
  ++progress_.done;
  ++progress_.by_outcome[trial.outcome];
  ++decided_[trial.key.template_name];
  if (trial.resources) ++progress_.compiled;
  if (eligible(trial) && trial.shared_from.empty()) found_any_ = true;
  consider(trial);
  if (trial.outcome != Outcome::ok) write();
  report();
  return trials_.emplace_back(std::move(trial));
}

void SessionLedger::write() {
  if (!unwritten_) return;
  context_.store.record(*unwritten_);
  acknowledge();
}

/// What was unwritten is stored: nothing that an observer heard of can be lost.
void SessionLedger::acknowledge() {
  if (!unwritten_) return;
  const Trial trial = std::move(*unwritten_);
  unwritten_.reset();
  context_.observer.on_trial(trial);
}

Trial SessionLedger::record_again(Trial trial) {
  identify(trial);
  context_.store.record(trial);
  recount(trial);
  consider(trial);
  context_.observer.on_trial(trial);
  return trial;
}

void SessionLedger::recount(const Trial& trial) {
  if (trial.outcome != Outcome::wrong_result) return;
  const auto before = std::find_if(trials_.begin(), trials_.end(), [&](const Trial& other) {
    return other.key == trial.key && other.outcome == Outcome::ok;
  });
  if (before == trials_.end()) return;
  const bool is_own = before->session_id == session_.id;
  *before = trial;
  if (!is_own) return;
  if (--progress_.by_outcome[Outcome::ok] == 0) progress_.by_outcome.erase(Outcome::ok);
  ++progress_.by_outcome[trial.outcome];
}

void SessionLedger::close(const std::string& state) {
  closed_ = true;
  write();
  session_.state = state;
  session_.evaluated = progress_.done;
  context_.store.end_session(session_.id, state, progress_.done);
}

TuneResult SessionLedger::conclude(const SearchSpace& space, const std::string& state) {
  close(state);
  TuneResult result;
  // The final answer: the database may have a better one than the trials made here.
  result.best = best_in_space(context_, space);
  progress_.best = result.best;
  enter("done");
  result.session = session_;
  result.progress = progress_;
  result.failures = failure_groups(trials_);
  result.unsupported = space.unsupported;
  const std::uint64_t most = context_.request.budget.candidates;
  result.ended_by_count = state == "budget" && most > 0 && progress_.done >= most;
  return result;
}

void SessionLedger::leave_out(const std::string& template_name, std::uint64_t count) {
  progress_.given_up += count - std::min(count, decided_[template_name]);
}

void SessionLedger::enter(const std::string& phase) {
  write();
  if (phase == "searching") search_started_s_ = clock_.elapsed_s();
  progress_.phase = phase;
  report();
}

void SessionLedger::note_compilers(int threads, double busy_share, std::uint64_t put_off) {
  progress_.compilers = threads;
  progress_.compilers_busy = busy_share;
  progress_.put_off = put_off;
}

void SessionLedger::note_compilation(const std::string& candidate, double seconds) {
  if (seconds <= progress_.slowest_compile_s) return;
  progress_.slowest_compile_s = seconds;
  progress_.slowest_to_compile = candidate;
}

void SessionLedger::report() {
  estimate();
  context_.observer.on_progress(progress_);
}

double SessionLedger::best_ns(const std::string& template_name) const {
  const auto found = best_ns_.find(template_name);
  return found == best_ns_.end() ? 0.0 : found->second;
}

std::vector<Trial> SessionLedger::leaders(std::size_t count) const {
  std::vector<const Trial*> fit;
  std::map<std::string_view, std::size_t> of_code;  // where it is in `fit`
  for (const auto& trial : trials_) {
    if (!is_eligible(trial)) continue;
    const bool has_code = !trial.code_digest.empty();
    const auto known = has_code ? of_code.find(trial.code_digest) : of_code.end();
    if (known == of_code.end()) {
      if (has_code) of_code.emplace(trial.code_digest, fit.size());
      fit.push_back(&trial);
    } else if (is_better(trial, *fit[known->second])) {
      fit[known->second] = &trial;
    }
  }
  count = std::min(count, fit.size());
  std::partial_sort(
      fit.begin(), fit.begin() + static_cast<std::ptrdiff_t>(count), fit.end(),
      [&](const Trial* left, const Trial* right) { return is_better(*left, *right); });
  std::vector<Trial> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(*fit[i]);
  return result;
}

std::vector<Trial> SessionLedger::with_code_of(const Trial& trial) const {
  std::vector<Trial> result;
  if (trial.code_digest.empty()) return result;
  for (const auto& other : trials_) {
    if (other.code_digest == trial.code_digest && other.environment == trial.environment &&
        other.key != trial.key && eligible(other)) {
      result.push_back(other);
    }
  }
  return result;
}

/// Observers see the trial as the database will have it.
void SessionLedger::identify(Trial& trial) const {
  trial.created_unix_ms = context_.store.date_after(trial.key);
  trial.id = random_id();
}

bool SessionLedger::is_eligible(const Trial& trial) const {
  return eligible(trial, context_.objective());
}

bool SessionLedger::is_better(const Trial& left, const Trial& right) const {
  return better(left, right, context_.objective());
}

double SessionLedger::value_of(const Trial& trial) const {
  if (trial.outcome != Outcome::ok || !trial.timing) return 0.0;
  const Objective& objective = context_.objective();
  if (objective.is_time()) return trial.timing->median_ns;
  if (const auto value = objective.value_of(trial)) return value->value;
  Trial guess = trial;
  const double power_w = progress_.best ? progress_.best->timing->power_w : 0.0;
  // Before anything has energy, any power tells the slow from the fast.
  guess.timing->power_w = power_w > 0.0 ? power_w : 1.0;
  guess.timing->energy_j = guess.timing->power_w * guess.timing->median_ns / 1e9;
  const auto value = objective.value_of(guess);
  return value ? value->value : 0.0;
}

double SessionLedger::best_j() const {
  const bool is_wanted = context_.objective().kind() == Objective::Kind::energy;
  return is_wanted && progress_.best ? progress_.best->timing->energy_j : 0.0;
}

void SessionLedger::consider(const Trial& trial) {
  if (!eligible(trial)) return;
  if (is_eligible(trial)) {
    if (!progress_.best || is_better(trial, *progress_.best)) progress_.best = trial;
    const double value = value_of(trial);
    if (best_value_ == 0.0 || value < best_value_) best_value_ = value;
  }
  if (!trial.timing) return;
  for (const auto& name : {std::string(), trial.key.template_name}) {
    double& best = best_ns_.try_emplace(name, trial.timing->median_ns).first->second;
    best = std::min(best, trial.timing->median_ns);
  }
}

/// How much can still be done, and how long that takes at the pace so far.
void SessionLedger::estimate() {
  const std::uint64_t skipped = std::min(progress_.space, progress_.known + progress_.given_up);
  progress_.planned = std::max(progress_.done, progress_.space - skipped);
  const std::uint64_t most = context_.request.budget.candidates;
  if (most > 0) progress_.planned = std::min(progress_.planned, most);

  progress_.elapsed_s = clock_.elapsed_s();
  const double budget_left_s = clock_.left_s();
  double work_left_s = budget_left_s;
  if (progress_.phase == "done") {
    work_left_s = 0.0;
  } else if (progress_.done > 0) {
    const double pace_s =
        (progress_.elapsed_s - search_started_s_) / static_cast<double>(progress_.done);
    work_left_s = pace_s * static_cast<double>(progress_.planned - progress_.done);
  }
  const double left_s = std::min(budget_left_s, work_left_s);
  progress_.remaining_s = std::isfinite(left_s) ? left_s : 0.0;

  // Nothing is known of the pace before the first outcome; a budget of time is.
  progress_.by_time = std::isfinite(budget_left_s) && budget_left_s <= work_left_s;
  const double part = progress_.by_time ? progress_.elapsed_s : static_cast<double>(progress_.done);
  const double whole = progress_.by_time ? progress_.elapsed_s + budget_left_s
                                         : static_cast<double>(progress_.planned);
  progress_.share = whole > 0.0 ? std::min(1.0, part / whole) : 1.0;
}

}  // namespace kiln
