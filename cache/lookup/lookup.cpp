// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/lookup/lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "kiln/error.hpp"
#include "templates/printable.hpp"

namespace kiln {
namespace {

/// Of so many related problems the results are read.
constexpr std::size_t kMostRelated = 6;
/// The results of a problem that are good enough to try elsewhere: by how much they may be slower
/// than its best, and how many they are at most.
constexpr double kGoodFactor = 1.5;
constexpr std::size_t kMostGood = 3;

/// "driver 550.1 (now in use: 580.2) and toolkit nvrtc 12.8 (now in use: nvrtc 13.0)"; predictions
/// involve no driver.
std::string environment_change(const Trial& trial, const Environment& now) {
  const Environment& then = trial.environment;
  std::string text;
  if (then.driver != now.driver && trial.provenance == Provenance::measured) {
    text = fmt::format("driver {} (now in use: {})", then.driver, now.driver);
  }
  if (then.toolkit != now.toolkit) {
    text += fmt::format("{}toolkit {} (now in use: {})", text.empty() ? "" : " and ", then.toolkit,
                        now.toolkit);
  }
  return text;
}

/// Whether the rival is for the same problem and would be the better of the two.
bool is_beaten(const Trial& trial, const Trial& rival, const Objective& objective) {
  if (trial.key.problem != rival.key.problem) return false;
  const std::vector<Trial> both{trial, rival};
  return best_of(both, objective) == &both.back();
}

/// Queries one store at a time. Remembers the first trial that would have been an answer, or a
/// better one, if its template and its judge had not changed; of several for one problem, the best.
class Inquiry {
 public:
  Inquiry(const LookupRequest& request, Provenance provenance) : request_(request) {
    query_.device = request.device;
    query_.provenance = provenance;
    query_.admits_template = [&](std::string_view name, std::string_view digest) {
      return request_.current_digest && !digest.empty() && request_.current_digest(name) == digest;
    };
    query_.admits = request.is_valid;
    query_.judge = request.judge;
    query_.objective = request.objective;
  }

  /// From now on the fastest is the best.
  void ask_by_time() { query_.objective = {}; }

  std::optional<Trial> same_problem(const TuningStore& store, bool same_environment) {
    query_.problem = request_.problem;
    query_.environment.reset();
    if (same_environment) query_.environment = request_.environment;
    return best(store);
  }

  [[nodiscard]] const std::optional<Trial>& unavailable() const { return unavailable_; }

 private:
  std::optional<Trial> best(const TuningStore& store) {
    std::optional<Trial> unavailable;
    auto trial = store.best(query_, &unavailable);
    if (unavailable &&
        (!unavailable_ || is_beaten(*unavailable_, *unavailable, query_.objective))) {
      unavailable_ = std::move(unavailable);
    }
    return trial;
  }

  const LookupRequest& request_;
  BestQuery query_;
  std::optional<Trial> unavailable_;
};

/// The good results of related problems, gathered store by store.
class RelatedInquiry {
 public:
  RelatedInquiry(const LookupRequest& request, Provenance provenance)
      : request_(request), provenance_(provenance) {}

  void ask(const TuningStore& store) {
    std::vector<RelatedTrial> found;
    for (const RelatedProblem& near :
         store.related(request_.problem, request_.device, kMostRelated)) {
      add_good(store, near, found);
    }
    trials_.insert(trials_.end(), std::make_move_iterator(found.begin()),
                   std::make_move_iterator(found.end()));
  }

  /// Those of the nearest problems of all stores, the nearest first.
  [[nodiscard]] std::vector<RelatedTrial> take() {
    std::stable_sort(trials_.begin(), trials_.end(), [](const auto& left, const auto& right) {
      return left.of.distance < right.of.distance;
    });
    std::size_t problems = 0;
    const auto end = std::find_if(trials_.begin(), trials_.end(), [&](const RelatedTrial& trial) {
      const bool first = &trial == &trials_.front() || !is_beside(trial, *(&trial - 1));
      return first && ++problems > kMostRelated;
    });
    trials_.erase(end, trials_.end());
    return std::move(trials_);
  }

  /// The best result for the first problem of which none can be used; nothing if there is no such
  /// problem.
  [[nodiscard]] const std::optional<Contender>& stale() const { return stale_; }

 private:
  static bool is_beside(const RelatedTrial& trial, const RelatedTrial& other) {
    return trial.store == other.store && trial.of.device == other.of.device &&
           trial.of.problem == other.of.problem;
  }

  void add_good(const TuningStore& store, const RelatedProblem& near,
                std::vector<RelatedTrial>& found) {
    std::set<std::pair<std::string, std::string>> candidates;
    std::optional<Contender> stale;
    double best = 0.0;
    for (Contender& contender : store.contenders(near)) {
      if (static_cast<Provenance>(contender.rank.provenance) != provenance_) continue;
      const bool is_judged = !request_.judge || contender.judge == *request_.judge;
      const std::string digest = request_.current_digest(contender.template_name);
      if (!is_judged || digest != contender.template_digest) {
        // What was judged again and refused must not be offered to be judged again.
        if (!stale && !stale_ && !store.judged_again(near, contender, digest, request_.judge)) {
          stale = std::move(contender);
        }
        continue;
      }
      if (candidates.empty()) best = contender.rank.cost;
      if (contender.rank.cost > kGoodFactor * best) break;
      candidates.emplace(contender.template_name, contender.config);
      if (candidates.size() > kMostGood) break;
      found.push_back({near, std::move(contender), &store});
    }
    if (candidates.empty() && !stale_) stale_ = std::move(stale);
  }

  const LookupRequest& request_;
  Provenance provenance_;
  std::vector<RelatedTrial> trials_;
  std::optional<Contender> stale_;
};

LookupAnswer found(Match match, Trial trial, std::string reason) {
  LookupAnswer answer;
  answer.match = match;
  answer.template_name = trial.key.template_name;
  answer.config = trial.key.config;
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

/// "the best known kernel, rows_fast, is not available: ..."
std::string why_unavailable(const Contender& contender, const LookupRequest& request) {
  const std::string& name = contender.template_name;
  const std::string now = request.current_digest ? request.current_digest(name) : "";
  std::string_view why =
      "the operation has changed (reference, tolerances, input data or verified sizes) since Kiln "
      "verified the kernel; `kiln tune --stale` verifies the kernel again";
  if (now.empty()) {
    why =
        "Kiln does not find the kernel's template; pass the template's directory with "
        "--template-path or KILN_TEMPLATE_PATH";
  } else if (now != contender.template_digest) {
    why =
        "the template has changed since Kiln tuned the kernel; `kiln tune --stale` retunes the "
        "problem";
  }
  return fmt::format("the best known kernel, {}, is not available: {}", name, why);
}

/// Asks several stores. One that fails once is not asked again; the others may still answer.
class Stores {
 public:
  Stores(std::vector<const TuningStore*> stores) : stores_(std::move(stores)) {}

  template <class Question>
  auto first_of(Question&& question) -> decltype(question(std::declval<const TuningStore&>())) {
    for (auto store = stores_.begin(); store != stores_.end();) {
      try {
        if (auto answer = question(**store)) return answer;
        ++store;
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::database) throw;
        if (!failure_) failure_ = error;
        store = stores_.erase(store);
      }
    }
    return std::nullopt;
  }
  /// Only that one.
  template <class Question>
  auto of(const TuningStore& store, Question&& question) -> decltype(question(store)) {
    return first_of([&](const TuningStore& other) -> decltype(question(store)) {
      if (&other != &store) return std::nullopt;
      return question(other);
    });
  }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  std::vector<const TuningStore*> stores_;
  std::optional<Error> failure_;
};

std::optional<LookupAnswer> ask_for_same(Stores& stores, const LookupRequest& request,
                                         Inquiry& inquiry) {
  for (const bool same_environment : {true, false}) {
    const auto best = [&](const TuningStore& s) {
      return inquiry.same_problem(s, same_environment);
    };
    if (auto trial = stores.first_of(best)) {
      std::string reason = reason_for_same_problem(*trial, request.environment);
      return found(same_environment ? Match::exact : Match::same_device_class, std::move(*trial),
                   std::move(reason));
    }
  }
  if (request.objective.is_time()) return std::nullopt;
  inquiry.ask_by_time();
  const auto fastest = [&](const TuningStore& s) { return inquiry.same_problem(s, false); };
  if (auto trial = stores.first_of(fastest)) {
    std::string reason = fmt::format(
        "the fastest kernel for this problem on this device class, because no stored result has a "
        "value for the objective {}",
        request.objective.canonical());
    return found(Match::other_objective, std::move(*trial), std::move(reason));
  }
  return std::nullopt;
}

/// `gone` becomes what would have counted if its template and its judge had not changed.
LookupAnswer ask_for_related(Stores& stores, const LookupRequest& request, Provenance provenance,
                             std::optional<Contender>& gone) {
  LookupAnswer answer;
  answer.reason = fmt::format("no tuned result for this problem, or for a related problem, on {}",
                              request.device.name);
  if (!request.suggest || !request.current_digest) return answer;
  RelatedInquiry inquiry(request, provenance);
  (void)stores.first_of([&](const TuningStore& store) -> std::optional<Trial> {
    inquiry.ask(store);
    return std::nullopt;
  });
  const std::vector<RelatedTrial> related = inquiry.take();
  for (Suggestion& suggestion : request.suggest(related)) {
    const RelatedTrial& source = related.at(suggestion.source);
    auto trial = stores.of(*source.store,
                           [&](const TuningStore& store) { return store.trial(source.contender); });
    if (!trial) continue;
    const std::string change = environment_change(*trial, request.environment);
    if (suggestion.match != Match::default_config && !change.empty()) {
      suggestion.reason += "; under " + change;
    }
    answer = found(suggestion.match, std::move(*trial), std::move(suggestion.reason));
    answer.template_name = std::move(suggestion.template_name);
    answer.config = std::move(suggestion.config);
    return answer;
  }
  gone = inquiry.stale();
  return answer;
}

/// Looks only among trials of that provenance.
LookupAnswer ask(Stores& stores, const LookupRequest& request, Provenance provenance) {
  Inquiry inquiry(request, provenance);
  std::optional<Contender> gone;
  auto same = ask_for_same(stores, request, inquiry);
  LookupAnswer answer =
      same ? std::move(*same) : ask_for_related(stores, request, provenance, gone);
  const auto& trial = inquiry.unavailable();
  // Each store was queried by itself; another one may have had something better.
  const Objective objective =
      answer.match == Match::other_objective ? Objective() : request.objective;
  if (trial && (!answer.trial || !is_beaten(*trial, *answer.trial, objective))) {
    gone = contender_of(*trial);
  }
  if (gone) {
    answer.unavailable = why_unavailable(*gone, request);
    answer.reason += "; " + answer.unavailable;
    answer.warnings.push_back(
        {LookupWarning::About::unavailable, "template " + gone->template_name,
         fmt::format("{}: {}", request.problem.canonical(), answer.unavailable)});
  }
  return answer;
}

}  // namespace

LookupAnswer look_up(const std::vector<const TuningStore*>& stores, const LookupRequest& request) {
  Stores willing(stores);
  LookupAnswer answer = ask(willing, request, Provenance::measured);
  if (answer.match == Match::none) {
    LookupAnswer predicted = ask(willing, request, Provenance::modelled);
    // A measurement with a template that is gone still outranks a prediction.
    if (!answer.unavailable.empty()) {
      if (predicted.unavailable.empty()) predicted.reason += "; " + answer.unavailable;
      predicted.unavailable = answer.unavailable;
      predicted.warnings = answer.warnings;
    }
    answer = std::move(predicted);
  }
  if (const auto& failure = willing.failure()) {
    if (answer.match == Match::none) throw *failure;
    answer.warnings.push_back({LookupWarning::About::database, failure->what(),
                               fmt::format("Kiln ignores a database: {}", failure->what())});
  }
  for (const TuningStore* store : stores) {
    if (store->corrupt_rows() == 0) continue;
    const std::string text = fmt::format(
        "database {} has damaged rows, which Kiln ignores. Next: `kiln doctor --db {}` names the "
        "damaged rows. To replace the rows, import or merge an intact copy.",
        store->path(), shell_word(store->path()));
    answer.warnings.push_back({LookupWarning::About::rows, text, text});
  }
  return answer;
}

}  // namespace kiln
