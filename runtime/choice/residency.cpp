// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/choice/residency.hpp"

#include <fmt/format.h>

namespace kiln {

DeviceStatus residency_status(const LaunchGeometry& geometry, std::uint64_t fit) {
  const std::uint64_t blocks = count_of(geometry.grid);
  if (!geometry.cooperative || blocks <= fit) return {};
  return {DeviceStatus::Code::out_of_resources,
          fmt::format("a cooperative launch needs all of its {} blocks of {} threads resident at "
                      "once, but only {} fit on this device. Next: limit the grid to this number, "
                      "in multiples of device.sm_count, and let each block do more work in a loop",
                      blocks, count_of(geometry.block), fit),
          false};
}

}  // namespace kiln
