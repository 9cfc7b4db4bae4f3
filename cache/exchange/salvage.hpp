// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cache/store/sqlite.hpp"

namespace kiln {

/// What can still be read of the trials and sessions of a tuning database that is damaged or whose
/// schema is foreign, as a database in memory. It has no attempts and no shortlists.
///
/// Rows are copied one by one, straight from their tables: a page that SQLite refuses costs the
/// rows on it and no others, a damaged index costs none, and nothing that a foreign schema adds
/// is computed. foreign_schema() must have found the stored columns to be Kiln's. Digests are not
/// checked: the reader of the copy does that.
[[nodiscard]] sqlite::Connection salvage(const sqlite::Connection& connection);

}  // namespace kiln
