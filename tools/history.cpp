// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/history.hpp"

#include "templates/operation/judge.hpp"

namespace kiln::tools {

std::string_view to_string(Outdated outdated) {
  switch (outdated) {
    case Outdated::no:
      return "";
    case Outdated::by_template:
      return "older template";
    case Outdated::by_judge:
      return "older operation";
  }
  return "";
}

Outdated Present::outdated(const Problem& problem, const Contender& contender) {
  const KernelTemplate* const here = catalog_.find(contender.template_name);
  if (here != nullptr && catalog_.digest(here->name()) != contender.template_digest) {
    return Outdated::by_template;
  }
  if (static_cast<Provenance>(contender.rank.provenance) == Provenance::compiled) {
    return Outdated::no;
  }
  const auto [judge, is_new] = judges_.try_emplace(problem.operation);
  if (is_new) {
    const Operation* const operation = find_operation(problem.operation);
    if (operation != nullptr) judge->second = judge_digest(*operation);
  }
  const bool is_known = !judge->second.empty();
  return is_known && judge->second != contender.judge ? Outdated::by_judge : Outdated::no;
}

}  // namespace kiln::tools
