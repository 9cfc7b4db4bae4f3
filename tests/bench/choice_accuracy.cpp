// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// How good the kernels are that problems get without being tuned, by a tuning database of a real
/// GPU: each problem is hidden in turn, with all of the same sizes, and chosen for from the rest.
/// The time of the choice is the one that was measured; where that configuration was not tried for
/// the problem, the median of those of its template that differ from it the least. Needs no GPU.
/// Prints for each problem that time over the best one's, the same for the default configuration,
/// how many tunables the configuration differs in whose time it is, how long choosing took (ms of a
/// process that opens the database for it, and of one that has chosen before), the first two for
/// the next choices should it not build, and the match. Results of another state of a template
/// count as if it were the present one, without the tunables that this one lacks.
///
/// With another database, results are chosen from that one, and only problems that it does not have
/// are judged.
///
///     choice_accuracy DATABASE [PROFILE [FROM]]

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/store/store.hpp"
#include "runtime/choice/kernel_chooser.hpp"
#include "runtime/model/device_profile.hpp"
#include "tests/unit/runtime/temporary_folder.hpp"

namespace kiln::testing {
namespace {

/// Processor time of the fastest of several calls: other work may share the machine.
template <class Call>
double ms_of(Call&& call) {
  double fastest = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t start = std::clock();
    call();
    fastest = std::min(fastest, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return fastest;
}

/// How much one configuration is another one: differing tunables, then by how many octaves.
std::pair<int, double> distance(const Config& left, const Config& right) {
  int differing = 0;
  double octaves = 0.0;
  for (const auto& [name, value] : left.values()) {
    const auto other = right.find(name).value_or(-1);
    if (other == value) continue;
    ++differing;
    octaves += std::abs(std::log2(static_cast<double>(value + 1) / static_cast<double>(other + 1)));
  }
  return {differing, octaves};
}

/// Measured times of one problem.
class Measured {
 public:
  explicit Measured(std::vector<Trial> trials) {
    for (Trial& trial : trials) {
      // Finalists are timed once more, interleaved: those times are longer, and only theirs.
      if (trial.provenance != Provenance::measured || !eligible(trial)) continue;
      if (trial.timing->interleaved) continue;
      const double ns = trial.timing->median_ns;
      best_ns_ = best_ns_ == 0.0 ? ns : std::min(best_ns_, ns);
      trials_.push_back(std::move(trial));
    }
  }
  [[nodiscard]] bool empty() const { return trials_.empty(); }

  struct Estimate {
    double ratio = 0.0;  ///< best time over this one's; 0: nothing of the template was measured
    int differing = 0;
  };
  [[nodiscard]] Estimate of(const detail::Choice& choice) const {
    std::map<std::pair<int, double>, std::vector<double>> times;
    for (const Trial& trial : trials_) {
      if (trial.key.template_name != choice.kernel_template->name()) continue;
      times[distance(choice.config, trial.key.config)].push_back(trial.timing->median_ns);
    }
    if (times.empty()) return {};
    auto& [near, ns] = *times.begin();
    std::sort(ns.begin(), ns.end());
    return {best_ns_ / ns[ns.size() / 2], near.first};
  }

 private:
  std::vector<Trial> trials_;
  double best_ns_ = 0.0;
};

/// Geometric mean; a choice of which nothing is known does not count.
class Mean {
 public:
  void add(double ratio) {
    if (ratio <= 0.0) return;
    sum_ += std::log(ratio);
    ++count_;
  }
  [[nodiscard]] double value() const { return count_ == 0 ? 0.0 : std::exp(sum_ / count_); }

 private:
  double sum_ = 0.0;
  int count_ = 0;
};

/// As if the candidate were one of the template's present state.
void make_present(CandidateKey& key) {
  const KernelTemplate* const kernel_template = Catalog::builtin().find(key.template_name);
  if (kernel_template == nullptr) return;
  key.template_digest = Catalog::builtin().digest(key.template_name);
  Config config;
  for (const Tunable& tunable : kernel_template->space_spec().tunables) {
    if (const auto value = key.config.find(tunable.name)) config.set(tunable.name, *value);
  }
  key.config = config;
}

struct Sums {
  Mean chosen, predicted, defaults;
  double slowest_ms = 0.0;
};

/// What is judged by, and what is chosen from.
struct Results {
  std::vector<Trial> judging;
  std::vector<Trial> known;
};

std::vector<Trial> trials_of(const std::string& database) {
  std::vector<Trial> trials = TuningStore::open(database, OpenMode::read_only).trials({});
  for (Trial& trial : trials) make_present(trial.key);
  return trials;
}

void judge(const Problem& hidden, const Results& results, const DeviceInfo& device, Sums& sums) {
  const TemporaryFolder folder;
  const std::string path = folder.file("tuning.db");
  std::vector<Trial> own;
  std::vector<Trial> others;
  for (const Trial& trial : results.judging) {
    if (trial.key.problem == hidden) own.push_back(trial);
  }
  for (const Trial& trial : results.known) {
    if (trial.key.problem.sizes != hidden.sizes) others.push_back(trial);
  }
  const Measured measured(std::move(own));
  if (measured.empty()) return;
  (void)TuningStore::open(path, OpenMode::read_write).record_all(others);
  detail::WarningSink warnings([](std::string_view text) { fmt::print(stderr, "{}\n", text); }, "");
  const auto chooser_of = [&] {
    return detail::KernelChooser(Catalog::builtin(), device, path, {}, warnings);
  };
  const double first_ms = ms_of([&] { (void)chooser_of().stored(hidden, "nvrtc", {}); });
  detail::KernelChooser chooser = chooser_of();
  const auto known = chooser.stored(hidden, "nvrtc", {});
  const double next_ms = ms_of([&] { (void)chooser.stored(hidden, "nvrtc", {}); });
  std::string next;
  detail::Refused refused;
  for (int i = 0; i < 6 && known.choice; ++i) {
    const auto other = chooser.stored(hidden, "nvrtc", refused).choice;
    if (!other) break;
    next += fmt::format(" {:.2f}/{}", measured.of(*other).ratio, measured.of(*other).differing);
    refused.insert({other->kernel_template->name(), other->config});
  }
  const auto predicted = chooser.predicted(hidden, {}, "");
  const auto fallback = chooser.fallback(hidden, {}, "");
  if (!predicted || !fallback) return;
  const detail::Choice& choice = known.choice ? *known.choice : *predicted;
  const auto estimate = measured.of(choice);
  const auto unknown = measured.of(*predicted);
  const auto usual = measured.of(*fallback);
  sums.chosen.add(estimate.ratio);
  sums.predicted.add(unknown.ratio);
  sums.defaults.add(usual.ratio);
  sums.slowest_ms = std::max(sums.slowest_ms, first_ms);
  fmt::print("{:.3f}  {:.3f}  {:.3f}  {:2d}  {:5.2f} {:5.2f}  {:36} {:15}  {} | {} [{}] {}\n",
             estimate.ratio, unknown.ratio, usual.ratio, estimate.differing, first_ms, next_ms,
             next, to_string(choice.match), hidden.canonical(), choice.kernel_template->name(),
             choice.config.canonical(), choice.reason);
}

int run(const std::string& database, const std::string& model, const std::string& from) {
  const auto profile = built_in_profile(model);
  if (!profile) {
    fmt::print(stderr, "choice_accuracy: there is no device profile {}\n", model);
    return 2;
  }
  DeviceInfo device;
  device.limits = profile->limits;
  device.device_class = profile->device_class;
  const TuningStore store = TuningStore::open(database, OpenMode::read_only);
  const Results results{trials_of(database), trials_of(from.empty() ? database : from)};
  const auto is_known = [&](const Problem& problem) {
    return !from.empty() &&
           std::any_of(results.known.begin(), results.known.end(),
                       [&](const Trial& trial) { return trial.key.problem == problem; });
  };
  Sums sums;
  fmt::print(
      "chosen model  default away  ms: first, next  match  problem | candidate and reason\n");
  for (const ProblemSummary& summary : store.summaries()) {
    if (summary.device != device.device_class || is_known(summary.problem)) continue;
    judge(summary.problem, results, device, sums);
  }
  fmt::print(
      "geometric means: chosen {:.3f}, by the model only {:.3f}, default {:.3f}; slowest choice "
      "{:.2f} ms\n",
      sums.chosen.value(), sums.predicted.value(), sums.defaults.value(), sums.slowest_ms);
  return 0;
}

}  // namespace
}  // namespace kiln::testing

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    fmt::print(stderr, "usage: choice_accuracy DATABASE [PROFILE [FROM]]\n");
    return 2;
  }
  try {
    return kiln::testing::run(argv[1], argc > 2 ? argv[2] : "h200", argc > 3 ? argv[3] : "");
  } catch (const std::exception& error) {
    fmt::print(stderr, "choice_accuracy: {}\n", error.what());
    return 1;
  }
}
