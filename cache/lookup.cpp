// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kiln/error.hpp"
#include "templates/printable.hpp"

namespace kiln {
namespace {

/// Beyond this a tuned configuration says little about another problem.
constexpr NeighbourLimits kNear{.octaves_per_size = 2.0, .octaves = 4.0};

/// "driver 550.1, now 580.2 and toolkit nvrtc 12.8, now nvrtc 13.0"; predictions involve no
/// driver.
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

/// Whether the rival is for the same problem and would be the better of the two.
bool is_beaten(const Trial& trial, const Trial& rival) {
  if (trial.key.problem != rival.key.problem) return false;
  const std::vector<Trial> both{trial, rival};
  return best_of(both) == &both.back();
}

/// Queries one store at a time. Remembers the first trial that would have been an answer, or a
/// better one, if its template had not changed; of several for one problem, the best.
class Inquiry {
 public:
  Inquiry(const LookupRequest& request, Provenance provenance) : request_(request) {
    query_.device = request.device;
    query_.provenance = provenance;
    query_.admits_template = [&](std::string_view name, std::string_view digest) {
      return request_.current_digest && !digest.empty() && request_.current_digest(name) == digest;
    };
    query_.admits = request.is_valid;
  }

  std::optional<Trial> same_problem(const TuningStore& store, bool same_environment) {
    query_.problem = request_.problem;
    query_.environment.reset();
    if (same_environment) query_.environment = request_.environment;
    return best(store);
  }

  std::optional<Nearest> nearest_problem(const TuningStore& store) {
    query_.environment.reset();
    NeighbourQueue near = store.neighbours(request_.problem, request_.device, kNear);
    while (auto neighbour = near.next()) {
      query_.problem = std::move(neighbour->problem);
      if (auto trial = best(store)) return Nearest{neighbour->octaves, std::move(*trial)};
    }
    return std::nullopt;
  }

  [[nodiscard]] const std::optional<Trial>& unavailable() const { return unavailable_; }

 private:
  std::optional<Trial> best(const TuningStore& store) {
    std::optional<Trial> unavailable;
    auto trial = store.best(query_, &unavailable);
    if (unavailable && (!unavailable_ || is_beaten(*unavailable_, *unavailable))) {
      unavailable_ = std::move(unavailable);
    }
    return trial;
  }

  const LookupRequest& request_;
  BestQuery query_;
  std::optional<Trial> unavailable_;
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

/// "the best known kernel, gemm_dot, is not available: ..."
std::string why_unavailable(const Trial& trial, const LookupRequest& request) {
  const std::string& name = trial.key.template_name;
  const bool here = request.current_digest && !request.current_digest(name).empty();
  return fmt::format(
      "the best known kernel, {}, is not available: {}", name,
      here ? "its template has changed since it was tuned; `kiln tune --stale` retunes it"
           : "there is no template of that name; pass its directory with "
             "--template-path or KILN_TEMPLATE_PATH");
}

/// Looks only among trials of that provenance.
LookupAnswer ask(std::vector<const TuningStore*>& stores, const LookupRequest& request,
                 Provenance provenance, std::optional<Error>& failure) {
  Inquiry inquiry(request, provenance);
  // A store that fails once is not queried again; the others may still answer.
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
  const auto complete = [&](LookupAnswer answer) {
    const auto& trial = inquiry.unavailable();
    // Each store was queried by itself; another one may have had something better.
    if (trial && (!answer.trial || !is_beaten(*trial, *answer.trial))) {
      answer.unavailable = why_unavailable(*trial, request);
      answer.reason += "; " + answer.unavailable;
      answer.warnings.push_back(
          {"template " + trial->key.template_name,
           fmt::format("{}: {}", request.problem.canonical(), answer.unavailable)});
    }
    return answer;
  };

  for (const bool same_environment : {true, false}) {
    const auto best = [&](const TuningStore& s) {
      return inquiry.same_problem(s, same_environment);
    };
    if (auto trial = first_of(best)) {
      std::string reason = reason_for_same_problem(*trial, request.environment);
      return complete(found(same_environment ? Match::exact : Match::same_device_class,
                            std::move(*trial), std::move(reason)));
    }
  }
  // Every store is queried: a nearer problem beats a nearer store.
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
    return complete(found(Match::nearest_problem, std::move(nearest->trial), std::move(reason)));
  }
  LookupAnswer none;
  none.reason =
      fmt::format("no tuned result for this problem, or one within {:.0f} octaves of it, on {}",
                  kNear.octaves, request.device.name);
  return complete(std::move(none));
}

}  // namespace

LookupAnswer look_up(const std::vector<const TuningStore*>& stores, const LookupRequest& request) {
  std::vector<const TuningStore*> willing = stores;
  std::optional<Error> failure;
  LookupAnswer answer = ask(willing, request, Provenance::measured, failure);
  if (answer.match == Match::none) {
    LookupAnswer predicted = ask(willing, request, Provenance::modelled, failure);
    // A measurement with a template that is gone still outranks a prediction.
    if (!answer.unavailable.empty()) {
      if (predicted.unavailable.empty()) predicted.reason += "; " + answer.unavailable;
      predicted.unavailable = answer.unavailable;
      predicted.warnings = answer.warnings;
    }
    answer = std::move(predicted);
  }
  if (failure) {
    if (answer.match == Match::none) throw *failure;
    answer.warnings.push_back(
        {failure->what(), fmt::format("a database is left out: {}", failure->what())});
  }
  for (const TuningStore* store : stores) {
    if (store->corrupt_rows() == 0) continue;
    const std::string text = fmt::format(
        "database {} has damaged rows; the answer is the best of the others. Next: `kiln doctor "
        "--db {}` names them; importing or merging an intact copy replaces them.",
        store->path(), shell_word(store->path()));
    answer.warnings.push_back({text, text});
  }
  return answer;
}

}  // namespace kiln
