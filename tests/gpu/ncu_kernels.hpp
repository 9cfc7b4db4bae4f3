// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/device.hpp"

namespace kiln::testing {

/// One launch whose memory accesses are counted, by ncu on a GPU and by the emulated one.
struct CountedKernel {
  std::string label;
  std::string source;
  std::string name;  ///< name expression; empty: extern "C" `k`
  LaunchGeometry geometry;
  /// By how much, relative to ncu's, the emulated GPU's counts may be off.
  double tolerance = 0.0;
  /// The kernel's argument, given the address of kCountedBytes of memory.
  std::function<std::vector<std::byte>(DevicePtr memory)> arguments;
};

inline constexpr std::int64_t kCountedBytes = 4 << 20;

/// Forty kernels: the catalog's, in types, layouts and configurations with and without conflicts,
/// and small ones for each kind of access.
[[nodiscard]] std::vector<CountedKernel> counted_kernels(const DeviceLimits& limits);

}  // namespace kiln::testing
