// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "templates/launch/tensor_map_plan.hpp"
#include "templates/operation/operation.hpp"
#include "templates/operation/problem.hpp"
#include "templates/template_parts.hpp"

namespace kiln {

/// The plan of a map for a problem. `value` evaluates an expression of its line. Throws
/// Error(template_) that says which rule of CUDA's tensor maps is broken.
[[nodiscard]] TensorMapPlan plan_tensor_map(
    const TensorMapSpec& spec, const Operation& operation, const Problem& problem,
    const std::function<std::int64_t(const Expression&)>& value);

/// All that a plan says, on one line: what distinguishes two of them.
[[nodiscard]] std::string describe(const TensorMapPlan& plan);

/// A plan with what a launch's argument says about its operand.
struct BoundTensorMap {
  std::uint64_t address = 0;
  std::array<std::int64_t, kMostMapRank - 1> strides{};  ///< bytes, none of them 0 within the rank
  friend bool operator==(const BoundTensorMap&, const BoundTensorMap&) = default;
};
/// Reads address and leading dimension from a kernel's argument. Precondition: it is the argument
/// of the plan's operation. Neither locks nor allocates.
[[nodiscard]] BoundTensorMap bind_tensor_map(const TensorMapPlan& plan,
                                             const void* argument) noexcept;

}  // namespace kiln
