// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/stored.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "kiln/error.hpp"
#include "tools/history.hpp"
#include "tools/output/trial_text.hpp"

namespace kiln::tools {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

}  // namespace

bool meant_by(const DeviceClass& device, const std::string& on) {
  const auto wanted = lower(on);
  return lower(device.name).find(wanted) != std::string::npos ||
         lower(device.arch).find(wanted) != std::string::npos;
}

std::vector<ProblemSummary> select(std::vector<ProblemSummary> summaries, const std::string& on) {
  const auto meant = [&](const auto& summary) {
    return on.empty() || meant_by(summary.device, on);
  };
  if (!summaries.empty() && std::none_of(summaries.begin(), summaries.end(), meant)) {
    std::set<std::string> devices;
    for (const auto& summary : summaries) devices.insert(device_text(summary.device));
    throw Error(ErrorKind::not_found,
                fmt::format("--on {}: no device in the database has this text in its name or "
                            "architecture. The database contains these devices:\n  {}",
                            on, fmt::join(devices, "\n  ")));
  }
  std::erase_if(summaries, [&](const auto& summary) { return !meant(summary); });
  const auto stronger = [](const auto& left, const auto& right) {
    return left.provenance < right.provenance;
  };
  // Mostly all have one provenance, and sorting moves what is large many times.
  if (!std::is_sorted(summaries.begin(), summaries.end(), stronger)) {
    std::stable_sort(summaries.begin(), summaries.end(), stronger);
  }
  return summaries;
}

Trial stored_best(const TuningStore& store, const Catalog& catalog, const Problem& problem,
                  const std::string& on, const std::string& tune_command) {
  Present present(catalog);
  ProblemFilter filter;
  filter.problem = problem;
  filter.admits = [&](const Problem&, const Contender& contender) {
    return present.outdated(problem, contender) == Outdated::no;
  };
  std::vector<const Trial*> winners;
  const Trial* outdated = nullptr;
  const auto summaries = select(store.summaries(filter), on);
  for (const auto& summary : summaries) {
    // What was only compiled counts where nothing was measured.
    const bool weaker = !winners.empty() && winners.front()->provenance != summary.provenance;
    if (summary.best && summary.is_admitted && !weaker) winners.push_back(&*summary.best);
    if (summary.best && !summary.is_admitted) outdated = &*summary.best;
  }
  if (winners.empty() && outdated != nullptr) {
    const bool by_judge = present.outdated(*outdated) == Outdated::by_judge;
    throw Error(
        ErrorKind::not_found,
        fmt::format("the stored best kernel was {} {}. Next: `{}` tunes with the current version",
                    by_judge ? "verified with another version of the operation"
                             : "made with another version of",
                    by_judge ? problem.operation : outdated->key.template_name, tune_command));
  }
  if (winners.empty()) {
    throw Error(ErrorKind::not_found,
                fmt::format("nothing is stored for this problem{}; `{}` tunes it",
                            on.empty() ? "" : fmt::format(" on \"{}\"", on), tune_command));
  }
  if (winners.size() > 1) {
    std::string devices;
    for (const auto* winner : winners) {
      devices += fmt::format("\n  {}", device_text(winner->key.device));
    }
    throw Error(
        ErrorKind::usage,
        fmt::format("several devices have a best kernel; choose one with --on:{}", devices));
  }
  return *winners.front();
}

}  // namespace kiln::tools
