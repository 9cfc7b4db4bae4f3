// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/nvml.hpp"

#include "runtime/shared_object.hpp"

namespace kiln {
namespace {

// The few entry points in use, declared here because the header is in none of the packages that the
// build needs. Results are 0 for success (NVML_SUCCESS); the selectors are NVML_CLOCK_SM and
// NVML_TEMPERATURE_GPU.
using Init = int();
using Shutdown = int();
using HandleByPciBusId = int(const char* bus_id, void** device);
using ClockInfo = int(void* device, int selector, unsigned* mhz);
using PowerUsage = int(void* device, unsigned* milliwatt);
using Temperature = int(void* device, int selector, unsigned* celsius);
constexpr int kClockSm = 1;
constexpr int kTemperatureGpu = 0;

}  // namespace

struct Nvml::Api {
  Init* init = nullptr;
  Shutdown* shutdown = nullptr;
  HandleByPciBusId* handle_by_pci_bus_id = nullptr;
  ClockInfo* clock_info = nullptr;
  PowerUsage* power_usage = nullptr;
  Temperature* temperature = nullptr;
  void* device = nullptr;
};

Nvml::Nvml(const std::string& pci_bus_id) {
  std::string why;
  const auto library = SharedObject::open("libnvidia-ml.so.1", why);
  if (!library) return;
  auto api = std::make_unique<Api>();
  if (!library->resolve("nvmlInit_v2", api->init) ||
      !library->resolve("nvmlShutdown", api->shutdown) ||
      !library->resolve("nvmlDeviceGetHandleByPciBusId_v2", api->handle_by_pci_bus_id) ||
      !library->resolve("nvmlDeviceGetClockInfo", api->clock_info) ||
      !library->resolve("nvmlDeviceGetPowerUsage", api->power_usage) ||
      !library->resolve("nvmlDeviceGetTemperature", api->temperature)) {
    return;
  }
  if (api->init() != 0) return;
  if (api->handle_by_pci_bus_id(pci_bus_id.c_str(), &api->device) != 0) {
    api->shutdown();
    return;
  }
  api_ = std::move(api);
}

Nvml::~Nvml() {
  if (api_) api_->shutdown();
}

DeviceTelemetry Nvml::read() const {
  DeviceTelemetry telemetry;
  if (!api_) return telemetry;
  unsigned value = 0;
  if (api_->clock_info(api_->device, kClockSm, &value) == 0) {
    telemetry.sm_clock_mhz = static_cast<int>(value);
  }
  if (api_->power_usage(api_->device, &value) == 0) telemetry.power_w = value / 1000.0;
  if (api_->temperature(api_->device, kTemperatureGpu, &value) == 0) {
    telemetry.temperature_c = static_cast<int>(value);
  }
  return telemetry;
}

}  // namespace kiln
