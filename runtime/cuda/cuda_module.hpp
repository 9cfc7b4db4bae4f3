// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/device.hpp"

namespace kiln {

/// A cubin loaded through the library interface of the CUDA runtime, independent of any context.
class CudaModule : public LoadedModule {
 public:
  [[nodiscard]] static std::unique_ptr<LoadedModule> load(std::span<const std::byte> cubin,
                                                          const std::vector<std::string>& names,
                                                          const DeviceLimits& limits,
                                                          DeviceStatus& status);
  explicit CudaModule(cudaLibrary_t library) : library_(library) {}
  ~CudaModule() override;
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;

  [[nodiscard]] std::span<const DeviceFunction> functions() const override { return functions_; }
  [[nodiscard]] std::optional<DeviceVariable> variable(const std::string& name) const override;

 private:
  [[nodiscard]] DeviceStatus add(const std::string& name, const DeviceLimits& limits);

  cudaLibrary_t library_;
  std::vector<DeviceFunction> functions_;
};

}  // namespace kiln
