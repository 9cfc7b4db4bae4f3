// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kiln {

/// How deep a source may be nested before its compiler needs more stack than there is: compilers
/// descend with each bracket, and with each word or sign of one statement.
struct NestingLimits {
  std::size_t brackets = 0;
  std::size_t tokens = 0;  ///< of one statement, and of those that it is part of
};

/// What can be trusted to fit into so much stack.
[[nodiscard]] NestingLimits nesting_limits(std::size_t stack_bytes);

/// Why the compiler should not be given the source, as a line of its log with the place where that
/// shows; "" if nothing is wrong. What macros expand to is not seen.
[[nodiscard]] std::string why_too_nested(std::string_view source, std::string_view name,
                                         const NestingLimits& limits);

}  // namespace kiln
