// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "cache/records.hpp"

namespace kiln {

/// Median of the samples (mean of the middle two when their count is even); 0 for none.
[[nodiscard]] double median(std::vector<double> samples);

/// How deep a symmetric 95 % confidence interval of the median reaches into `count` sorted samples:
/// the interval is [x[depth], x[count - 1 - depth]]. Fewer than six samples cannot give 95 %; then
/// the depth is 0, the whole range.
[[nodiscard]] std::size_t median_interval_depth(std::size_t count);

/// Half the width of that interval; 0 for fewer than two samples. It makes no assumption about the
/// distribution, which for kernel times is skewed and has outliers.
[[nodiscard]] double median_spread(std::vector<double> samples);

/// Fills `median_ns` and `spread_ns` from `samples_ns`.
void summarise(Timing& timing);

}  // namespace kiln
