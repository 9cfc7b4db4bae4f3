// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/device.hpp"

namespace kiln {

/// The verdict that a CUDA error is about a candidate.
[[nodiscard]] DeviceStatus to_status(cudaError_t error);

/// Throws Error(device) "what: text of CUDA" unless `error` is success.
void check_cuda(cudaError_t error, const char* what);

/// Makes a device current for the calling thread and puts the former one back. Which device is
/// current belongs to the application, so no call of ours may change it.
class CurrentDevice {
 public:
  explicit CurrentDevice(int ordinal) noexcept;
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int former_ = -1;  ///< -1: nothing to put back
};

}  // namespace kiln
