// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "cache/store/store.hpp"

namespace kiln {

/// The two kinds of rows that are moved.
struct RowCount {
  std::uint64_t trials = 0;
  std::uint64_t sessions = 0;
  friend bool operator==(const RowCount&, const RowCount&) = default;
};

struct TransferCount {
  std::uint64_t written = 0;            ///< new rows
  std::uint64_t present = 0;            ///< already there
  std::uint64_t refused = 0;            ///< malformed or invalid lines, rows with other content
  std::vector<std::string> complaints;  ///< first 20: "file:line: ..."
  /// Why the input ended early, in words; empty if all of it was read. What came before
  /// is stored nevertheless.
  std::string broken_off;
};

/// One JSON object per line: a header {"kiln":"trials","schema":4}, sessions, trials, and a last
/// line that counts them. docs/reference/schema.md describes the fields. A filter's limit applies
/// to trials only. Throws Error(usage) if `out` fails.
RowCount export_rows(const TuningStore& store, const TrialFilter& filter, std::ostream& out);

/// Reads what export_rows wrote, with this or an older schema, row by row through validation, into
/// `store`, some hundred rows a transaction: a long import keeps no tuning run waiting, and can be
/// repeated. A bad line is counted and skipped; a missing or foreign header, or an input that
/// cannot be read at all, throws Error(usage). `name` is for messages.
TransferCount import_rows(TuningStore& store, std::istream& in, const std::string& name);

/// Adds every trial and session of `source` that `target` lacks and that passes checked() and
/// check_offer(), some hundred rows a transaction like import_rows(); complains about the
/// others. Commutative and idempotent: the order of merges does not change what the database
/// answers.
TransferCount merge(TuningStore& target, const TuningStore& source);

}  // namespace kiln
