// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kiln/scalar.hpp"
#include "runtime/library/kernel_entry.hpp"
#include "runtime/library/operation_key.hpp"
#include "templates/operation/number_type.hpp"
#include "templates/operation/operation.hpp"

namespace kiln::detail {

/// What an operand of a launch must be for one problem.
struct OperandRule {
  bool takes_part = true;                     ///< else kernels get null
  std::int64_t bytes = 0;                     ///< 0: its address is not looked at
  std::size_t alignment = kOperandAlignment;  ///< bytes that its address is a multiple of
};

/// What a scalar of a launch may be.
struct ScalarRule {
  Scalar value = 0;  ///< unless another is given
  NumberRange range;
};

[[nodiscard]] ScalarRule rule_of(const ScalarSpec& scalar);

/// A kernel for one problem of a declared operation, and what a launch of it must keep.
struct OperationEntry : KernelEntry {
  OperationEntry(KernelEntry common, OperationKey of)
      : KernelEntry(std::move(common)), key(std::move(of)) {}

  OperationKey key;
  const Operation* operation = nullptr;
  std::vector<OperandRule> operands;  ///< in the operation's order
  std::vector<ScalarRule> scalars;    ///< likewise
};

}  // namespace kiln::detail
