// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "templates/device_limits.hpp"
#include "templates/expression/expression.hpp"
#include "templates/operation/operation.hpp"
#include "templates/operation/problem.hpp"

namespace kiln {

/// A table with the names that every expression may use and that depend only on the device:
/// `device.<limit>` and `sm`. They come first, so that such an expression needs only
/// device_values() to be evaluated.
[[nodiscard]] NameTable device_names();
[[nodiscard]] std::vector<std::int64_t> device_values(const DeviceLimits& limits);

/// device_names() and what an operation adds: `type.f16` and so on, sizes, traits, `<slot>_bytes`,
/// `<slot>_packed`, `<slot>_type`, derived sizes.
[[nodiscard]] NameTable problem_names(const Operation& operation);
/// Values by slot of problem_names(). Throws Error(usage) if the problem lacks one, or if a derived
/// size has none.
[[nodiscard]] std::vector<std::int64_t> problem_values(const Operation& operation,
                                                       const Problem& problem,
                                                       const DeviceLimits& limits);

}  // namespace kiln
