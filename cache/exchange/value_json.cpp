// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/value_json.hpp"

#include <string>
#include <utility>

#include "templates/space/tunable_value.hpp"

namespace kiln {

nlohmann::ordered_json value_json(std::int64_t value) {
  if (is_boolean_value(value)) return value == value_of_bool(true);
  if (is_real_value(value) && !decimal_of(value).is_float) return number_of(value);
  if (is_named_value(value) || is_real_value(value)) return value_text(value);
  return value;
}

std::optional<std::int64_t> value_of_json(const nlohmann::ordered_json& json) {
  if (json.is_boolean()) return value_of_bool(json.get<bool>());
  if (json.is_string()) {
    // Not a number that somebody quoted.
    const auto value = parse_value(json.get<std::string>());
    const bool fits = value && (is_named_value(*value) || is_real_value(*value));
    return fits ? value : std::nullopt;
  }
  if (json.is_number_float()) return value_of_double(json.get<double>());
  if (json.is_number_unsigned() && !std::in_range<std::int32_t>(json.get<std::uint64_t>())) {
    return std::nullopt;
  }
  if (!json.is_number_integer()) return std::nullopt;
  const auto number = json.get<std::int64_t>();
  return std::in_range<std::int32_t>(number) ? std::optional(number) : std::nullopt;
}

}  // namespace kiln
