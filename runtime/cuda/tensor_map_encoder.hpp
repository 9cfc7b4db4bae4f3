// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <array>

#include "runtime/device.hpp"
#include "templates/launch/tensor_map_plan.hpp"

namespace kiln {

using CudaTensorMaps = std::array<CUtensorMap, kMostTensorMaps>;

/// Makes CUDA's tensor maps of a launch. The driver checks every argument each time, so a thread
/// remembers the latest maps it made: one depends on nothing but what it is made from.
/// Thread-safe.
class TensorMapEncoder {
 public:
  /// Finds the driver's function; a driver without it (before CUDA 12) refuses launches that need
  /// it. A CUDA device must be there.
  TensorMapEncoder();

  /// Fills in as many of `maps` as there are plans, for the kernel's `argument`.
  [[nodiscard]] DeviceStatus encode(const TensorMapPlans& plans, const void* argument,
                                    CudaTensorMaps& maps) const noexcept;

 private:
  decltype(&cuTensorMapEncodeTiled) encode_ = nullptr;
};

}  // namespace kiln
