// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "cache/lookup/contender.hpp"
#include "cache/store/store.hpp"
#include "templates/catalog.hpp"

namespace kiln::tools {

/// Why a stored trial says nothing of a kernel as it is now.
enum class Outdated : std::uint8_t {
  no,
  by_template,  ///< its template has changed
  by_judge,     ///< what judges its operation's results has changed, or is not known
};
/// "", "older template", "older operation".
[[nodiscard]] std::string_view to_string(Outdated outdated);

/// Compares stored trials with the templates and operations that are here. What is not here at all
/// can't be compared, and is not outdated.
class Present {
 public:
  explicit Present(const Catalog& catalog) : catalog_(catalog) {}

  [[nodiscard]] Outdated outdated(const Trial& trial) {
    return outdated(trial.key.problem, contender_of(trial));
  }
  [[nodiscard]] Outdated outdated(const Problem& problem, const Contender& contender);

 private:
  const Catalog& catalog_;
  std::map<std::string, std::string> judges_;  ///< by operation; "": it is not here
};

}  // namespace kiln::tools
