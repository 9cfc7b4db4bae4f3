// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// \file
/// Values of tunables: 32-bit integers, or names such as `cp_async` of a tunable
/// `registers cp_async* tma`. Configurations hold both as std::int64_t. A name is a number beyond
/// all 32-bit integers that spells the name, 1 to 12 of the characters a to z, 0 to 9 and _, so
/// equal names are equal numbers in every process.

namespace kiln {

inline constexpr std::size_t kMostValueCharacters = 12;

/// Nothing if the text is too long, begins with a digit, or has other characters.
[[nodiscard]] std::optional<std::int64_t> value_of_name(std::string_view name);
[[nodiscard]] bool is_named_value(std::int64_t value);
/// "64", "cp_async".
[[nodiscard]] std::string value_text(std::int64_t value);
/// "registers cp_async tma".
[[nodiscard]] std::string values_text(std::span<const std::int64_t> values,
                                      std::string_view between = " ");
/// Reads what value_text() writes; nothing for other texts.
[[nodiscard]] std::optional<std::int64_t> parse_value(std::string_view text);

}  // namespace kiln
