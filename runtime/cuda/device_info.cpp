// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/device_info.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <fstream>

#include "kiln/error.hpp"
#include "runtime/cuda/cuda_status.hpp"

namespace kiln {
namespace {

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, which, ordinal), "reading a device attribute");
  return value;
}

DeviceLimits query_limits(int ordinal) {
  const int major = attribute(cudaDevAttrComputeCapabilityMajor, ordinal);
  const int minor = attribute(cudaDevAttrComputeCapabilityMinor, ordinal);
  DeviceLimits limits;
  limits.arch = arch_text(major, minor);
  limits.sm = major * 10 + minor;
  limits.sm_count = attribute(cudaDevAttrMultiProcessorCount, ordinal);
  limits.l2_bytes = attribute(cudaDevAttrL2CacheSize, ordinal);
  limits.smem_static = attribute(cudaDevAttrMaxSharedMemoryPerBlock, ordinal);
  limits.smem_optin = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal);
  limits.smem_per_sm = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, ordinal);
  limits.smem_reserved = attribute(cudaDevAttrReservedSharedMemoryPerBlock, ordinal);
  limits.regs_per_block = attribute(cudaDevAttrMaxRegistersPerBlock, ordinal);
  limits.regs_per_sm = attribute(cudaDevAttrMaxRegistersPerMultiprocessor, ordinal);
  limits.max_threads = attribute(cudaDevAttrMaxThreadsPerBlock, ordinal);
  limits.max_threads_per_sm = attribute(cudaDevAttrMaxThreadsPerMultiProcessor, ordinal);
  limits.max_blocks_per_sm = attribute(cudaDevAttrMaxBlocksPerMultiprocessor, ordinal);
  limits.warp_size = attribute(cudaDevAttrWarpSize, ordinal);
  return limits;
}

/// The kernel module's version from sysfs: NVML knows it too, but takes milliseconds to start, and
/// this is on the way from opening a library to its first launch.
std::string module_version() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  std::getline(file, version);
  return version;
}

/// A machine without a GPU is not a dead end.
constexpr const char* kWithoutGpu =
    ". Without a GPU, use an emulated GPU: KILN_DEVICE=emulated:h200";

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

}  // namespace

std::optional<int> parse_device_spec(std::string_view spec) {
  if (spec.empty()) return 0;
  if (spec.starts_with("cuda:")) spec.remove_prefix(5);
  int ordinal = -1;
  const auto [end, error] = std::from_chars(spec.data(), spec.data() + spec.size(), ordinal);
  if (error != std::errc{} || end != spec.data() + spec.size() || ordinal < 0) return std::nullopt;
  return ordinal;
}

std::string arch_text(int major, int minor) {
  return fmt::format("sm_{}{}{}", major, minor, major >= 9 ? "a" : "");
}

DeviceName split_device_name(std::string_view name) {
  constexpr std::string_view kMark = " MIG ";
  const std::size_t at = name.find(kMark);
  if (at == std::string_view::npos) return {std::string(name), ""};
  return {std::string(name.substr(0, at)), std::string(name.substr(at + kMark.size()))};
}

std::string driver_text(int cuda_version, std::string_view module_version) {
  const std::string cuda = fmt::format("CUDA {}.{}", cuda_version / 1000, cuda_version % 1000 / 10);
  return module_version.empty() ? cuda : fmt::format("{} ({})", module_version, cuda);
}

DeviceInfo query_device_info(int ordinal) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, ordinal), "reading the device's properties");
  int driver = 0;
  check_cuda(cudaDriverGetVersion(&driver), "reading the driver's version");
  DeviceInfo info;
  info.spec = fmt::format("cuda:{}", ordinal);
  info.limits = query_limits(ordinal);
  DeviceName name = split_device_name(properties.name);
  info.device_class = {std::move(name.name), info.limits.arch, info.limits.sm_count,
                       info.limits.l2_bytes, std::move(name.mig_profile)};
  info.driver = driver_text(driver, module_version());
  info.uuid = uuid_text(properties.uuid);
  info.total_memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  return info;
}

std::string pci_bus_id(int ordinal) {
  std::array<char, 32> text{};
  check_cuda(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), ordinal),
             "reading the device's PCI address");
  return text.data();
}

void require_device(int ordinal) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) {
    // Drivers serve every older CUDA of their major version.
    constexpr int kDriver = CUDART_VERSION >= 13000 ? 580 : 570;
    throw Error(
        ErrorKind::device,
        fmt::format("no usable NVIDIA driver: libcuda.so.1 is missing or too old for CUDA {}.{}. "
                    "Next: install driver {} or newer. In a container, check that the container "
                    "was started with the GPU (for example `docker run --gpus all`){}",
                    CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, kDriver, kWithoutGpu));
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) {
    throw Error(
        ErrorKind::device,
        fmt::format("there is no CUDA device. Next: look for the GPU in the output of "
                    "`nvidia-smi`, and check that CUDA_VISIBLE_DEVICES does not hide the GPU{}",
                    kWithoutGpu));
  }
  check_cuda(error, "counting CUDA devices");
  if (ordinal >= count) {
    throw Error(
        ErrorKind::device,
        fmt::format(
            "device cuda:{} does not exist. Number of CUDA devices on this machine: {} (cuda:0{})",
            ordinal, count, count > 1 ? fmt::format(" to cuda:{}", count - 1) : ""));
  }
}

}  // namespace kiln
