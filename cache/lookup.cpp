// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kiln/error.hpp"

namespace kiln {
namespace {

constexpr double kMaxOctavesPerSize = 2.0;
constexpr double kMaxOctaves = 4.0;

/// Sum of |log2| over the sizes; nothing when too far, or when the sizes have other names.
std::optional<double> distance_octaves(const Problem& wanted, const Problem& tuned) {
  if (wanted.sizes.size() != tuned.sizes.size()) return std::nullopt;
  double sum = 0.0;
  for (const NamedValue& size : wanted.sizes) {
    const auto other = tuned.size(size.name);
    if (!other || *other < 1 || size.value < 1) return std::nullopt;
    const double octaves =
        std::abs(std::log2(static_cast<double>(size.value) / static_cast<double>(*other)));
    if (octaves > kMaxOctavesPerSize) return std::nullopt;
    sum += octaves;
  }
  return sum <= kMaxOctaves ? std::optional(sum) : std::nullopt;
}

/// "driver 550.1, now 580.2 and toolkit nvrtc 12.8, now nvrtc 13.0"; no driver had a part in a
/// prediction.
std::string environment_change(const Trial& trial, const Environment& now) {
  const Environment& then = trial.environment;
  std::string text;
  if (then.driver != now.driver && trial.provenance == Provenance::measured) {
    text = fmt::format("driver {}, now {}", then.driver, now.driver);
  }
  if (then.toolkit != now.toolkit) {
    text +=
        fmt::format("{}toolkit {}, now {}", text.empty() ? "" : " and ", then.toolkit, now.toolkit);
  }
  return text;
}

struct Nearest {
  double octaves = 0.0;
  Trial trial;
};

/// Asks one store at a time; remembers the first failure.
class Inquiry {
 public:
  Inquiry(const LookupRequest& request, Provenance provenance) : request_(request) {
    query_.device = request.device;
    query_.provenance = provenance;
    query_.admits_template = [&](std::string_view name, std::string_view digest) {
      return request_.current_digest && !digest.empty() && request_.current_digest(name) == digest;
    };
    query_.admits = [&](const Trial& trial) {
      return !request_.is_valid || request_.is_valid(trial.key.template_name, trial.key.config);
    };
  }

  std::optional<Trial> same_problem(const TuningStore& store, bool same_environment) {
    query_.problem = request_.problem;
    query_.environment.reset();
    if (same_environment) query_.environment = request_.environment;
    return store.best(query_);
  }

  std::optional<Nearest> nearest_problem(const TuningStore& store) {
    query_.environment.reset();
    std::vector<std::pair<double, Problem>> near;
    for (Problem& problem : store.problems(request_.problem.kind_text(), request_.device)) {
      if (problem == request_.problem) continue;
      if (const auto octaves = distance_octaves(request_.problem, problem)) {
        near.emplace_back(*octaves, std::move(problem));
      }
    }
    std::sort(near.begin(), near.end(), [](const auto& left, const auto& right) {
      if (left.first != right.first) return left.first < right.first;
      return left.second.sizes_text() < right.second.sizes_text();
    });
    for (auto& [octaves, problem] : near) {
      query_.problem = std::move(problem);
      if (auto trial = store.best(query_)) return Nearest{octaves, std::move(*trial)};
    }
    return std::nullopt;
  }

 private:
  const LookupRequest& request_;
  BestQuery query_;
};

LookupAnswer found(Match match, Trial trial, std::string reason) {
  LookupAnswer answer;
  answer.match = match;
  answer.trial = std::move(trial);
  answer.reason = std::move(reason);
  return answer;
}

const char* how(const Trial& trial) {
  return trial.provenance == Provenance::modelled ? "predicted" : "tuned";
}

std::string reason_for_same_problem(const Trial& trial, const Environment& now) {
  const std::string change = environment_change(trial, now);
  std::string text = fmt::format("{} for this problem on this device class", how(trial));
  if (!change.empty()) return fmt::format("{}, under {}", text, change);
  if (trial.provenance == Provenance::modelled) return text + ", never measured";
  return text + ", driver and toolkit";
}

/// Looks among trials of that provenance alone.
LookupAnswer ask(std::vector<const TuningStore*>& stores, const LookupRequest& request,
                 Provenance provenance, std::optional<Error>& failure) {
  Inquiry inquiry(request, provenance);
  // A store that fails once is not asked again; the others may still answer.
  const auto first_of = [&](auto&& question) -> decltype(question(*stores.front())) {
    for (auto store = stores.begin(); store != stores.end();) {
      try {
        if (auto answer = question(**store)) return answer;
        ++store;
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::database) throw;
        if (!failure) failure = error;
        store = stores.erase(store);
      }
    }
    return std::nullopt;
  };

  for (const bool same_environment : {true, false}) {
    const auto best = [&](const TuningStore& s) {
      return inquiry.same_problem(s, same_environment);
    };
    if (auto trial = first_of(best)) {
      std::string reason = reason_for_same_problem(*trial, request.environment);
      return found(same_environment ? Match::exact : Match::same_device_class, std::move(*trial),
                   std::move(reason));
    }
  }
  // Every store is asked: a nearer problem beats a nearer store.
  std::optional<Nearest> nearest;
  (void)first_of([&](const TuningStore& store) -> std::optional<Nearest> {
    auto here = inquiry.nearest_problem(store);
    if (here && (!nearest || here->octaves < nearest->octaves)) nearest = std::move(here);
    return std::nullopt;
  });
  if (nearest) {
    std::string reason = fmt::format(
        "{} for {} on this device class; nearest to the requested size, distance {:.1f} octaves",
        how(nearest->trial), nearest->trial.key.problem.sizes_text(), nearest->octaves);
    const std::string change = environment_change(nearest->trial, request.environment);
    if (!change.empty()) reason += "; under " + change;
    return found(Match::nearest_problem, std::move(nearest->trial), std::move(reason));
  }
  LookupAnswer none;
  none.reason =
      fmt::format("no tuned result for this problem, or one within {:.0f} octaves of it, on {}",
                  kMaxOctaves, request.device.name);
  return none;
}

}  // namespace

LookupAnswer look_up(const std::vector<const TuningStore*>& stores, const LookupRequest& request) {
  std::vector<const TuningStore*> willing = stores;
  std::optional<Error> failure;
  LookupAnswer answer = ask(willing, request, Provenance::measured, failure);
  if (answer.match == Match::none) {
    answer = ask(willing, request, Provenance::modelled, failure);
  }
  if (failure) {
    if (answer.match == Match::none) throw *failure;
    answer.warning = failure->what();
  }
  return answer;
}

}  // namespace kiln
