// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "kiln/error.hpp"
#include "templates/front_matter/front_matter.hpp"
#include "templates/space/tunable_value.hpp"

namespace kiln::tools {
namespace {

struct NamedUnit {
  std::string_view name;
  double factor;
};

constexpr std::array<NamedUnit, 5> kDurationUnits{
    {{"ms", 1e-3}, {"s", 1.0}, {"m", 60.0}, {"h", 3600.0}, {"d", 86400.0}}};
constexpr std::array<NamedUnit, 10> kByteUnits{{{"", 1.0},
                                                {"B", 1.0},
                                                {"KiB", 1024.0},
                                                {"MiB", 1048576.0},
                                                {"GiB", 1073741824.0},
                                                {"TiB", 1099511627776.0},
                                                {"KB", 1e3},
                                                {"MB", 1e6},
                                                {"GB", 1e9},
                                                {"TB", 1e12}}};
/// Beyond this a double no longer counts every byte (or nanosecond) exactly.
constexpr double kLargest = 9007199254740992.0;

[[noreturn]] void reject(std::string_view flag, std::string_view text, std::string_view why) {
  throw Error(ErrorKind::usage, fmt::format("{} {}: {}", flag, text, why));
}

/// The number before the unit times the unit's factor; nothing when malformed or out of range.
template <std::size_t N>
std::optional<double> parse_with_unit(std::string_view text,
                                      const std::array<NamedUnit, N>& units) {
  double number = 0.0;
  const auto* const last = text.data() + text.size();
  const auto [end, status] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  if (status != std::errc{} || !(number >= 0.0)) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  const auto found =
      std::find_if(units.begin(), units.end(), [&](const NamedUnit& u) { return u.name == unit; });
  if (found == units.end()) return std::nullopt;
  const double value = number * found->factor;
  if (!(value <= kLargest)) return std::nullopt;
  return value;
}

}  // namespace

double parse_duration_s(std::string_view flag, std::string_view text) {
  const auto seconds = parse_with_unit(text, kDurationUnits);
  if (!seconds)
    reject(flag, text, "not a duration; write a number with its unit: 500ms, 45s, 2m, 1h, 30d");
  return *seconds;
}

double parse_limit_s(std::string_view flag, std::string_view text) {
  constexpr double kYear = 365.0 * 86400.0;
  const double seconds = parse_duration_s(flag, text);
  if (!(seconds > 0.0) || seconds > kYear)
    reject(flag, text, "the time must be more than zero and at most a year");
  return seconds;
}

std::int64_t parse_bytes(std::string_view flag, std::string_view text) {
  const auto bytes = parse_with_unit(text, kByteUnits);
  if (!bytes) reject(flag, text, "not a size in bytes; write it as 512KiB, 64MiB or 2GiB");
  return static_cast<std::int64_t>(std::llround(*bytes));
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    if (end > 0) pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

Choices parse_choices(std::string_view flag, const std::vector<std::string>& texts) {
  Choices choices;
  for (const auto& text : texts) {
    std::string commas = text;
    std::replace(commas.begin(), commas.end(), ' ', ',');
    bool open = false;  // whether a bare value has a tunable to belong to
    for (const auto& piece : split_list(commas)) {
      std::string_view digits = piece;
      if (const auto equals = piece.find('='); equals != std::string::npos) {
        const std::string name = piece.substr(0, equals);
        if (name.empty()) {
          reject(flag, text, fmt::format("\"{}\": write the name of a tunable before '='", piece));
        }
        const bool repeated = std::any_of(choices.begin(), choices.end(),
                                          [&](const auto& choice) { return choice.first == name; });
        if (repeated) {
          reject(flag, text,
                 fmt::format("{0} is given twice; write {0}= once, followed by all values of {0}",
                             name));
        }
        if (choices.size() == kMostTunables) {
          reject(flag, text,
                 fmt::format("more than {} tunables; no template has that many", kMostTunables));
        }
        choices.emplace_back(name, std::vector<std::int64_t>{});
        digits.remove_prefix(equals + 1);
        open = true;
      }
      if (!open) reject(flag, text, "write NAME=VALUE, e.g. tile_m=64,128 or tile_m=64,tile_n=128");
      const auto value = parse_value(digits);
      if (!value)
        reject(flag, text, fmt::format("\"{}\": the value is neither a number nor a name", piece));
      if (choices.back().second.size() == kMostValues) {
        reject(flag, text,
               fmt::format("{} has too many values; give at most {} values", choices.back().first,
                           kMostValues));
      }
      choices.back().second.push_back(*value);
    }
  }
  return choices;
}

}  // namespace kiln::tools
