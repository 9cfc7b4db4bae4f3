// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cache/store/store.hpp"
#include "templates/catalog.hpp"

namespace kiln::tools {

/// Whether a device class is meant by what a person typed after `--on`: part of its name or its
/// architecture, in any case of letters; "" means every one.
[[nodiscard]] bool meant_by(const DeviceClass& device, const std::string& on);

/// The summaries that `on` leaves, measured ones first.
[[nodiscard]] std::vector<ProblemSummary> select(std::vector<ProblemSummary> summaries,
                                                 const std::string& on);

/// The stored winner for a problem. Throws Error(not_found) with the command that makes one, also
/// where all that is stored is outdated, and Error(usage) when several device classes have one and
/// `on` does not decide.
[[nodiscard]] Trial stored_best(const TuningStore& store, const Catalog& catalog,
                                const Problem& problem, const std::string& on,
                                const std::string& tune_command);

}  // namespace kiln::tools
