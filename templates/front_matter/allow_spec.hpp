// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace kiln {

/// What the checks of an emulated GPU may find in a kernel without making it wrong, since its
/// author says so.
enum class Allowed : std::uint8_t {
  race_same_value = 1,       ///< stores that nothing orders, all of the same value
  uninitialised_unused = 2,  ///< reads of memory that nothing wrote, of which no result depends
};

/// `allow race same_value  // why`, below a launch.
struct AllowSpec {
  Allowed what = Allowed::race_same_value;
  std::string reason;
  int line = 0;
};

[[nodiscard]] constexpr bool allows(std::uint8_t mask, Allowed what) {
  return (mask & static_cast<std::uint8_t>(what)) != 0;
}

}  // namespace kiln
