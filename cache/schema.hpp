// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "cache/sqlite.hpp"

namespace kiln {

inline constexpr int kSchemaVersion = 5;
inline constexpr std::int64_t kTuningApplicationId = 0x4b494c4e;  ///< "KILN"

/// Floating-point operations of a problem, as far as its operation is known.
[[nodiscard]] std::optional<double> flops_of(const std::string& kind, const std::string& sizes);

/// Fills a fresh file. One transaction.
void create_schema(sqlite::Connection& connection);
/// Throws Error(database) unless the file is a tuning database of this schema or an older one.
/// Returns its version.
[[nodiscard]] int require_known_schema(const sqlite::Connection& connection);
/// Brings an older schema up to date, in one transaction. Harmless when another process just did.
void migrate(sqlite::Connection& connection);

}  // namespace kiln
