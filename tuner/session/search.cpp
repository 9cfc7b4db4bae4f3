// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "runtime/model/static_model.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln {
namespace {

/// How soon a wait for the compiler notices the stop flag or the end of the budget.
constexpr std::chrono::milliseconds kWaitSlice{50};
constexpr double kReportEverySeconds = 1.0;
/// A default that is expected to take this many times as long as another can wait.
constexpr double kSlowFactor = 5.0;
/// A compilation that takes that many times as long as the median is given up, but none that takes
/// less than some seconds.
constexpr double kMostOfMedian = 6.0;
constexpr double kAlwaysAllowedSeconds = 2.0;
/// If so many proposals in a row would outlast the budget, no more are asked for.
constexpr int kMostPutOffInARow = 64;
/// How much the newest of several durations counts in their average.
constexpr double kNewest = 0.15;
/// Compilations under way for each that the device waits for, and some that wait for the device.
constexpr double kCompilationsAhead = 1.5;
constexpr std::size_t kReady = 3;

void average_in(double& average, double newest) {
  average = average == 0.0 ? newest : average + kNewest * (newest - average);
}

}  // namespace

ProposalQueue::ProposalQueue(const StrategyInput& input, Strategy& strategy)
    : space_(input.space), strategy_(strategy) {
  // A good time early lets racing cut the others short. Of families with the same priority the one
  // with the most to tune is the likeliest to be fast.
  std::vector<const SearchSpace::Part*> parts;
  for (const auto& part : input.space.parts) parts.push_back(&part);
  std::stable_sort(parts.begin(), parts.end(), [](const auto* left, const auto* right) {
    if (left->priority != right->priority) return left->priority > right->priority;
    return left->space.count() > right->space.count();
  });
  for (const auto* part : parts) {
    // A template that prefers nothing here can wait: the strategy gets to it.
    const bool is_wanted =
        !part->space.has_preferences() || part->space.preferred().default_config();
    if (!is_wanted) continue;
    if (const auto config = part->space.default_config()) {
      first_.push_back({{part->kernel_template->name(), *config}, Proposal::Origin::standard});
    }
  }
  leave_out_slow(input);
}

/// Where a problem is large, the default of a teaching kernel can use up a short budget.
void ProposalQueue::leave_out_slow(const StrategyInput& input) {
  const DeviceProfile profile = profile_for(input.limits, input.device);
  const auto time_ns = [&](const Candidate& candidate) {
    const auto* part = input.space.find(candidate.template_name);
    return static_time_ns(*part->kernel_template, candidate.config, input.problem, profile)
        .value_or(0.0);  // it may be fast
  };
  double fastest = std::numeric_limits<double>::infinity();
  for (const Proposal& proposal : first_) {
    const double time = time_ns(proposal.candidate);
    if (time > 0.0) fastest = std::min(fastest, time);
  }
  std::erase_if(first_, [&](const Proposal& proposal) {
    return time_ns(proposal.candidate) > kSlowFactor * fastest;
  });
}

void ProposalQueue::exclude(const Candidate& candidate) {
  out_.insert(candidate);
}

void ProposalQueue::add_likely(const Candidate& candidate) {
  const SearchSpace::Part* const part = space_.find(candidate.template_name);
  if (part == nullptr || !part->space.contains(candidate.config)) return;
  first_.push_back({candidate, Proposal::Origin::likely});
}

void ProposalQueue::add_unfinished(const Candidate& candidate) {
  // It may be a default or likely: it is tried as an unfinished one nevertheless.
  std::erase_if(first_, [&](const Proposal& other) { return other.candidate == candidate; });
  first_.push_back({candidate, Proposal::Origin::unfinished});
}

void ProposalQueue::abandon(const std::string& template_name) {
  abandoned_.insert(template_name);
  strategy_.abandon(template_name);
}

std::optional<Proposal> ProposalQueue::next() {
  while (!first_.empty()) {
    Proposal proposal = std::move(first_.front());
    first_.pop_front();
    if (abandoned_.contains(proposal.candidate.template_name)) continue;
    if (out_.insert(proposal.candidate).second) return proposal;
  }
  while (auto candidate = strategy_.propose()) {
    if (out_.insert(*candidate).second) return Proposal{std::move(*candidate)};
  }
  return std::nullopt;
}

bool ProposalQueue::take(const Candidate& candidate) {
  return out_.insert(candidate).second;
}

CandidateSearch::CandidateSearch(const SessionContext& context, const BudgetClock& clock,
                                 SessionLedger& ledger, ProposalQueue& proposals, Prepare prepare,
                                 std::optional<Pipeline> pipeline)
    : context_(context),
      clock_(clock),
      ledger_(ledger),
      proposals_(proposals),
      prepare_(std::move(prepare)),
      pipeline_(pipeline),
      threads_(static_cast<std::size_t>(compile_threads(context.request.compile_threads))),
      pool_(static_cast<int>(threads_),
            pipeline ? CompilePool::Order::completion : CompilePool::Order::submission) {}

/// Most candidates in the pool. Few, so that each is proposed in the light of many results; but so
/// many that neither the compilers nor the device wait for the other. A repeatable search must not
/// depend on durations.
std::size_t CandidateSearch::window() const {
  if (!pipeline_) return 2 * threads_ + 2;
  if (compile_s_ == 0.0 || device_s_ == 0.0) return threads_ + kReady;
  const double for_device = kCompilationsAhead * compile_s_ / device_s_;
  if (for_device < static_cast<double>(threads_)) {
    return static_cast<std::size_t>(std::ceil(for_device)) + kReady;
  }
  // The pool is filled between two results, during which so many compilations end.
  const double ended = static_cast<double>(threads_) * device_s_ / compile_s_;
  return threads_ + std::min(static_cast<std::size_t>(std::ceil(ended)), threads_) + kReady;
}

void CandidateSearch::fill() {
  const std::uint64_t most = context_.request.budget.candidates;
  while (!exhausted_ && pool_.pending() < window() && !must_end()) {
    const std::uint64_t begun = pool_.pending() + (decides_ ? 1 : 0);
    if (most > 0 && ledger_.done() + begun >= most) return;
    auto proposal = proposals_.has_converged() ? std::nullopt : next_proposal();
    if (!proposal) {
      exhausted_ = true;
      return;
    }
    submit(std::move(*proposal));
  }
}

/// The next one that can be compiled within the budget.
std::optional<Proposal> CandidateSearch::next_proposal() {
  // Near the end hardly anything fits, which is not the fault of those that are left.
  out_of_time_ = pipeline_ && pipeline_->forecast.median_s() > clock_.search_left_s();
  if (out_of_time_) return std::nullopt;
  for (int i = 0; i < kMostPutOffInARow; ++i) {
    auto proposal = proposals_.next();
    if (!proposal || !would_outlast_budget(proposal->candidate)) return proposal;
    put_off_.push_back(std::move(*proposal));
  }
  return std::nullopt;
}

bool CandidateSearch::would_outlast_budget(const Candidate& candidate) const {
  return pipeline_ &&
         pipeline_->forecast.expected_s(candidate).value_or(0.0) > clock_.search_left_s();
}

void CandidateSearch::submit(Proposal proposal) {
  in_pool_.push_back(proposal);
  pool_.submit([this, proposal = std::move(proposal)] { return prepare_(proposal); });
}

Proposal CandidateSearch::taken_out(const Candidate& candidate) {
  const auto found = std::find_if(in_pool_.begin(), in_pool_.end(), [&](const Proposal& proposal) {
    return proposal.candidate == candidate;
  });
  Proposal proposal = std::move(*found);
  in_pool_.erase(found);
  return proposal;
}

double CandidateSearch::cost_s(const Candidate& candidate) const {
  if (!pipeline_ || compile_s_ == 0.0) return 1.0;
  const double compile_s = pipeline_->forecast.expected_s(candidate).value_or(compile_s_);
  return std::max(compile_s / static_cast<double>(threads_), device_s_);
}

/// Learns how long compilations take, and what is too long.
void CandidateSearch::note_compilation(const Proposal& proposal,
                                       const PreparedCandidate& prepared) {
  const double seconds = prepared.compiled.seconds;
  // What was not even rendered took no time.
  if (prepared.compiled.from_store || seconds <= 0.0) return;
  ledger_.note_compilation(candidate_text(proposal.candidate), seconds);
  if (!pipeline_) return;
  pipeline_->forecast.observe(proposal.candidate, seconds);
  average_in(compile_s_, seconds);
  const double most = kMostOfMedian * pipeline_->forecast.median_s();
  pipeline_->compiler.allow(patience_ * std::max(most, kAlwaysAllowedSeconds));
}

void CandidateSearch::note_device(double seconds) {
  average_in(device_s_, seconds);
}

/// What was put off comes last, with more patience. False if there is none, or no time for it.
bool CandidateSearch::resume_put_off() {
  const std::size_t count = put_off_.size();
  if (pipeline_) {
    patience_ *= 2.0;
    const double most = kMostOfMedian * pipeline_->forecast.median_s();
    pipeline_->compiler.allow(patience_ * std::max(most, kAlwaysAllowedSeconds));
  }
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) {
    Proposal proposal = std::move(put_off_.front());
    put_off_.pop_front();
    if (would_outlast_budget(proposal.candidate)) {
      put_off_.push_back(std::move(proposal));
      continue;
    }
    submit(std::move(proposal));
    any = true;
  }
  return any;
}

std::string CandidateSearch::run(const Consume& consume, const WhileWaiting& while_waiting) {
  std::string state = consume_all(consume, while_waiting);
  ledger_.note_compilers(static_cast<int>(threads_), pool_.busy_share(), put_off_.size());
  // What is still in the pool would only take CPU time from the phases to come.
  pool_.close();
  return state;
}

std::string CandidateSearch::consume_all(const Consume& consume,
                                         const WhileWaiting& while_waiting) {
  while (true) {
    fill();
    if (pool_.pending() == 0 && exhausted_ && !put_off_.empty() && !proposals_.has_converged()) {
      if (!resume_put_off()) return "budget";
    }
    if (pool_.pending() == 0 && exhausted_) {
      if (proposals_.has_converged()) return "converged";
      return out_of_time_ ? "budget" : "complete";
    }
    if (pool_.pending() == 0) return end_state();
    while (!wait_for_result(while_waiting)) {
      if (must_end()) return end_state();
    }
    if (must_end()) return end_state();
    const PreparedCandidate prepared = pool_.take();
    const Proposal proposal = taken_out(prepared.candidate);
    note_compilation(proposal, prepared);
    if (abandoned_.contains(proposal.candidate.template_name)) continue;
    if (prepared.compiled.given_up) {
      put_off_.push_back(proposal);
      continue;
    }
    const double start_s = clock_.elapsed_s();
    decides_ = true;
    const bool decided = consume(proposal, prepared);
    decides_ = false;
    note_device(clock_.elapsed_s() - start_s);
    if (!decided) return end_state();
  }
}

void CandidateSearch::abandon(const std::string& template_name) {
  abandoned_.insert(template_name);
  proposals_.abandon(template_name);
}

/// Waits a moment for the pool, or does something else; keeps the observer informed.
bool CandidateSearch::wait_for_result(const WhileWaiting& while_waiting) {
  if (pool_.wait_for_next(std::chrono::milliseconds{0})) return true;
  if (while_waiting && while_waiting()) return false;
  ledger_.write();
  if (pool_.wait_for_next(kWaitSlice)) return true;
  const double silent_s = clock_.elapsed_s() - ledger_.progress().elapsed_s;
  if (silent_s >= kReportEverySeconds) ledger_.report();
  return false;
}

}  // namespace kiln
