// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace kiln {

/// A `__constant__` array of a file's source, and the operand that it holds in every run:
/// `constant d_filter = filter`.
struct ConstantSpec {
  std::string array;          ///< with its namespaces, "phys::coeff"
  std::uint16_t operand = 0;  ///< in the operation's order; an `in`
  int line = 0;               ///< of the front matter, for errors
};

/// What one problem's operand fills of such an array.
struct ConstantFill {
  std::string array;
  std::uint16_t operand = 0;
  std::int64_t bytes = 0;
  std::string place = {};  ///< "FILE:LINE" of the line that says so, for errors; no part of it
  friend bool operator==(const ConstantFill& left, const ConstantFill& right) {
    return left.array == right.array && left.operand == right.operand && left.bytes == right.bytes;
  }
};

}  // namespace kiln
