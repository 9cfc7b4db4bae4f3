// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/device.hpp"

namespace kiln {

/// The verdict on a cooperative launch of which `fit` blocks can be on the device at once.
[[nodiscard]] DeviceStatus residency_status(const LaunchGeometry& geometry, std::uint64_t fit);

}  // namespace kiln
