// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/choice/kernel_chooser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "kiln/error.hpp"
#include "templates/operation/judge.hpp"
#include "templates/space/tunable_value.hpp"

namespace kiln::detail {
namespace {

Choice default_choice(const KernelTemplate& kernel_template, Config config, std::string reason) {
  return {&kernel_template,    std::move(config), Match::default_config, std::move(reason), "",
          Provenance::measured};
}

/// Every tunable at the smallest of its values: needs least of the device, as a rule. Of names the
/// first is listed as the simplest.
Config smallest(const ParamSpace& space) {
  Config config;
  for (const Tunable& tunable : space.tunables()) {
    const bool is_named = is_named_value(tunable.values.front());
    config.set(tunable.name,
               is_named ? tunable.values.front()
                        : *std::ranges::min_element(tunable.values, {}, [](std::int64_t value) {
                            return number_of(value);
                          }));
  }
  return config;
}

/// What to try where `config` does not run: one tunable at its next smaller value, all at their
/// smallest, then everything else that differs in one tunable.
std::vector<Config> nearby(const ParamSpace& space, const Config& config) {
  std::vector<Config> found;
  for (const Tunable& tunable : space.tunables()) {
    const std::int64_t own = config.at(tunable.name);
    if (is_named_value(own)) continue;
    std::optional<std::int64_t> below;
    for (const std::int64_t value : tunable.values) {
      const double number = number_of(value);
      if (number < number_of(own) && (!below || number > number_of(*below))) below = value;
    }
    if (!below) continue;
    Config smaller = config;
    smaller.set(tunable.name, *below);
    if (space.contains(smaller)) found.push_back(std::move(smaller));
  }
  if (Config least = smallest(space); space.contains(least)) found.push_back(std::move(least));
  std::vector<Config> others = space.neighbours(config);
  found.insert(found.end(), std::make_move_iterator(others.begin()),
               std::make_move_iterator(others.end()));
  return found;
}

WarningKind kind_of(const LookupWarning& warning) {
  switch (warning.about) {
    case LookupWarning::About::rows:
      return WarningKind::rows;
    case LookupWarning::About::unavailable:
      return WarningKind::unavailable;
    case LookupWarning::About::database:
      break;
  }
  return WarningKind::database;
}

}  // namespace

KernelChooser::KernelChooser(const Catalog& catalog, const DeviceInfo& device, std::string database,
                             std::vector<std::string> site_databases, WarningSink& warnings,
                             Objective objective)
    : catalog_(catalog),
      device_(device),
      warnings_(warnings),
      objective_(std::move(objective)),
      ranking_(catalog, device) {
  if (!database.empty()) sources_.push_back({std::move(database), std::nullopt});
  for (std::string& path : site_databases) sources_.push_back({std::move(path), std::nullopt});
}

std::vector<const TuningStore*> KernelChooser::open_stores() {
  std::vector<const TuningStore*> stores;
  for (Source& source : sources_) {
    std::error_code error;
    // A machine on which nothing was tuned has no file: a miss, and nothing to report. It may
    // appear later, just as a file that is locked or damaged now may be in order then.
    if (!source.store && std::filesystem::exists(source.path, error)) {
      try {
        source.store = TuningStore::open(source.path, OpenMode::read_only);
      } catch (const Error& failure) {
        warnings_.warn(WarningKind::database, "database " + source.path,
                       fmt::format("Kiln does not use tuned kernels: {}", failure.what()));
      }
    }
    if (source.store) stores.push_back(&*source.store);
  }
  return stores;
}

const std::string& KernelChooser::judge_of(const std::string& operation) {
  const auto [known, is_new] = judges_.try_emplace(operation);
  if (is_new) known->second = judge_digest(*find_operation(operation));
  return known->second;
}

std::string KernelChooser::known_fault(const Problem& problem, const Choice& choice) {
  TrialFilter filter;
  filter.problem = problem;
  filter.device = device_.device_class;
  filter.template_name = choice.kernel_template->name();
  filter.outcome = Outcome::wrong_result;
  const std::string digest = catalog_.digest(filter.template_name);
  for (const TuningStore* store : open_stores()) {
    try {
      for (const Trial& trial : store->trials(filter)) {
        if (trial.key.config != choice.config || trial.key.template_digest != digest) continue;
        if (kiln::judge_of(trial) != judge_of(problem.operation)) continue;
        return trial.message.substr(0, trial.message.find('\n'));
      }
    } catch (const Error&) {
      // What is wrong with the database was told when it was asked for the kernel.
    }
  }
  return "";
}

bool KernelChooser::valid(std::string_view template_name, const Config& config,
                          const Problem& problem) const {
  const KernelTemplate* found = catalog_.find(template_name);
  return found != nullptr && !found->why_unsupported(problem, device_.limits) &&
         found->space(problem, device_.limits).contains(config);
}

Known KernelChooser::stored(const Problem& problem, const std::string& toolkit,
                            const Refused& refused) {
  const std::vector<const TuningStore*> stores = open_stores();
  if (stores.empty()) return {};
  ++database_reads_;
  LookupRequest request;
  request.problem = problem;
  request.device = device_.device_class;
  request.environment = {device_.driver, toolkit, ""};
  request.current_digest = [this](std::string_view name) {
    return catalog_.find(name) != nullptr ? catalog_.digest(name) : std::string();
  };
  request.judge = judge_of(problem.operation);
  request.objective = objective_;
  request.is_valid = [&](std::string_view name, const Config& config) {
    return !refused.contains({std::string(name), config}) && valid(name, config, problem);
  };
  request.suggest = [&](const std::vector<RelatedTrial>& related) -> std::vector<Suggestion> {
    if (related.empty()) return {};
    return ranking_.rank(problem, related, refused, near_defaults(by_priority(problem), problem));
  };
  LookupAnswer answer;
  try {
    answer = look_up(stores, request);
  } catch (const Error& failure) {
    warnings_.warn(WarningKind::database, "look-up",
                   fmt::format("Kiln does not use tuned kernels: {}", failure.what()));
    return {};
  }
  for (const LookupWarning& warning : answer.warnings) {
    warnings_.warn(kind_of(warning), "look-up: " + warning.cause, warning.text);
  }
  Known known{std::nullopt, answer.unavailable};
  if (answer.trial) {
    known.choice = Choice{
        catalog_.find(answer.template_name), answer.config,           answer.match, answer.reason,
        answer.trial->environment.toolkit,   answer.trial->provenance};
  }
  return known;
}

std::vector<const KernelTemplate*> KernelChooser::by_priority(const Problem& problem) const {
  std::vector<const KernelTemplate*> order;
  for (const KernelTemplate& kernel_template : catalog_.templates()) {
    if (!kernel_template.why_unsupported(problem, device_.limits)) {
      order.push_back(&kernel_template);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](const auto* left, const auto* right) {
    return left->priority(problem, device_.limits) > right->priority(problem, device_.limits);
  });
  return order;
}

std::vector<Choice> KernelChooser::near_defaults(
    const std::vector<const KernelTemplate*>& templates, const Problem& problem) const {
  std::vector<Choice> choices;
  for (const KernelTemplate* kernel_template : templates) {
    auto config = kernel_template->space(problem, device_.limits).near_default();
    if (config) choices.push_back(default_choice(*kernel_template, std::move(*config), ""));
  }
  return choices;
}

std::optional<Choice> KernelChooser::default_or_near(
    const std::vector<const KernelTemplate*>& templates, const Problem& problem,
    const Refused& refused) const {
  std::vector<std::pair<const KernelTemplate*, Config>> tried;
  for (const KernelTemplate* kernel_template : templates) {
    auto config = kernel_template->space(problem, device_.limits).default_config();
    if (!config) continue;
    if (!refused.contains({kernel_template->name(), *config})) {
      return default_choice(*kernel_template, std::move(*config),
                            "default configuration of " + kernel_template->name());
    }
    tried.emplace_back(kernel_template, std::move(*config));
  }
  if (refused.size() >= kMostTries) return std::nullopt;
  for (const auto& [kernel_template, config] : tried) {
    if (refused.contains({kernel_template->name(), Config()})) continue;
    for (Config& near : nearby(kernel_template->space(problem, device_.limits), config)) {
      if (refused.contains({kernel_template->name(), near})) continue;
      return default_choice(*kernel_template, std::move(near),
                            fmt::format("the default configuration of {} cannot be used, so Kiln "
                                        "uses a similar configuration",
                                        kernel_template->name()));
    }
  }
  return std::nullopt;
}

std::optional<Choice> KernelChooser::predicted(const Problem& problem, const Refused& refused,
                                               const std::string& unavailable) {
  const std::vector<const KernelTemplate*> templates = by_priority(problem);
  if (templates.empty() || templates.front()->space_spec().usual.empty() ||
      templates.front()->cost_lines().empty()) {
    return fallback(problem, refused, unavailable);
  }
  std::vector<Suggestion> suggestions =
      ranking_.rank(problem, {}, refused, near_defaults(templates, problem));
  if (suggestions.empty()) return fallback(problem, refused, unavailable);
  Suggestion& best = suggestions.front();
  return Choice{catalog_.find(best.template_name),
                std::move(best.config),
                best.match,
                fmt::format("{}{}{}", best.reason, unavailable.empty() ? "" : "; ", unavailable),
                "",
                Provenance::measured};
}

std::vector<Choice> KernelChooser::likely(const Problem& problem, const std::string& toolkit,
                                          std::size_t most) {
  std::vector<Choice> choices;
  Refused refused;
  while (choices.size() < most) {
    auto choice = stored(problem, toolkit, refused).choice;
    if (!choice) {
      choice = predicted(problem, refused, "");
      // Without costs, one is as good as another.
      if (choice && choice->kernel_template->cost_lines().empty()) break;
    }
    if (!choice) break;
    refused.insert({choice->kernel_template->name(), choice->config});
    choices.push_back(std::move(*choice));
  }
  return choices;
}

std::optional<Choice> KernelChooser::fallback(const Problem& problem, const Refused& refused,
                                              const std::string& unavailable) const {
  auto choice = default_or_near(by_priority(problem), problem, refused);
  if (choice && !unavailable.empty()) choice->reason += "; " + unavailable;
  return choice;
}

std::optional<Choice> KernelChooser::plainest(const Problem& problem, const Refused& refused,
                                              std::string_view reason) const {
  auto order = by_priority(problem);
  std::reverse(order.begin(), order.end());
  auto choice = default_or_near(order, problem, refused);
  if (choice) {
    choice->match = Match::exact;
    choice->reason = reason;
  }
  return choice;
}

std::vector<std::string> KernelChooser::why_none(const Problem& problem,
                                                 const Refused& refused) const {
  std::vector<std::string> reasons;
  for (const KernelTemplate& kernel_template : catalog_.templates()) {
    if (kernel_template.operation() != problem.operation) continue;
    if (const auto reason = kernel_template.why_unsupported(problem, device_.limits)) {
      reasons.push_back(*reason);
      continue;
    }
    const bool is_tried = std::any_of(refused.begin(), refused.end(), [&](const auto& each) {
      return each.first == kernel_template.name();
    });
    reasons.push_back(fmt::format("{}: {}", kernel_template.name(),
                                  is_tried ? "every configuration that Kiln tried failed"
                                           : "no configuration is valid for this problem"));
  }
  return reasons;
}

}  // namespace kiln::detail
