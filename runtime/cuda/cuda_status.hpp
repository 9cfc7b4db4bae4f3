// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/device.hpp"

namespace kiln {

/// What a CUDA error means for a candidate.
[[nodiscard]] DeviceStatus to_status(cudaError_t error);

/// Throws Error(device) "what: text of CUDA" unless `error` is success.
void check_cuda(cudaError_t error, const char* what);

}  // namespace kiln
