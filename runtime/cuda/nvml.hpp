// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/device.hpp"

namespace kiln {

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

/// Clock, power, energy and temperature of one GPU through NVIDIA's management library, which comes
/// with the driver and may be absent in a container.
class Nvml {
 public:
  /// `pci_bus_id` as "0000:18:00.0". Never fails: without NVML, read() gives zeros.
  explicit Nvml(const std::string& pci_bus_id);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  [[nodiscard]] DeviceTelemetry read() const;
  /// Joules since the driver was loaded (Volta and newer); nothing if it is unknown. Of the whole
  /// GPU, also where the device is a part of it.
  [[nodiscard]] std::optional<double> energy_j() const;

 private:
  struct Api;
  std::unique_ptr<Api> api_;
};

/// Other processes' use of a device; zeros when unknown.
struct DeviceLoad {
  int busy_percent = 0;  ///< of about the last second
  int processes = 0;     ///< that have it open to compute
  friend bool operator==(const DeviceLoad&, const DeviceLoad&) = default;
};

/// Called while one process of the caller's (itself or a worker) has the device open, which is not
/// counted, and has launched nothing. Not busy if no other process has it open. If it is busy this
/// takes a second longer and checks again: the driver averages, and a run that has just ended does
/// not matter. `uuid` as "GPU-...".
[[nodiscard]] DeviceLoad lasting_load_of_others(const std::string& uuid,
                                                const std::string& library = kNvmlLibrary);

}  // namespace kiln
