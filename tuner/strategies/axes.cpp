// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/axes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "templates/space/tunable_value.hpp"

namespace kiln {
namespace {

/// Values that span less lie evenly enough.
constexpr double kWide = 4.0;

std::vector<double> positions_of(const Tunable& tunable) {
  const auto [least, most] = std::minmax_element(tunable.values.begin(), tunable.values.end());
  const auto low = static_cast<double>(*least);
  const auto high = static_cast<double>(*most);
  const bool is_named = std::any_of(tunable.values.begin(), tunable.values.end(), is_named_value);
  std::vector<double> positions;
  for (std::size_t i = 0; i < tunable.values.size(); ++i) {
    const auto value = static_cast<double>(tunable.values[i]);
    if (low == high) {
      positions.push_back(0.0);
    } else if (is_named) {
      positions.push_back(static_cast<double>(i) / static_cast<double>(tunable.values.size() - 1));
    } else if (low > 0.0 && high >= kWide * low) {
      positions.push_back(std::log(value / low) / std::log(high / low));
    } else {
      positions.push_back((value - low) / (high - low));
    }
  }
  return positions;
}

}  // namespace

std::vector<std::vector<double>> axes_of(const std::vector<Tunable>& tunables) {
  std::vector<std::vector<double>> axes;
  for (const Tunable& tunable : tunables) axes.push_back(positions_of(tunable));
  return axes;
}

Point point_of(const std::vector<Tunable>& tunables, const Config& config) {
  Point point;
  for (const Tunable& tunable : tunables) {
    const auto at = std::ranges::find(tunable.values, config.at(tunable.name));
    point.push_back(static_cast<std::uint16_t>(at - tunable.values.begin()));
  }
  return point;
}

Config config_of(const std::vector<Tunable>& tunables, const Point& point) {
  Config config;
  for (std::size_t i = 0; i < tunables.size(); ++i) {
    config.set(tunables[i].name, tunables[i].values[point[i]]);
  }
  return config;
}

}  // namespace kiln
