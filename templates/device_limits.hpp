// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// Quarters of a multiprocessor: each has its own scheduler, register file and arithmetic units,
/// and owns every fourth warp. True of every generation since sm_70.
inline constexpr int kSubPartitions = 4;

/// The figures of a device that templates may mention (as `device.smem_optin` and so on) and that
/// prune candidates before they are compiled. Bytes, counts.
struct DeviceLimits {
  std::string arch;  ///< compile target, "sm_90a"
  int sm = 0;        ///< compute capability as a number: 90, 120
  int sm_count = 0;
  std::int64_t l2_bytes = 0;
  int smem_static = 49152;  ///< shared memory of a block without opting in
  int smem_optin = 0;       ///< the most shared memory one block can have
  int smem_per_sm = 0;
  int smem_reserved = 1024;  ///< what the driver takes of it per block
  int regs_per_block = 65536;
  int regs_per_sm = 65536;
  int regs_per_thread = 255;
  int max_threads = 1024;  ///< per block
  int max_threads_per_sm = 2048;
  int max_blocks_per_sm = 32;
  int warp_size = 32;
};

/// Limits of a compile target from NVIDIA's published tables, with a typical part's SM count and
/// L2: every generation from sm_75 to sm_121, plain, from sm_90 on with "a" (features of that
/// generation only), from sm_100 on with "f" (features of its family). "90a", "sm_90a" and
/// "compute_90a" are the same. Nothing if the target is unknown.
[[nodiscard]] std::optional<DeviceLimits> limits_of_arch(std::string_view arch);
/// The names that limits_of_arch knows, in order.
[[nodiscard]] std::vector<std::string> known_archs();

/// Resident blocks per SM for a kernel, and what limits them. Registers are allocated per warp in
/// units of 256, shared memory in units of 128 bytes (1024-byte driver share included).
struct Occupancy {
  int blocks_per_sm = 0;
  double fraction = 0.0;  ///< resident warps over the SM's maximum
  std::string limiter;    ///< "registers", "shared memory", "threads", "blocks"
};
[[nodiscard]] Occupancy occupancy(const DeviceLimits& limits, int threads, int registers,
                                  std::int64_t smem_bytes);

/// Resident blocks for a cluster size. A cluster's blocks share a GPC, and most sizes
/// leave multiprocessors of some GPCs over: the shares are those that
/// cudaOccupancyMaxActiveClusters gives for an H200 of 132. Precondition: both counts are positive.
[[nodiscard]] double resident_blocks(const DeviceLimits& limits, int blocks_per_sm,
                                     std::int64_t cluster_blocks);

}  // namespace kiln
