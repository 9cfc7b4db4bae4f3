// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "cache/lookup/neighbours.hpp"
#include "cache/records.hpp"

namespace kiln {

/// Within these limits problems of one kind are near each other.
inline constexpr NeighbourLimits kNear{.octaves_per_size = 2.0, .octaves = 4.0};

/// How little one kind of problem on one device says about another, in octaves of a size: what
/// differs besides the sizes (of which nothing is read). 0 for the same kind and device class.
/// Nothing where they have nothing to do with each other: other operations, factors of another
/// width, devices of another architecture.
[[nodiscard]] std::optional<double> kind_distance(const Problem& wanted, const DeviceClass& device,
                                                  const Problem& other,
                                                  const DeviceClass& other_device);

/// Whether `other` is of the kind of `wanted`, or is its product without its epilogue, and within
/// kNear of it.
[[nodiscard]] bool is_near(const Problem& wanted, const Problem& other);

/// A problem that is known on a device, and its distance from a wanted one: kind_distance() and
/// |log2(size / size')| for each size, added up.
struct RelatedProblem {
  Problem problem;
  DeviceClass device;
  double distance = 0.0;
};

}  // namespace kiln
