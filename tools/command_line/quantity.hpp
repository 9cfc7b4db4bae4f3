// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln::tools {

/// Seconds of "500ms", "45s", "2m", "1.5h" or "30d". The unit is not optional: a bare number means
/// something else to everybody. Throws Error(usage) that begins with `flag`.
[[nodiscard]] double parse_duration_s(std::string_view flag, std::string_view text);
/// The same for a budget or a time-out: more than zero, at most a year.
[[nodiscard]] double parse_limit_s(std::string_view flag, std::string_view text);

/// Bytes of "0", "512KiB", "64MiB", "2GiB" (or KB, MB, GB in powers of ten). Throws likewise.
[[nodiscard]] std::int64_t parse_bytes(std::string_view flag, std::string_view text);

/// Values for tunables, in the order given.
using Choices = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

/// "tile_m=64,128" or "tile_m=64,tile_n=128" or canonical configuration text: commas and spaces
/// separate, a piece with '=' opens the next tunable. Throws Error(usage) that begins with `flag`.
[[nodiscard]] Choices parse_choices(std::string_view flag, const std::vector<std::string>& texts);

/// The pieces between commas, without empty ones.
[[nodiscard]] std::vector<std::string> split_list(std::string_view text, char separator = ',');

}  // namespace kiln::tools
