// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "templates/problem.hpp"

namespace kiln {

/// Where a kernel's argument has the address of an operand and, if it has one, its leading
/// dimension: byte offsets.
struct OperandPlace {
  std::string slot;  ///< of the operation's types
  std::uint16_t pointer_at = 0;
  std::uint16_t ld_at = 0;
};

/// What is computed: which names a template of this operation may use, and what a problem costs.
/// Immutable; the functions are pure.
struct Operation {
  std::string name;
  std::string purpose;
  std::vector<std::string> size_names;
  std::vector<std::string> type_slots;
  std::vector<std::string> trait_names;
  std::vector<OperandPlace> operands;
  std::uint16_t workspace_at = 0;  ///< byte offset of the workspace's address in the argument
  /// Arithmetic operations of one run, a multiply and an add counted as two.
  double (*flops)(const Problem&) = nullptr;
  /// Fewest bytes of device memory that one run must move: each input read once, each output
  /// written once.
  double (*bytes)(const Problem&) = nullptr;

  /// nullptr if no operand is of that slot.
  [[nodiscard]] const OperandPlace* operand(std::string_view slot) const;
};

[[nodiscard]] const std::vector<Operation>& operations();
/// nullptr if there is none of that name.
[[nodiscard]] const Operation* find_operation(std::string_view name);

}  // namespace kiln
