// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/device.hpp"

namespace kiln::testing {

/// By how much the emulated GPU's count of a quantity may be off, relative to ncu's. The name is
/// the end of one of ncu_compare's; none: all counts are equal.
struct Tolerance {
  std::string_view quantity;
  double share = 0.0;
};

/// One launch whose memory accesses are counted, by ncu on a GPU and by the emulated one.
struct CountedKernel {
  std::string label;
  std::string source;
  std::string name;  ///< name expression; empty: extern "C" `k`
  LaunchGeometry geometry;
  Tolerance tolerance{};
  /// The kernel's argument, given the address of kCountedBytes of memory.
  std::function<std::vector<std::byte>(DevicePtr memory)> arguments;
};

inline constexpr std::int64_t kCountedBytes = 4 << 20;

/// Forty kernels: the catalog's, in types, layouts and configurations with and without conflicts,
/// and small ones for each kind of access.
[[nodiscard]] std::vector<CountedKernel> counted_kernels(const DeviceLimits& limits);

}  // namespace kiln::testing
