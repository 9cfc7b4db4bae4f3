// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cuda_module.hpp"

#include <fmt/format.h>

#include "runtime/cuda/cuda_status.hpp"

namespace kiln {

std::unique_ptr<LoadedModule> CudaModule::load(std::span<const std::byte> cubin,
                                               const std::vector<std::string>& names,
                                               const DeviceLimits& limits, DeviceStatus& status) {
  cudaLibrary_t library = nullptr;
  status = to_status(
      cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  if (!status.ok()) return nullptr;
  auto module = std::make_unique<CudaModule>(library);
  for (const std::string& name : names) {
    status = module->add(name, limits);
    if (!status.ok()) return nullptr;
  }
  return module;
}

CudaModule::~CudaModule() {
  static_cast<void>(cudaLibraryUnload(library_));
}

std::optional<DeviceVariable> CudaModule::variable(const std::string& name) const {
  void* address = nullptr;
  std::size_t bytes = 0;
  if (cudaLibraryGetGlobal(&address, &bytes, library_, name.c_str()) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // else the thread's next CUDA call picks it up
    return std::nullopt;
  }
  return DeviceVariable{reinterpret_cast<DevicePtr>(address), static_cast<std::int64_t>(bytes)};
}

DeviceStatus CudaModule::add(const std::string& name, const DeviceLimits& limits) {
  cudaKernel_t kernel = nullptr;
  cudaError_t error = cudaLibraryGetKernel(&kernel, library_, name.c_str());
  cudaFuncAttributes attributes{};
  // Asking for the attributes also loads the code now, and not in the first launch.
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, kernel);
  if (error == cudaSuccess && limits.sm >= 90) {
    // Only a permission: what a launch requests is in its geometry.
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  }
  DeviceStatus status = to_status(error);
  if (!status.ok()) {
    status.message = fmt::format("kernel '{}': {}", name, status.message);
    return status;
  }
  functions_.push_back({kernel, attributes.maxThreadsPerBlock});
  return status;
}

}  // namespace kiln
