// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "templates/device_limits.hpp"
#include "templates/expression.hpp"
#include "templates/operation.hpp"
#include "templates/problem.hpp"

namespace kiln {

/// A table that holds the names every expression may use that depend on the device alone:
/// `device.<limit>` and `sm`. They come first, so that such an expression can be evaluated on
/// device_values() alone.
[[nodiscard]] NameTable device_names();
[[nodiscard]] std::vector<std::int64_t> device_values(const DeviceLimits& limits);

/// device_names() and what an operation adds: `type.f16` and so on, sizes, traits, `<slot>_bytes`,
/// `<slot>_type`.
[[nodiscard]] NameTable problem_names(const Operation& operation);
/// Values by slot of problem_names(). Throws Error(usage) when the problem lacks one.
[[nodiscard]] std::vector<std::int64_t> problem_values(const Operation& operation,
                                                       const Problem& problem,
                                                       const DeviceLimits& limits);

}  // namespace kiln
