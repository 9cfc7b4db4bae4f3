// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/choice/related_ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "kiln/error.hpp"
#include "runtime/choice/related_reason.hpp"
#include "runtime/model/transfer.hpp"

namespace kiln::detail {
namespace {

/// More that fail in a row than anybody waits for.
constexpr std::size_t kMostSuggestions = 8;
/// A candidate that is slower than another by this factor, both with launch values that were best
/// elsewhere, seldom catches up with better ones. Searching those takes most of a choice's time.
/// Fitted with `choice_accuracy DATABASE` (tests/bench).
constexpr double kHopeless = 1.3;
/// Remembered trials; forgetting them all costs as much as opening the library.
constexpr std::size_t kMostSources = 4096;

/// A device's limits as far as its class tells them.
DeviceLimits limits_of(const DeviceClass& device) {
  for (const std::string& name : built_in_profiles()) {
    const DeviceProfile profile = built_in_profile(name).value();
    if (profile.device_class == device) return profile.limits;
  }
  DeviceLimits limits = limits_of_arch(device.arch).value_or(DeviceLimits{});
  limits.sm_count = device.sm_count;
  limits.l2_bytes = device.l2_bytes;
  return limits;
}

/// What Match says of an answer from there.
Match match_of(const Problem& problem, const DeviceClass& device, const RelatedProblem& source) {
  if (source.device != device) return Match::related_device;
  return is_near(problem, source.problem) ? Match::nearest_problem : Match::related_problem;
}

}  // namespace

RelatedRanking::RelatedRanking(const Catalog& catalog, const DeviceInfo& device)
    : catalog_(catalog), device_(device) {}

const DeviceProfile& RelatedRanking::profile_on(const DeviceClass& device) {
  const std::string name = device.canonical();
  const auto known = profiles_.find(name);
  if (known != profiles_.end()) return known->second;
  const bool own = device == device_.device_class;
  return profiles_.emplace(name, profile_for(own ? device_.limits : limits_of(device), device))
      .first->second;
}

const RelatedRanking::Source& RelatedRanking::source_of(const RelatedTrial& trial) {
  const Contender& contender = trial.contender;
  const auto known = sources_.find(contender.trial_id);
  if (known != sources_.end()) return known->second;
  if (sources_.size() >= kMostSources) sources_.clear();
  Source source;
  const KernelTemplate* const kernel_template = catalog_.find(contender.template_name);
  const DeviceProfile& profile = profile_on(trial.of.device);
  try {
    if (kernel_template != nullptr) {
      source.config = Config::parse(contender.config);
      source.compiled = kernel_template->compiled_part(source.config).canonical();
      const double expected =
          expected_ns(*kernel_template, source.config, trial.of.problem, profile);
      if (std::isfinite(expected) && expected > 0.0) source.factor = contender.rank.cost / expected;
      source.kernel_template = kernel_template;
    }
  } catch (const Error& error) {
    // A configuration that is malformed, or a cost that is undefined: told where it is tuned.
    if (error.kind() != ErrorKind::usage && error.kind() != ErrorKind::template_) throw;
  }
  return sources_.emplace(contender.trial_id, std::move(source)).first->second;
}

/// One ranking: what depends on the wanted problem.
class RelatedRanking::Round {
 public:
  Round(const Problem& problem, const DeviceInfo& device, const DeviceProfile& profile,
        const Refused& refused)
      : problem_(problem), device_(device), profile_(profile), refused_(refused) {}

  void learn(const Source& source, double distance) {
    if (source.factor <= 0.0) return;
    const std::string& name = source.kernel_template->name();
    if (source.kernel_template->cost_lines().empty()) {
      calibration_.add_unmodelled(name, source.compiled, source.factor, distance);
    } else {
      calibration_.add(name, source.compiled, source.factor, distance);
    }
  }

  /// What the model says counts by itself.
  void trust_model() { trusts_model_ = true; }

  /// Carries the source over, unless a nearer one has the same code. Everything is learned before.
  void add(std::size_t number, const RelatedTrial& related, const Source& source) {
    const std::string& name = source.kernel_template->name();
    const double factor = calibration_.factor(name, source.compiled);
    auto carried =
        carry(*source.kernel_template, source.config, source.compiled, related.of.distance, factor);
    if (!carried) return;
    const double ns = carried->expected_ns * factor;
    std::string reason =
        reason_for({problem_, device_.device_class, related, source.config, carried->config, ns});
    ranked_.push_back({{number, name, std::move(carried->config),
                        match_of(problem_, device_.device_class, related.of), std::move(reason)},
                       ns});
  }

  /// What the template says is usual takes part like a result for a problem of this size.
  void add_usual(const KernelTemplate& kernel_template) {
    // Without costs there is nothing to compare it by.
    if (!can_compare() || kernel_template.cost_lines().empty()) return;
    const std::string& name = kernel_template.name();
    for (const Config& usual : kernel_template.space_spec().usual) {
      const std::string compiled = kernel_template.compiled_part(usual).canonical();
      const double factor = calibration_.usual(name, compiled);
      auto carried = carry(kernel_template, usual, compiled, 0.0, factor);
      if (!carried) continue;
      const double ns = carried->expected_ns * factor;
      std::string reason = reason_for_usual(name, usual, carried->config, ns, trusts_model_);
      ranked_.push_back(
          {{0, name, std::move(carried->config), Match::default_config, std::move(reason)}, ns});
    }
  }

  void add_default(const Choice& fallback) {
    const std::string& name = fallback.kernel_template->name();
    if (!can_compare() || fallback.kernel_template->cost_lines().empty()) return;
    if (refused_.contains({name, fallback.config})) return;
    if (suggested_.contains({name, fallback.config})) return;
    const double ns = calibration_.untried(name) *
                      expected_ns(*fallback.kernel_template, fallback.config, problem_, profile_);
    if (!std::isfinite(ns)) return;
    std::string reason = reason_for_default(name, ns, trusts_model_);
    ranked_.push_back({{0, name, fallback.config, Match::default_config, std::move(reason)}, ns});
  }

  [[nodiscard]] std::vector<Suggestion> take() {
    std::stable_sort(ranked_.begin(), ranked_.end(), [](const Ranked& left, const Ranked& right) {
      return left.predicted_ns < right.predicted_ns;
    });
    if (ranked_.size() > kMostSuggestions) ranked_.resize(kMostSuggestions);
    std::vector<Suggestion> suggestions;
    for (Ranked& ranked : ranked_) suggestions.push_back(std::move(ranked.suggestion));
    return suggestions;
  }

 private:
  [[nodiscard]] bool can_compare() const { return trusts_model_ || !ranked_.empty(); }

  /// Nothing if the code was carried over before, or what comes of it was suggested, is refused, is
  /// not valid, or hopeless. `factor`: by which the model is off.
  std::optional<Transfer::Result> carry(const KernelTemplate& kernel_template, const Config& config,
                                        const std::string& compiled, double distance,
                                        double factor) {
    const std::string& name = kernel_template.name();
    Transfer* const transfer = transfer_of(kernel_template);
    if (transfer == nullptr || !carried_.emplace(name, compiled).second) return std::nullopt;
    auto result = transfer->carry(config, distance, kHopeless * least_ns_ / factor);
    if (!result || refused_.contains({name, result->config})) return std::nullopt;
    least_ns_ = std::min(least_ns_, result->repaired_ns * factor);
    if (!suggested_.emplace(name, result->config).second) return std::nullopt;
    return result;
  }

  /// Null if the template does not compute the problem here.
  Transfer* transfer_of(const KernelTemplate& kernel_template) {
    const auto known = transfers_.find(&kernel_template);
    if (known != transfers_.end()) return known->second ? &*known->second : nullptr;
    auto& transfer = transfers_[&kernel_template];
    if (!kernel_template.why_unsupported(problem_, profile_.limits)) {
      transfer.emplace(kernel_template, problem_, profile_);
    }
    return transfer ? &*transfer : nullptr;
  }

  const Problem& problem_;
  const DeviceInfo& device_;
  const DeviceProfile& profile_;
  const Refused& refused_;
  Calibration calibration_;
  std::map<const KernelTemplate*, std::optional<Transfer>> transfers_;
  std::set<std::pair<std::string, std::string>> carried_;  ///< template, compiled part
  std::set<std::pair<std::string, Config>> suggested_;
  std::vector<Ranked> ranked_;
  bool trusts_model_ = false;
  double least_ns_ = std::numeric_limits<double>::infinity();  ///< of those carried, as repaired
};

std::vector<Suggestion> RelatedRanking::rank(const Problem& problem,
                                             const std::vector<RelatedTrial>& related,
                                             const Refused& refused,
                                             const std::vector<Choice>& defaults) {
  Round round(problem, device_, profile_on(device_.device_class), refused);
  std::vector<Source> sources;
  for (const RelatedTrial& trial : related) {
    sources.push_back(source_of(trial));
    if (sources.back().kernel_template != nullptr) round.learn(sources.back(), trial.of.distance);
  }
  for (std::size_t i = 0; i < related.size(); ++i) {
    if (sources[i].kernel_template != nullptr) round.add(i, related[i], sources[i]);
  }
  if (related.empty()) round.trust_model();
  for (const Choice& choice : defaults) round.add_usual(*choice.kernel_template);
  for (const Choice& choice : defaults) round.add_default(choice);
  return round.take();
}

}  // namespace kiln::detail
