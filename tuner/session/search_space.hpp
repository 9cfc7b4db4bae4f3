// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "templates/catalog.hpp"
#include "templates/space/param_space.hpp"

namespace kiln {

/// One template with one configuration, for the problem of the session.
struct Candidate {
  std::string template_name;
  Config config;
  friend bool operator==(const Candidate&, const Candidate&) = default;
  friend auto operator<=>(const Candidate&, const Candidate&) = default;
};

/// Every candidate of a session: the spaces of all templates that support the problem.
struct SearchSpace {
  struct Part {
    const KernelTemplate* kernel_template;
    ParamSpace space;
    std::int64_t priority = 0;  ///< KernelTemplate::priority() for the problem
  };
  std::vector<Part> parts;
  /// Templates that do not take part, with the reason ("the template rows_fast does not accept
  /// x=f64").
  std::vector<std::string> unsupported;
  /// Sum over the parts, saturating.
  [[nodiscard]] std::uint64_t count() const;
  /// The part of that template; nullptr if it does not take part.
  [[nodiscard]] const Part* find(std::string_view template_name) const;
};

/// What a user restricts a search to.
struct SpaceSelection {
  /// If it is empty, all templates of the problem's operation take part; those whose priority is
  /// negative only where no other does.
  std::vector<std::string> templates;
  /// Values of tunables, by name, for every template that has them. A template that lists none of
  /// the values chosen for a tunable does not take part.
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> choices;
};

/// Throws Error(usage) for an unknown template, one of another operation, and a tunable or value
/// that no template lists; but not where no template takes part even without `choices`.
[[nodiscard]] SearchSpace make_search_space(const Catalog& catalog, const Problem& problem,
                                            const DeviceLimits& limits,
                                            const SpaceSelection& selection = {});

}  // namespace kiln
