// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/space/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "kiln/error.hpp"
#include "templates/space/tunable_value.hpp"

namespace kiln {
namespace {

/// More than templates have tunables, or an operation sizes.
constexpr std::size_t kMostNames = 1024;
constexpr std::string_view kSeparators = " ,\t\r\n";

[[noreturn]] void reject(std::string_view pair, std::string_view why) {
  throw Error(ErrorKind::usage,
              fmt::format("configuration: \"{}\" {}; write name=value pairs with spaces or commas "
                          "between them, as in \"stages=3 tile_m=128\"",
                          pair, why));
}

bool is_name(std::string_view text) {
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (!letter && !digit) return false;
  }
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9');
}

}  // namespace

std::size_t Config::place_of(std::string_view name) const {
  const auto place = std::lower_bound(values_.begin(), values_.end(), name,
                                      [](const auto& pair, std::string_view wanted) {
                                        return std::string_view(pair.first) < wanted;
                                      });
  return static_cast<std::size_t>(place - values_.begin());
}

void Config::set(std::string_view name, std::int64_t value) {
  const std::size_t place = place_of(name);
  if (place < values_.size() && values_[place].first == name) {
    values_[place].second = value;
  } else {
    values_.emplace(values_.begin() + static_cast<std::ptrdiff_t>(place), name, value);
  }
}

std::optional<std::int64_t> Config::find(std::string_view name) const {
  const std::size_t place = place_of(name);
  if (place == values_.size() || values_[place].first != name) return std::nullopt;
  return values_[place].second;
}

std::int64_t Config::at(std::string_view name) const {
  const auto value = find(name);
  if (!value) {
    throw Error(ErrorKind::usage,
                fmt::format("the configuration \"{}\" has no value for \"{}\"", canonical(), name));
  }
  return *value;
}

std::string Config::canonical() const {
  std::string text;
  for (const auto& [name, value] : values_) {
    if (!text.empty()) text += ' ';
    text.append(name).append(1, '=').append(value_text(value));
  }
  return text;
}

Config Config::parse(std::string_view text) {
  Config config;
  while (true) {
    const auto begin = text.find_first_not_of(kSeparators);
    if (begin == std::string_view::npos) return config;
    text.remove_prefix(begin);
    const auto pair = text.substr(0, text.find_first_of(kSeparators));
    text.remove_prefix(pair.size());

    const auto equals = pair.find('=');
    if (equals == std::string_view::npos) reject(pair, "has no '='");
    const auto name = pair.substr(0, equals);
    const auto value_part = pair.substr(equals + 1);
    if (name.empty()) reject(pair, "has no name before '='");
    if (!is_name(name))
      reject(pair,
             "has an invalid name (use letters, digits and underscores, and do not begin with a "
             "digit)");
    const auto value = parse_value(value_part);
    if (!value)
      reject(pair, fmt::format("has neither a number nor a name of at most {} characters after '='",
                               kMostValueCharacters));
    if (config.find(name)) reject(pair, "repeats a name");
    if (config.values_.size() == kMostNames) {
      reject(pair, fmt::format("is one pair too many (at most {} are allowed)", kMostNames));
    }
    config.set(name, *value);
  }
}

}  // namespace kiln
