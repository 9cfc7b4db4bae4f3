// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/stale.hpp"

#include "templates/judge.hpp"
#include "tools/how_to_use.hpp"
#include "tools/output/trial_text.hpp"

namespace kiln::tools {

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
    (void)store.best(query, &unavailable);
    // A template that is not here at all can't be tuned again.
    if (!unavailable || catalog.find(unavailable->key.template_name) == nullptr) continue;
    lines.push_back({heading_text(summary.problem), case_of(summary.problem), 0});
  }
  return lines;
}

}  // namespace kiln::tools
