// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// Candidates that turned out not to work here, by template name and configuration.
using Refused = std::set<std::pair<std::string, Config>>;

}  // namespace kiln::detail
