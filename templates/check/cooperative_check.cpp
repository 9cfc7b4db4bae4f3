// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/check/cooperative_check.hpp"

#include <optional>

namespace kiln {

void refuse_cooperative_overlap(const FrontMatterLine& line, const LaunchSpec& launch) {
  const auto is_always = [](const std::optional<Expression>& part) {
    return part && part->names_used().empty() && part->evaluate({}).value_or(0) != 0;
  };
  if (!is_always(launch.cooperative) || !is_always(launch.overlap)) return;
  line.fail_at_key(
      "a cooperative launch cannot overlap with the previous launch: all blocks of the "
      "cooperative launch must be resident at once, but blocks of the previous launch could still "
      "occupy SMs. Next: remove \"overlap\"");
}

}  // namespace kiln
