// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cache/records.hpp"

namespace kiln {

/// Candidates that failed alike: with the same outcome and, but for numbers, the same message.
struct FailureGroup {
  std::uint64_t count = 0;
  Trial example;  ///< the first of them
};

/// What went wrong, the commonest first.
[[nodiscard]] std::vector<FailureGroup> failure_groups(std::span<const Trial> trials);

/// Whether the outcome says something about the kernel's code: not that a configuration needs more
/// than the device has, or is left out for spilled registers, as many of any good search are.
[[nodiscard]] bool is_fault(Outcome outcome);

}  // namespace kiln
