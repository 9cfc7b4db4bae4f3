// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/finalists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/session/sharing.hpp"
#include "tuner/session/stop_grace.hpp"

namespace kiln {
namespace {

/// A comparison of fewer rounds says no more than the times already known.
constexpr int kFewestRounds = 3;
/// An unlike finalist has other values of so many tunables that are compiled in, and is not
/// further behind. On an H200 at its power limit a kernel with tiles of 128 x 128 in turns was 2 %
/// faster than the fifteen fastest, all with shared tiles of 128 x 256; by itself it took 3 %
/// longer.
constexpr int kUnlikeTunables = 2;
constexpr double kMostBehind = 1.15;
/// Part of the time that the batches may take; loading, recording and warming up take the rest.
constexpr double kBatchShare = 0.6;
/// Part of the time that energy turns take, where energy is compared; and what one of them takes
/// besides its length.
constexpr double kEnergyPart = 0.8;
constexpr double kEnergyWaitSeconds = 0.25;
/// A comparison that hangs is cut off at twice the seconds that it may plan for.
constexpr double kHangFactor = 2.0;
constexpr double kLeastTimeoutSeconds = 1.0;
constexpr double kMostSeconds = 60.0;
constexpr double kMostEnergySeconds = 600.0;

/// A finalist's time by the clock of the first finalist: clocks drift by more from round to round
/// than finalists differ, but within a round all drift alike. So the median is the first one's
/// divided by the paired ratio, and the spread is the ratio's.
Timing common_clock_timing(const ComparisonRow& row, const ComparisonRow& first) {
  Timing timing = row.timing;
  timing.interleaved = true;
  if (first.outcome == Outcome::ok && row.ratio > 0.0) {
    timing.median_ns = first.timing.median_ns / row.ratio;
    timing.spread_ns = timing.median_ns * row.ratio_spread / row.ratio;
  }
  return timing;
}

bool is_like(const Candidate& left, const Candidate& right) {
  if (left.template_name != right.template_name) return false;
  int unlike = 0;
  for (const auto& [name, value] : left.config.values()) {
    if (right.config.find(name) != value) ++unlike;
  }
  return unlike < kUnlikeTunables;
}

Candidate candidate_of(const Trial& trial) {
  return {trial.key.template_name, trial.key.config};
}

}  // namespace

std::size_t Finalists::wanted() const {
  return static_cast<std::size_t>(std::max(0, context_.request.policy.finalists));
}

double Finalists::batch_s(const Trial& trial) const {
  return std::max(context_.request.policy.batch_ms * 1e-3, trial.timing->median_ns * 1e-9);
}

double Finalists::preparation_s(const Trial& trial) const {
  const auto entry = entries_.find(candidate_of(trial));
  return entry == entries_.end() ? 0.0 : entry->second.preparation_s;
}

void Finalists::keep(const PreparedCandidate& prepared, const Trial& trial, double device_s) {
  const double timed_s = static_cast<double>(trial.timing->samples_ns.size()) * batch_s(trial);
  entries_[prepared.candidate] = {prepared.job, prepared.code_digest, ledger_.value_of(trial),
                                  std::max(0.0, device_s - timed_s)};
  // What cannot become a finalist need not stay in memory.
  const auto leaders = ledger_.leaders(wanted());
  std::erase_if(entries_, [&](const auto& entry) {
    if (entry.second.value <= kMostBehind * ledger_.best_value()) return false;
    return std::none_of(leaders.begin(), leaders.end(),
                        [&](const Trial& leader) { return candidate_of(leader) == entry.first; });
  });
}

/// The best first, then those unlike them, as far as there is time for them.
std::vector<Trial> Finalists::choose(double seconds) const {
  const std::vector<Trial> all = ledger_.leaders(std::numeric_limits<std::size_t>::max());
  if (context_.request.policy.energy) {
    const std::size_t affordable = std::min(wanted(), affordable_energies(seconds));
    return {all.begin(),
            all.begin() + static_cast<std::ptrdiff_t>(std::min(affordable, all.size()))};
  }
  const auto fastest = all.begin() + static_cast<std::ptrdiff_t>(std::min(wanted(), all.size()));
  std::vector<Trial> chosen(all.begin(), fastest);
  if (chosen.size() < 2) return chosen;
  add_unlike(chosen, {fastest, all.end()}, (1.0 - kBatchShare) * seconds);
  if (affordable_rounds(chosen, seconds) < context_.request.policy.finalist_rounds / 2) {
    chosen.resize(static_cast<std::size_t>(fastest - all.begin()));
  }
  return chosen;
}

/// `seconds`: what loading and verifying all that are chosen may take.
void Finalists::add_unlike(std::vector<Trial>& chosen, std::span<const Trial> others,
                           double seconds) const {
  const auto compiled = [&](const Trial& trial) {
    const KernelTemplate& kernel_template = context_.catalog.at(trial.key.template_name);
    return Candidate{trial.key.template_name, kernel_template.compiled_part(trial.key.config)};
  };
  std::vector<Candidate> known;
  for (const Trial& trial : chosen) {
    known.push_back(compiled(trial));
    seconds -= preparation_s(trial);
  }
  int left = context_.request.policy.unlike_finalists;
  for (const Trial& other : others) {
    if (left == 0) return;
    if (ledger_.value_of(other) > kMostBehind * ledger_.best_value()) continue;
    Candidate candidate = compiled(other);
    if (std::ranges::any_of(known, [&](const Candidate& one) { return is_like(one, candidate); })) {
      continue;
    }
    seconds -= preparation_s(other);
    if (seconds < 0.0) return;
    known.push_back(std::move(candidate));
    chosen.push_back(other);
    --left;
  }
}

Finalists::Contest Finalists::prepare(std::vector<Trial> finalists, Compiler& compiler,
                                      const std::vector<ProblemCase>& cases) {
  Contest contest;
  std::set<std::string> codes;
  for (auto& trial : finalists) {
    const Candidate candidate = candidate_of(trial);
    auto entry = entries_.find(candidate);
    if (entry == entries_.end()) {
      // Known from an earlier session. It compiled then; if it no longer does, it is left out.
      auto prepared = prepare_candidate(candidate, context_.catalog, compiler, context_.limits,
                                        cases, Admission::runnable, context_.code);
      if (prepared.outcome != Outcome::ok) continue;
      entry = entries_.try_emplace(candidate, Entry{std::move(prepared.job), prepared.code_digest})
                  .first;
    }
    // Codes of earlier sessions were not always known, or another compiler's.
    const EvaluationJob& job = entry->second.job;
    const std::string& code_digest = entry->second.code_digest;
    if (!code_digest.empty() && !codes.insert(code_digest).second) continue;
    contest.request.jobs.push_back(job);
    trial.code_digest = code_digest;
    contest.trials.push_back(std::move(trial));
  }
  return contest;
}

std::optional<Comparison> Finalists::run(Evaluator& evaluator, const ComparisonRequest& request,
                                         double seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  if (!evaluator.make_ready(
          [&] { return context_.stop || std::chrono::steady_clock::now() >= deadline; })) {
    context_.observer.on_note("the device was not ready in time to compare the best candidates");
    return std::nullopt;
  }
  auto comparison =
      ledger_.occupy_device([&] { return evaluator.compare(request, StopGrace(context_.stop)); });
  if (comparison && !comparison->note.empty()) {
    // The worker ended, and which finalist is at fault is unknown, so none is blamed.
    context_.observer.on_note("the best candidates could not be compared: " + comparison->note);
    return std::nullopt;
  }
  return comparison;
}

Trial Finalists::record(Trial trial, const ComparisonRow& row, const ComparisonRow& first) {
  trial.id.clear();
  trial.session_id = context_.session_id;
  trial.shared_from.clear();
  trial.environment = context_.environment;
  trial.judge_digest = context_.judge;
  trial.outcome = row.outcome;
  trial.message = row.message;
  trial.timing.reset();
  if (row.outcome == Outcome::ok) {
    trial.timing = common_clock_timing(row, first);
  } else {
    // The search's verdict says nothing about this run.
    trial.verification.reset();
  }
  trial = ledger_.record_again(std::move(trial));
  for (Trial& other : ledger_.with_code_of(trial)) {
    other.id.clear();
    other.session_id = context_.session_id;
    share_outcome(other, trial);
    (void)ledger_.record_again(std::move(other));
  }
  return trial;
}

std::vector<Trial> Finalists::compare(Evaluator& evaluator, Compiler& compiler,
                                      const std::vector<ProblemCase>& cases, double seconds) {
  // Without a new result the comparison of an earlier session is still valid.
  if (!ledger_.found_any()) return {};
  auto finalists = choose(seconds);
  if (finalists.size() < 2) {
    if (context_.request.policy.energy && affordable_energies(seconds) < 2) {
      context_.observer.on_note(
          "the remaining time is too short to measure the energy of the best candidates again, so "
          "Kiln ranks them by the search's measurements. Next: use a longer --budget");
    }
    return {};
  }
  const int rounds = affordable_rounds(finalists, seconds);
  if (rounds < kFewestRounds) {
    context_.observer.on_note(
        "the remaining time is too short to compare the best candidates directly, so Kiln ranks "
        "them by the times that it already has");
    return {};
  }
  Contest contest = prepare(std::move(finalists), compiler, cases);
  if (contest.trials.size() < 2) return {};
  contest.request.rounds = rounds;
  if (context_.request.policy.energy) {
    contest.request.energy_turns = context_.request.policy.energy_turns;
  }
  const double most_s = context_.request.policy.energy ? kMostEnergySeconds : kMostSeconds;
  contest.request.timeout_s =
      std::max(kLeastTimeoutSeconds, std::min(most_s, kHangFactor * seconds));
  const auto comparison = run(evaluator, contest.request, seconds);
  if (!comparison) return {};
  std::vector<Trial> result;
  for (std::size_t i = 0; i < contest.trials.size() && i < comparison->jobs.size(); ++i) {
    const ComparisonRow& row = comparison->jobs[i];
    if (row.outcome == Outcome::ok && row.timing.median_ns <= 0.0) continue;  // was never timed
    // What is known of its energy must not be replaced by nothing.
    const bool lacks_energy = context_.request.policy.energy && row.timing.energy_j <= 0.0;
    if (row.outcome == Outcome::ok && lacks_energy) continue;
    Trial trial = record(contest.trials[i], row, comparison->jobs.front());
    if (eligible(trial, context_.objective())) result.push_back(std::move(trial));
  }
  std::sort(result.begin(), result.end(), [&](const Trial& left, const Trial& right) {
    return better(left, right, context_.objective());
  });
  return result;
}

/// How many can be measured. A turn takes a warm-up and waits for steps of the counter, too.
std::size_t Finalists::affordable_energies(double seconds) const {
  const MeasurementPolicy& policy = context_.request.policy;
  const double one_s = policy.energy_turns * (policy.energy_turn_s + kEnergyWaitSeconds);
  const double affordable = kEnergyPart * seconds / one_s;
  return affordable < policy.finalists ? static_cast<std::size_t>(affordable)
                                       : static_cast<std::size_t>(policy.finalists);
}

int Finalists::affordable_rounds(const std::vector<Trial>& trials, double seconds) const {
  const MeasurementPolicy& policy = context_.request.policy;
  double round_s = 0.0;
  for (const auto& trial : trials) round_s += batch_s(trial);
  const double share = policy.energy ? 1.0 - kEnergyPart : 1.0;
  const double rounds = share * kBatchShare * seconds / round_s;
  return rounds < policy.finalist_rounds ? static_cast<int>(rounds) : policy.finalist_rounds;
}

}  // namespace kiln
