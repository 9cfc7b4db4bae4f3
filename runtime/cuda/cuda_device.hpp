// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <optional>

#include "runtime/cuda/current_device.hpp"
#include "runtime/cuda/nvml.hpp"
#include "runtime/cuda/tensor_map_encoder.hpp"
#include "runtime/device.hpp"

namespace kiln {

/// A GPU through the CUDA runtime, in the device's primary context, which it shares with the
/// application. A thread's current device is left unchanged.
class CudaDevice : public Device {
 public:
  /// Throws Error(device) when there is no such device or its context cannot be made.
  explicit CudaDevice(int ordinal);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] std::int64_t free_memory_bytes() override;
  [[nodiscard]] DeviceTelemetry telemetry() override;
  [[nodiscard]] std::optional<double> energy_j() override;
  [[nodiscard]] void* own_stream() const noexcept override { return stream_; }
  [[nodiscard]] DevicePtr allocate(std::int64_t bytes) override;
  void free(DevicePtr address) noexcept override;
  void copy_to_device(DevicePtr to, const void* from, std::int64_t bytes) override;
  void copy_to_host(void* to, DevicePtr from, std::int64_t bytes) override;
  void fill(DevicePtr to, std::uint8_t value, std::int64_t bytes) override;
  [[nodiscard]] std::unique_ptr<LoadedModule> load(std::span<const std::byte> cubin,
                                                   const std::vector<std::string>& names,
                                                   DeviceStatus& status) override;
  [[nodiscard]] DeviceStatus prepare(const DeviceFunction& function,
                                     std::uint32_t smem_bytes) override;
  [[nodiscard]] DeviceStatus check_residency(const DeviceFunction& function,
                                             const LaunchGeometry& geometry) override;
  [[nodiscard]] DeviceStatus launch(const LaunchRequest& request, void* stream) noexcept override;
  [[nodiscard]] DeviceStatus copy_on_device(DevicePtr to, DevicePtr from, std::int64_t bytes,
                                            void* stream) noexcept override;
  [[nodiscard]] DeviceStatus synchronize() override;
  [[nodiscard]] DeviceStatus synchronize_all() override;
  void with_current(const std::function<void()>& work) override;
  [[nodiscard]] std::unique_ptr<TimedBatch> record(
      const std::function<DeviceStatus(int run, void* stream)>& enqueue, int runs,
      DeviceStatus& status) override;

 private:
  PrimaryContext context_;
  DeviceInfo info_;
  TensorMapEncoder tensor_maps_;
  cudaStream_t stream_ = nullptr;
  [[nodiscard]] const Nvml& nvml();  ///< under nvml_mutex_
  std::mutex nvml_mutex_;
  std::unique_ptr<Nvml> nvml_;  ///< opened by the first that asks
};

}  // namespace kiln
