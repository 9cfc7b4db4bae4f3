// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "templates/operation/operation.hpp"

namespace kiln {

/// What an operation has beyond its declaration because applications describe its problems by a
/// type of their own: it needs no reference in its file, and all its kernels get one struct. Of any
/// other operation the declaration says everything. The other libraries have a table like this one
/// (tuner/session/typed_tuning.hpp, tools/typed_tools.hpp) for what they do with such an operation.
struct TypedOperation {
  std::string_view name;
  std::string_view argument;  ///< the struct that kernels get by value, a name in namespace kiln
  /// Says of the operands and of the workspace where that struct has them.
  void (*place)(Operation& operation);
  std::string_view no_results;  ///< of a problem whose results have no elements, in words
  /// Why a problem that has results leaves nothing to choose between kernels for; "" if it does
  /// not.
  std::string_view (*why_trivial)(const Problem& problem);
  /// Throws Error(usage) for a problem within the declaration that the type cannot describe.
  void (*check)(const Problem& problem);
};

/// nullptr: its declaration says everything. Thread-safe.
[[nodiscard]] const TypedOperation* find_typed_operation(std::string_view name);
/// The names of all, for messages.
[[nodiscard]] std::string_view typed_operation_names();

}  // namespace kiln
