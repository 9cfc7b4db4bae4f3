// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cache/records.hpp"

namespace kiln {

/// The trials of a damaged database that can still be read, one by one: a page that SQLite refuses
/// costs the rows that lie on it and no others. Those whose digest does not fit are left out as
/// ever. Slow, for a last rescue. Throws Error(database) when the file cannot be opened at all.
[[nodiscard]] std::vector<Trial> salvage_trials(const std::string& path);

}  // namespace kiln
