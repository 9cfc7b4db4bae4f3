// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

namespace kiln::emulated {

/// What a driver has ready for a cooperative launch: two words in global memory, their size and the
/// barrier of the grid. Kernels find its address in %envreg1 and %envreg2. Arrivals at the barrier
/// add up to 2^31, so that its highest bit, kFlips, changes when every block has come; then a block
/// that polls it goes on.
struct GridWorkspace {
  static constexpr std::uint32_t kFlips = 0x80000000U;

  std::uint64_t address = 0;           ///< 0: the launch is not cooperative
  std::shared_ptr<const void> memory;  ///< owns it
  [[nodiscard]] bool is_there() const { return address != 0; }
  [[nodiscard]] std::uint64_t barrier() const { return address + sizeof(std::uint32_t); }
};

/// A block's last arrival at the barrier of its grid.
struct GridArrival {
  std::uint32_t before = 0;  ///< the barrier's word as it came
  bool waits = false;        ///< it has polled in vain since
};

}  // namespace kiln::emulated
