// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "templates/space/param_space.hpp"
#include "tuner/strategies/gaussian_process.hpp"

namespace kiln {

/// Where the values of each tunable lie, for a GaussianProcess: numbers by size, or by their
/// logarithm where they span a factor of 4 or more, names by their order; from 0 to 1.
[[nodiscard]] std::vector<std::vector<double>> axes_of(const std::vector<Tunable>& tunables);

/// The point of a configuration that has a value of each tunable's list.
[[nodiscard]] Point point_of(const std::vector<Tunable>& tunables, const Config& config);

/// The configuration of a point, of which further coordinates are ignored.
[[nodiscard]] Config config_of(const std::vector<Tunable>& tunables, const Point& point);

}  // namespace kiln
