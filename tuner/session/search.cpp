// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/search.hpp"

#include <algorithm>
#include <chrono>
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
                                 SessionLedger& ledger, ProposalQueue& proposals, Prepare prepare)
    : context_(context),
      clock_(clock),
      ledger_(ledger),
      proposals_(proposals),
      prepare_(std::move(prepare)),
      window_(2 * static_cast<std::size_t>(compile_threads(context.request.compile_threads)) + 2),
      pool_(compile_threads(context.request.compile_threads)) {}

void CandidateSearch::fill() {
  const std::uint64_t most = context_.request.budget.candidates;
  while (!exhausted_ && pool_.pending() < window_ && !must_end()) {
    const std::uint64_t begun = pool_.pending() + (decides_ ? 1 : 0);
    if (most > 0 && ledger_.done() + begun >= most) return;
    auto proposal = proposals_.next();
    if (!proposal) {
      exhausted_ = true;
      return;
    }
    in_pool_.push_back(*proposal);
    pool_.submit([this, proposal = std::move(*proposal)] { return prepare_(proposal); });
  }
}

std::string CandidateSearch::run(const Consume& consume, const WhileWaiting& while_waiting) {
  const std::string state = consume_all(consume, while_waiting);
  // What is still in the pool would only take CPU time from the phases to come.
  pool_.close();
  return state;
}

std::string CandidateSearch::consume_all(const Consume& consume,
                                         const WhileWaiting& while_waiting) {
  while (true) {
    fill();
    if (pool_.pending() == 0 && exhausted_) return "complete";
    if (pool_.pending() == 0) return end_state();
    while (!wait_for_result(while_waiting)) {
      if (must_end()) return end_state();
    }
    if (must_end()) return end_state();
    const Proposal proposal = std::move(in_pool_.front());
    in_pool_.pop_front();
    const PreparedCandidate prepared = pool_.take();
    if (abandoned_.contains(proposal.candidate.template_name)) continue;
    decides_ = true;
    const bool decided = consume(proposal, prepared);
    decides_ = false;
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
