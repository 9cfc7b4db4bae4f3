// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/stale.hpp"

#include "templates/operation/judge.hpp"
#include "tools/history.hpp"
#include "tools/output/how_to_use.hpp"
#include "tools/output/trial_text.hpp"

namespace kiln::tools {

namespace {

/// Whether something here ran for the problem, but nothing as template and operation are now: what
/// failed under another judge may be right. Once any of it was judged again, that is known.
bool only_outdated(const TuningStore& store, const ProblemSummary& summary, Provenance provenance,
                   const Catalog& catalog) {
  Present present(catalog);
  bool any = false;
  for (const Trial& trial : store.latest_trials(summary.problem, summary.device)) {
    if (trial.provenance != provenance || catalog.find(trial.key.template_name) == nullptr)
      continue;
    if (present.outdated(trial) == Outdated::no) return false;
    any = true;
  }
  return any;
}

}  // namespace

std::vector<SuiteLine> stale_problems(const TuningStore& store, const DeviceInfo& device,
                                      const Catalog& catalog) {
  BestQuery query;
  query.device = device.device_class;
  query.provenance = device.provenance;
  query.admits_template = [&](std::string_view name, std::string_view digest) {
    return catalog.find(name) != nullptr && catalog.digest(name) == digest;
  };
  std::vector<SuiteLine> lines;
  for (const auto& summary : store.summaries()) {
    if (summary.device != device.device_class) continue;
    query.problem = summary.problem;
    const Operation* const operation = find_operation(summary.problem.operation);
    if (operation == nullptr) continue;  // nor can one of an operation that is not here
    query.judge = judge_digest(*operation);
    std::optional<Trial> unavailable;
    const auto best = store.best(query, &unavailable);
    // A template that is not here at all can't be tuned again.
    const bool is_lost = unavailable && catalog.find(unavailable->key.template_name) != nullptr;
    if (!is_lost && (best || !only_outdated(store, summary, device.provenance, catalog))) continue;
    lines.push_back({heading_text(summary.problem), case_of(summary.problem), 0});
  }
  return lines;
}

}  // namespace kiln::tools
