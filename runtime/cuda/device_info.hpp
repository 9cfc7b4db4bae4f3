// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/device.hpp"

namespace kiln {

/// The number in "cuda:1" or "1"; "" means the first device. Nothing when malformed.
[[nodiscard]] std::optional<int> parse_device_spec(std::string_view spec);

/// "sm_90a" for 9.0: from 9.0 on with the suffix that enables that generation's own features.
[[nodiscard]] std::string arch_text(int major, int minor);

/// A GPU partition is marked at the end of the name: {"NVIDIA A100-SXM4-40GB", "1g.5gb"}.
struct DeviceName {
  std::string name;
  std::string mig_profile;
};
[[nodiscard]] DeviceName split_device_name(std::string_view name);

/// "580.159.04 (CUDA 13.0)", or "CUDA 13.0" where the kernel module's version cannot be read.
[[nodiscard]] std::string driver_text(int cuda_version, std::string_view module_version);

/// What CUDA reports about a device. Throws Error(device).
[[nodiscard]] DeviceInfo query_device_info(int ordinal);

/// "0000:18:00.0"; throws Error(device).
[[nodiscard]] std::string pci_bus_id(int ordinal);

/// Throws Error(device) with what is missing and the next step when there is no such device.
void require_device(int ordinal);

}  // namespace kiln
