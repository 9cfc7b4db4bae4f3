// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "runtime/device.hpp"

namespace kiln {

/// Clock, power and temperature of one GPU through NVIDIA's management library, which comes with
/// the driver and may be absent in a container.
class Nvml {
 public:
  /// `pci_bus_id` as "0000:18:00.0". Never fails: without NVML, read() gives zeros.
  explicit Nvml(const std::string& pci_bus_id);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  [[nodiscard]] DeviceTelemetry read() const;

 private:
  struct Api;
  std::unique_ptr<Api> api_;
};

}  // namespace kiln
