// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/nvml.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "runtime/process/shared_object.hpp"

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
using TotalEnergyConsumption = int(void* device, unsigned long long* millijoule);
using HandleByUuid = int(const char* uuid, void** device);
struct Utilization {
  unsigned gpu_percent = 0;
  unsigned memory_percent = 0;
};
using UtilizationRates = int(void* device, Utilization* rates);
/// With room for none, `count` receives how many there are; the result is 0 or kInsufficientSize.
using RunningProcesses = int(void* device, unsigned* count, void* infos);
constexpr int kInsufficientSize = 7;
/// The driver averages the utilisation over up to a second.
constexpr std::chrono::milliseconds kUtilizationSettles{1200};
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
  TotalEnergyConsumption* total_energy = nullptr;  ///< null: an old driver
  void* device = nullptr;
};

Nvml::Nvml(const std::string& pci_bus_id) {
  std::string why;
  const auto library = SharedObject::open(kNvmlLibrary, why);
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
  (void)library->resolve("nvmlDeviceGetTotalEnergyConsumption", api->total_energy);
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

std::optional<double> Nvml::energy_j() const {
  unsigned long long millijoule = 0;
  if (!api_ || api_->total_energy == nullptr) return std::nullopt;
  if (api_->total_energy(api_->device, &millijoule) != 0) return std::nullopt;
  return static_cast<double>(millijoule) / 1000.0;
}

DeviceLoad lasting_load_of_others(const std::string& uuid, const std::string& library_name) {
  DeviceLoad load;
  std::string why;
  Init* init = nullptr;
  Shutdown* shutdown = nullptr;
  HandleByUuid* handle_by_uuid = nullptr;
  UtilizationRates* utilization_rates = nullptr;
  RunningProcesses* compute_processes = nullptr;
  RunningProcesses* graphics_processes = nullptr;
  const auto library = SharedObject::open(library_name, why);
  if (!library || !library->resolve("nvmlInit_v2", init) ||
      !library->resolve("nvmlShutdown", shutdown) ||
      !library->resolve("nvmlDeviceGetHandleByUUID", handle_by_uuid) ||
      !library->resolve("nvmlDeviceGetUtilizationRates", utilization_rates) ||
      !library->resolve("nvmlDeviceGetComputeRunningProcesses_v3", compute_processes) ||
      !library->resolve("nvmlDeviceGetGraphicsRunningProcesses_v3", graphics_processes) ||
      init() != 0) {
    return load;
  }
  void* device = nullptr;
  if (handle_by_uuid(uuid.c_str(), &device) == 0) {
    const auto busy_percent = [&] {
      Utilization rates;
      return utilization_rates(device, &rates) == 0 ? static_cast<int>(rates.gpu_percent) : 0;
    };
    // Only counted, since in a container the process numbers are the host's.
    const auto count_of = [&](RunningProcesses* processes) {
      unsigned count = 0;
      const int result = processes(device, &count, nullptr);
      return result == 0 || result == kInsufficientSize ? static_cast<int>(count) : -1;
    };
    const int computing = count_of(compute_processes);
    load.processes = std::max(0, computing - 1);
    // Not even the caller's own is counted where a container hides processes.
    const bool is_alone = computing == 1 && count_of(graphics_processes) == 0;
    if (!is_alone) load.busy_percent = busy_percent();
    if (load.busy_percent > 0) {
      std::this_thread::sleep_for(kUtilizationSettles);
      load.busy_percent = busy_percent();
    }
  }
  shutdown();
  return load;
}

}  // namespace kiln
