// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/current_device.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "kiln/error.hpp"
#include "runtime/cuda/cuda_status.hpp"

namespace kiln {
namespace {

/// The interface that <cuda.h> declares, for the versions of these functions that it names.
constexpr unsigned kDriverInterface = 12000;

template <class Function>
Function find_in_driver(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  check_cuda(
      cudaGetDriverEntryPointByVersion(name, &found, kDriverInterface, cudaEnableDefault, &result),
      name);
  if (found == nullptr) {
    throw Error(
        ErrorKind::device,
        fmt::format("the NVIDIA driver has no function {}. Next: install driver 570 or newer",
                    name));
  }
  return reinterpret_cast<Function>(found);
}

void check_driver(CUresult result, const char* call, int ordinal) {
  if (result == CUDA_SUCCESS) return;
  throw Error(ErrorKind::device, fmt::format("cannot open cuda:{}: {} returned error {}", ordinal,
                                             call, static_cast<int>(result)));
}

}  // namespace

PrimaryContext::PrimaryContext(int ordinal) : ordinal_(ordinal) {
  // Reports in words what may be wrong, and makes nothing current.
  check_cuda(cudaInitDevice(ordinal, 0, 0), fmt::format("opening cuda:{}", ordinal).c_str());
  push_ = find_in_driver<decltype(push_)>("cuCtxPushCurrent");
  pop_ = find_in_driver<decltype(pop_)>("cuCtxPopCurrent");
  release_ = find_in_driver<decltype(release_)>("cuDevicePrimaryCtxRelease");
  const auto get = find_in_driver<decltype(&cuDeviceGet)>("cuDeviceGet");
  const auto retain =
      find_in_driver<decltype(&cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain");
  check_driver(get(&device_, ordinal), "cuDeviceGet", ordinal);
  check_driver(retain(&context_, device_), "cuDevicePrimaryCtxRetain", ordinal);
}

PrimaryContext::~PrimaryContext() {
  static_cast<void>(release_(device_));
}

bool PrimaryContext::push() const noexcept {
  return push_(context_) == CUDA_SUCCESS;
}

void PrimaryContext::pop() const noexcept {
  CUcontext popped = nullptr;
  static_cast<void>(pop_(&popped));
}

CurrentDevice::CurrentDevice(const PrimaryContext& context) noexcept : context_(context) {
  // Usually the application works on the library's device, and the runtime's own mechanism will do.
  int current = -1;
  if (cudaGetDevice(&current) == cudaSuccess && current == context.ordinal()) return;
  pushed_ = context.push();
}

CurrentDevice::~CurrentDevice() {
  if (pushed_) context_.pop();
}

}  // namespace kiln
