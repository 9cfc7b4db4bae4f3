// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "cache/records.hpp"
#include "kiln/types.hpp"
#include "templates/kernel_template.hpp"

namespace kiln::detail {

/// A candidate to serve a problem with, and why.
struct Choice {
  const KernelTemplate* kernel_template = nullptr;
  Config config;
  Match match = Match::none;
  std::string reason;
  std::string toolkit;  ///< identity of the compiler it was measured with; "" for defaults
  Provenance provenance = Provenance::measured;  ///< of a stored one
};

/// Whether the time of this very candidate was measured for the problem. What was only carried over
/// or predicted must also be competitive by what the compiler reports (why_not_competitive()).
[[nodiscard]] inline bool is_measured_here(Match match) {
  return match == Match::exact || match == Match::same_device_class ||
         match == Match::other_objective;
}

/// More candidates than this that fail in a row are no accident: each may cost a compilation, and
/// an application is waiting.
inline constexpr std::size_t kMostTries = 8;

/// Candidates that turned out not to work here, by template name and configuration. An empty
/// configuration: no other one of the template needs a try, for the template itself is at fault.
using Refused = std::set<std::pair<std::string, Config>>;

}  // namespace kiln::detail
