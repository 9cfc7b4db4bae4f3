// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/usual_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "templates/nearest_name.hpp"

namespace kiln {
namespace {

constexpr std::string_view kBetweenPairs = " ,\t\r";

/// The one pair `name=value` at character `at` of the line.
std::pair<std::string, std::int64_t> parse_pair(const FrontMatterLine& line, std::size_t at,
                                                std::string_view text) {
  try {
    return *Config::parse(text).values().begin();
  } catch (const Error& error) {
    line.fail(at, error.what());
  }
}

}  // namespace

Config usual_config(const FrontMatterLine& line, const std::vector<Tunable>& tunables) {
  Config config;
  std::vector<std::string> names;
  for (const Tunable& tunable : tunables) {
    config.set(tunable.name, tunable.default_value);
    names.push_back(tunable.name);
  }
  Config named;
  const std::string_view text = line.text;
  std::size_t end = 0;
  // One by one, so that errors point at the pair that is wrong.
  for (auto at = text.find_first_not_of(kBetweenPairs); at != std::string_view::npos;
       at = text.find_first_not_of(kBetweenPairs, end)) {
    end = std::min(text.find_first_of(kBetweenPairs, at), text.size());
    const auto [name, value] = parse_pair(line, at, text.substr(at, end - at));
    const auto tunable = std::ranges::find(tunables, name, &Tunable::name);
    if (tunable == tunables.end()) {
      line.fail(at, fmt::format("\"{}\" is not a tunable of this template{}", name,
                                did_you_mean(name, names)));
    }
    if (std::ranges::find(tunable->values, value) == tunable->values.end()) {
      line.fail(at, fmt::format("{} is not among the values of {}: {}", value, name,
                                fmt::join(tunable->values, " ")));
    }
    if (named.find(name)) line.fail(at, fmt::format("a second value for \"{}\"", name));
    named.set(name, value);
    config.set(name, value);
  }
  if (named.empty()) line.fail(0, "a usual configuration is written \"name=value name=value\"");
  return config;
}

}  // namespace kiln
