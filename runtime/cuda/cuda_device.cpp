// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cuda_device.hpp"

#include <fmt/format.h>

#include "kiln/error.hpp"
#include "runtime/choice/residency.hpp"
#include "runtime/cuda/cuda_module.hpp"
#include "runtime/cuda/cuda_status.hpp"
#include "runtime/cuda/device_info.hpp"
#include "runtime/cuda/graph_batch.hpp"
#include "templates/launch/argument_plan.hpp"

namespace kiln {
namespace {

/// One each for parameters of 4 bytes and more, for the values at launch and for the tensor maps.
constexpr std::size_t kMostArguments = kMostArgumentBytes / 4 + 1 + kMostTensorMaps;

int checked(int ordinal) {
  require_device(ordinal);
  return ordinal;
}

}  // namespace

CudaDevice::CudaDevice(int ordinal)
    : context_(checked(ordinal)), info_(query_device_info(ordinal)) {
  const CurrentDevice current(context_);
  // Non-blocking: the application's work on the legacy default stream must not creep into
  // measurements, nor wait for them.
  check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
             fmt::format("opening {}", info_.spec).c_str());
}

CudaDevice::~CudaDevice() {
  const CurrentDevice current(context_);
  static_cast<void>(cudaStreamDestroy(stream_));
}

std::int64_t CudaDevice::free_memory_bytes() {
  const CurrentDevice current(context_);
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "querying the amount of free device memory");
  return static_cast<std::int64_t>(free);
}

const Nvml& CudaDevice::nvml() {
  if (!nvml_) nvml_ = std::make_unique<Nvml>(pci_bus_id(context_.ordinal()));
  return *nvml_;
}

DeviceTelemetry CudaDevice::telemetry() {
  const std::lock_guard lock(nvml_mutex_);
  return nvml().read();
}

std::optional<double> CudaDevice::energy_j() {
  const std::lock_guard lock(nvml_mutex_);
  return nvml().energy_j();
}

DevicePtr CudaDevice::allocate(std::int64_t bytes) {
  const CurrentDevice current(context_);
  void* address = nullptr;
  const cudaError_t error = cudaMalloc(&address, static_cast<std::size_t>(bytes > 0 ? bytes : 1));
  check_cuda(error, fmt::format("allocating {} bytes on {}", bytes, info_.spec).c_str());
  return reinterpret_cast<DevicePtr>(address);
}

void CudaDevice::free(DevicePtr address) noexcept {
  const CurrentDevice current(context_);
  static_cast<void>(cudaFree(reinterpret_cast<void*>(address)));
}

void CudaDevice::copy_to_device(DevicePtr to, const void* from, std::int64_t bytes) {
  const CurrentDevice current(context_);
  check_cuda(cudaMemcpyAsync(reinterpret_cast<void*>(to), from, static_cast<std::size_t>(bytes),
                             cudaMemcpyHostToDevice, stream_),
             "copying to the device");
  check_cuda(cudaStreamSynchronize(stream_), "copying to the device");
}

void CudaDevice::copy_to_host(void* to, DevicePtr from, std::int64_t bytes) {
  const CurrentDevice current(context_);
  check_cuda(cudaMemcpyAsync(to, reinterpret_cast<const void*>(from),
                             static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, stream_),
             "copying from the device");
  check_cuda(cudaStreamSynchronize(stream_), "copying from the device");
}

void CudaDevice::fill(DevicePtr to, std::uint8_t value, std::int64_t bytes) {
  const CurrentDevice current(context_);
  check_cuda(
      cudaMemsetAsync(reinterpret_cast<void*>(to), value, static_cast<std::size_t>(bytes), stream_),
      "filling device memory");
  check_cuda(cudaStreamSynchronize(stream_), "filling device memory");
}

std::unique_ptr<LoadedModule> CudaDevice::load(std::span<const std::byte> cubin,
                                               const std::vector<std::string>& names,
                                               DeviceStatus& status) {
  const CurrentDevice current(context_);
  return CudaModule::load(cubin, names, info_.limits, status);
}

DeviceStatus CudaDevice::prepare(const DeviceFunction& function, std::uint32_t smem_bytes) {
  const CurrentDevice current(context_);
  const cudaError_t error = cudaFuncSetAttribute(
      function.handle, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(smem_bytes));
  DeviceStatus status = to_status(error);
  // The only value in the call that can be invalid is the amount.
  if (error == cudaErrorInvalidValue) {
    status.code = DeviceStatus::Code::out_of_resources;
    status.message = fmt::format(
        "a block requests {} bytes of dynamic shared memory, but this device allows at most {} "
        "bytes of shared memory (static plus dynamic) per block",
        smem_bytes, info_.limits.smem_optin);
  }
  return status;
}

DeviceStatus CudaDevice::check_residency(const DeviceFunction& function,
                                         const LaunchGeometry& geometry) {
  if (!geometry.cooperative) return {};
  const CurrentDevice current(context_);
  const auto& [x, y, z] = geometry.block;
  const std::uint64_t of_cluster = count_of(geometry.cluster);
  int fit = 0;
  cudaError_t error = cudaSuccess;
  if (of_cluster == 1) {
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &fit, function.handle, static_cast<int>(count_of(geometry.block)), geometry.smem_bytes);
    fit *= info_.limits.sm_count;
  } else {
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {geometry.cluster[0], geometry.cluster[1], geometry.cluster[2]};
    cudaLaunchConfig_t config{};
    config.gridDim = {geometry.grid[0], geometry.grid[1], geometry.grid[2]};
    config.blockDim = {x, y, z};
    config.dynamicSmemBytes = geometry.smem_bytes;
    config.attrs = &cluster;
    config.numAttrs = 1;
    error = cudaOccupancyMaxActiveClusters(&fit, function.handle, &config);
  }
  if (error != cudaSuccess) return to_status(error);
  return residency_status(geometry, static_cast<std::uint64_t>(fit) * of_cluster);
}

DeviceStatus CudaDevice::launch(const LaunchRequest& request, void* stream) noexcept {
  const CurrentDevice current(context_);
  const auto& [grid, block, cluster, smem_bytes, values, maps, overlaps, cooperative, allowed,
               kernel] = request.geometry;
  cudaLaunchConfig_t config{};
  config.gridDim = {grid[0], grid[1], grid[2]};
  config.blockDim = {block[0], block[1], block[2]};
  config.dynamicSmemBytes = smem_bytes;
  config.stream = static_cast<cudaStream_t>(stream);
  std::array<cudaLaunchAttribute, 3> attributes;
  config.attrs = attributes.data();
  if (cluster[0] * cluster[1] * cluster[2] != 1) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {cluster[0], cluster[1], cluster[2]};
  }
  if (overlaps) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  }
  if (cooperative) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
  }
  std::array<void*, kMostArguments> arguments;  // filled as far as it is read
  std::size_t count = 0;
  auto* const argument = const_cast<std::byte*>(static_cast<const std::byte*>(request.arguments));
  if (request.parameters.empty()) arguments[count++] = argument;
  for (const std::uint16_t at : request.parameters) arguments[count++] = argument + at;
  if (values.count > 0) arguments[count++] = const_cast<std::int32_t*>(values.items.data());
  CudaTensorMaps encoded;
  if (maps.count > 0) {
    if (DeviceStatus status = tensor_maps_.encode(maps, request.arguments, encoded); !status.ok()) {
      return status;
    }
    for (std::size_t i = 0; i < maps.count; ++i) arguments[count++] = &encoded[i];
  }
  const cudaError_t error = cudaLaunchKernelExC(&config, request.function.handle, arguments.data());
  if (error == cudaSuccess) [[likely]] {
    return {};
  }
  return to_status(error);
}

DeviceStatus CudaDevice::copy_on_device(DevicePtr to, DevicePtr from, std::int64_t bytes,
                                        void* stream) noexcept {
  const CurrentDevice current(context_);
  const cudaError_t error = cudaMemcpyAsync(
      reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from),
      static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream));
  if (error == cudaSuccess) [[likely]] {
    return {};
  }
  return to_status(error);
}

DeviceStatus CudaDevice::synchronize() {
  const CurrentDevice current(context_);
  return to_status(cudaStreamSynchronize(stream_));
}

DeviceStatus CudaDevice::synchronize_all() {
  const CurrentDevice current(context_);
  return to_status(cudaDeviceSynchronize());
}

void CudaDevice::with_current(const std::function<void()>& work) {
  const CurrentDevice current(context_);
  work();
}

std::unique_ptr<TimedBatch> CudaDevice::record(
    const std::function<DeviceStatus(int run, void* stream)>& enqueue, int runs,
    DeviceStatus& status) {
  const CurrentDevice current(context_);
  return GraphBatch::record(enqueue, runs, context_, stream_, status);
}

}  // namespace kiln
