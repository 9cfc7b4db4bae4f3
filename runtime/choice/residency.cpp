// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/choice/residency.hpp"

#include <fmt/format.h>

namespace kiln {

DeviceStatus residency_status(const LaunchGeometry& geometry, std::uint64_t fit) {
  const std::uint64_t blocks = count_of(geometry.grid);
  if (!geometry.cooperative || blocks <= fit) return {};
  return {
      DeviceStatus::Code::out_of_resources,
      fmt::format(
          "the launch is cooperative, so all its {} blocks ({} threads each) must be resident at "
          "the same time, but only {} blocks fit on this device. Next: launch at most {} blocks "
          "(a grid of device.sm_count blocks usually fits), and let each block loop over its share "
          "of the work",
          blocks, count_of(geometry.block), fit, fit),
      false};
}

}  // namespace kiln
