// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cache/records.hpp"

namespace kiln {

/// The rules that every stored trial and session obeys, whether measured here or imported.

/// The trial as it will be stored: missing id and date filled, free text made valid UTF-8 of at
/// most 64 KiB, minus zero made zero, a worst ratio that is not a number made infinite. Throws
/// Error(usage) naming the field that breaks a rule.
[[nodiscard]] Trial checked(Trial trial);
[[nodiscard]] SessionRecord checked(SessionRecord session);
/// Throws Error(usage) if a part of the key is empty, unprintable, or not canonical.
void check_key(const CandidateKey& key);

/// Dates of trials and sessions are from 1970 to 2099, in milliseconds since 1970. A row with a
/// later date would count as the newest for ever; it is damaged.
inline constexpr std::int64_t kEndOfDatesUnixMs = 4'102'444'800'000;
[[nodiscard]] constexpr bool is_date(std::int64_t unix_ms) {
  return unix_ms >= 0 && unix_ms < kEndOfDatesUnixMs;
}

/// 32 lower-case hexadecimal digits.
[[nodiscard]] bool is_id(const std::string& text);
[[nodiscard]] std::int64_t unix_ms_now();

}  // namespace kiln
