// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/space/tunable_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

namespace kiln {
namespace {

/// The digits of names, to a base one higher: no name has a zero in it.
constexpr std::string_view kDigits = "abcdefghijklmnopqrstuvwxyz0123456789_";
constexpr std::int64_t kBase = static_cast<std::int64_t>(kDigits.size()) + 1;
/// What is added to the spelled number, so that it is no 32-bit integer.
constexpr std::int64_t kFirst = std::int64_t{1} << 32;

constexpr std::int64_t largest_spelling() {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < kMostValueCharacters; ++i) value = value * kBase + kBase - 1;
  return value;
}
static_assert((std::numeric_limits<std::int64_t>::max() - kFirst) > largest_spelling());

}  // namespace

std::optional<std::int64_t> value_of_name(std::string_view name) {
  if (name.empty() || name.size() > kMostValueCharacters) return std::nullopt;
  if (name[0] >= '0' && name[0] <= '9') return std::nullopt;
  std::int64_t value = 0;
  for (const char c : name) {
    const auto digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    value = value * kBase + static_cast<std::int64_t>(digit) + 1;
  }
  return kFirst + value;
}

bool is_named_value(std::int64_t value) {
  return value > kFirst;
}

std::string value_text(std::int64_t value) {
  if (!is_named_value(value)) return fmt::format_int(value).str();
  std::string name;
  for (std::int64_t rest = value - kFirst; rest > 0; rest /= kBase) {
    name += kDigits[static_cast<std::size_t>(std::max<std::int64_t>(rest % kBase, 1) - 1)];
  }
  std::ranges::reverse(name);
  return name;
}

std::string values_text(std::span<const std::int64_t> values, std::string_view between) {
  std::string text;
  for (const std::int64_t value : values) {
    if (!text.empty()) text += between;
    text += value_text(value);
  }
  return text;
}

std::optional<std::int64_t> parse_value(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return value_of_name(text);
  // Numbers between are none of a tunable; they must not turn into names.
  return is_named_value(value) ? std::nullopt : std::optional(value);
}

}  // namespace kiln
