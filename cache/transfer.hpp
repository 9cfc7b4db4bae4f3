// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "cache/store.hpp"

namespace kiln {

struct TransferCount {
  std::uint64_t written = 0;            ///< new rows
  std::uint64_t present = 0;            ///< already there
  std::uint64_t refused = 0;            ///< malformed or invalid lines
  std::vector<std::string> complaints;  ///< first 20: "file:line: ..."
};

/// One JSON object per line: a header line {"kiln":"trials","schema":1}, then trials.
/// docs/schema.md describes the fields.
std::uint64_t export_trials(const TuningStore& store, const TrialFilter& filter, std::ostream& out);

/// Reads what export_trials wrote, row by row through validation, into `store`. A bad line is
/// counted and skipped; a missing or foreign header throws Error(usage). `name` is for messages.
TransferCount import_trials(TuningStore& store, std::istream& in, const std::string& name);

/// Adds every trial and session of `source` that `target` lacks. Commutative and idempotent: the
/// order of merges does not change what the database answers.
TransferCount merge(TuningStore& target, const TuningStore& source);

/// One trial as a JSON object on one line, and back (throws Error(usage)).
[[nodiscard]] std::string trial_to_json(const Trial& trial);
[[nodiscard]] Trial trial_from_json(const std::string& line);

}  // namespace kiln
