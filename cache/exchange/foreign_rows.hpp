// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cache/exchange/foreign_results.hpp"

namespace kiln {

/// What Kernel Tuner writes in place of a number when a configuration failed. Nothing for other
/// words.
[[nodiscard]] std::optional<Outcome> outcome_of_failure(std::string_view word);
/// T4's `invalidity`: "correct", "compile" and so on. Nothing for other words.
[[nodiscard]] std::optional<Outcome> outcome_of_invalidity(std::string_view word);

/// How many milliseconds the unit has; nothing for a text that is no unit of time.
[[nodiscard]] std::optional<double> milliseconds_in(std::string_view unit);

/// "2023-01-24 01:03:17.677311+00:00" in milliseconds since 1970; 0 for other texts.
[[nodiscard]] std::int64_t unix_ms_of(std::string_view timestamp);

/// A value of a tunable. Throws Error(usage) for null, objects and lists.
[[nodiscard]] ForeignValue foreign_value(const nlohmann::ordered_json& json);

/// An entry of a cache file's `cache`. Throws Error(usage) without a place.
[[nodiscard]] ForeignResult read_cache_entry(const nlohmann::ordered_json& entry,
                                             const std::vector<std::string>& names);

/// An element of a T4 file's `results`. While `names` is empty, it gets those of this element. A
/// unit of the file's times has `unit_ms` milliseconds; the measurement `time` may have its own
/// unit. Throws Error(usage) without a place.
[[nodiscard]] ForeignResult read_t4_result(const nlohmann::ordered_json& json, double unit_ms,
                                           std::vector<std::string>& names);

}  // namespace kiln
