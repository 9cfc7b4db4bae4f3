// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/front_matter/usual_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/error.hpp"
#include "templates/nearest_name.hpp"
#include "templates/space/tunable_value.hpp"

namespace kiln {
namespace {

constexpr std::string_view kBetweenPairs = " ,\t\r";
/// More combinations than a person means by "a few", each of which every choice looks at.
constexpr std::size_t kMostOfALine = 16;

/// `name=value|value`.
struct Alternatives {
  std::string name;
  std::vector<std::int64_t> values;
};

/// At character `at` of the line.
Alternatives parse_alternatives(const FrontMatterLine& line, std::size_t at,
                                std::string_view text) {
  Alternatives result;
  const std::size_t values_at = std::min(text.find('=') + 1, text.size());
  for (auto begin = values_at; begin <= text.size();) {
    const auto end = std::min(text.find('|', begin), text.size());
    try {
      const Config pair = Config::parse(std::string(text.substr(0, values_at)) +
                                        std::string(text.substr(begin, end - begin)));
      result.name = pair.values().begin()->first;
      result.values.push_back(pair.values().begin()->second);
    } catch (const Error& error) {
      line.fail(at, error.what());
    }
    begin = end + 1;
  }
  return result;
}

/// Each of them with each of the values, those of the first one first.
std::vector<Config> combined(const std::vector<Config>& configs, const Alternatives& with) {
  std::vector<Config> result;
  for (const Config& config : configs) {
    for (const std::int64_t value : with.values) {
      result.push_back(config);
      result.back().set(with.name, value);
    }
  }
  return result;
}

}  // namespace

std::vector<Config> usual_configs(const FrontMatterLine& line,
                                  const std::vector<Tunable>& tunables) {
  Config defaults;
  std::vector<std::string> names;
  for (const Tunable& tunable : tunables) {
    defaults.set(tunable.name, tunable.default_value);
    names.push_back(tunable.name);
  }
  std::vector<Config> configs{defaults};
  std::set<std::string> named;
  const std::string_view text = line.text;
  std::size_t end = 0;
  // One by one, so that errors point at the pair that is wrong.
  for (auto at = text.find_first_not_of(kBetweenPairs); at != std::string_view::npos;
       at = text.find_first_not_of(kBetweenPairs, end)) {
    end = std::min(text.find_first_of(kBetweenPairs, at), text.size());
    const Alternatives pair = parse_alternatives(line, at, text.substr(at, end - at));
    const auto tunable = std::ranges::find(tunables, pair.name, &Tunable::name);
    if (tunable == tunables.end()) {
      line.fail(at, fmt::format("\"{}\" is not a tunable of this template{}", pair.name,
                                did_you_mean(pair.name, names)));
    }
    for (auto value = pair.values.begin(); value != pair.values.end(); ++value) {
      if (std::ranges::find(tunable->values, *value) == tunable->values.end()) {
        line.fail(at, fmt::format("{} is not a value of {}; the values are: {}", value_text(*value),
                                  pair.name, values_text(tunable->values)));
      }
      if (std::find(pair.values.begin(), value, *value) != value) {
        line.fail(at, fmt::format("{} is given twice", value_text(*value)));
      }
    }
    if (!named.insert(pair.name).second) {
      line.fail(at,
                fmt::format("\"{}\" appears twice in this line; remove one of the two", pair.name));
    }
    configs = combined(configs, pair);
    if (configs.size() > kMostOfALine) {
      line.fail(at, fmt::format("this line describes {} configurations, but at most {} are allowed",
                                configs.size(), kMostOfALine));
    }
  }
  if (named.empty()) line.fail(0, "write the line as \"usual name=value name=value\"");
  return configs;
}

}  // namespace kiln
