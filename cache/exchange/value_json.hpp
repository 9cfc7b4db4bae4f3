// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

namespace kiln {

/// A value of a tunable: a number, true or false, or a string for a name and for a number with the
/// suffix f.
[[nodiscard]] nlohmann::ordered_json value_json(std::int64_t value);
/// The reverse; nothing for what no tunable can have.
[[nodiscard]] std::optional<std::int64_t> value_of_json(const nlohmann::ordered_json& json);

}  // namespace kiln
