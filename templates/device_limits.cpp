// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/device_limits.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace kiln {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// One row of the compute-capability table of NVIDIA's programming guide, plus a typical part.
struct ArchRow {
  int sm;
  int sm_count;
  std::int64_t l2_mib;
  int smem_per_sm_kib;
  int max_threads_per_sm;
  int max_blocks_per_sm;
};

/// Every generation that NVRTC 12.8 to 13.0 compiles for and Kiln's kernels can use.
constexpr std::array<ArchRow, 12> kArchs{{
    {75, 40, 4, 64, 1024, 16},       // T4
    {80, 108, 40, 164, 2048, 32},    // A100
    {86, 82, 6, 100, 1536, 16},      // RTX 3090
    {87, 16, 4, 164, 1536, 16},      // Jetson AGX Orin
    {88, 12, 4, 100, 1536, 16},      // T239
    {89, 128, 72, 100, 1536, 24},    // RTX 4090
    {90, 132, 60, 228, 2048, 32},    // H200
    {100, 148, 126, 228, 2048, 32},  // B200
    {103, 148, 126, 228, 2048, 32},  // B300
    {110, 20, 32, 228, 1536, 24},    // Jetson AGX Thor
    {120, 170, 96, 100, 1536, 24},   // RTX 5090
    {121, 48, 24, 100, 1536, 24},    // GB10
}};

/// "a" targets have the features of only one generation, from Hopper on; "f" those of its family,
/// from the generation after.
constexpr int kFirstSpecific = 90;
constexpr int kFirstFamily = 100;

/// From sm_80 on the driver keeps 1 KiB of each block's shared memory for itself.
constexpr int kDriverShareBytes = 1024;
constexpr int kRegisterUnit = 256;  // registers of a warp come in multiples of this
constexpr int kSmemUnit = 128;      // bytes

constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

int blocks_by_registers(const DeviceLimits& limits, int warps, int registers) {
  if (registers > limits.regs_per_thread) return 0;
  const auto per_warp = round_up(std::int64_t{registers} * limits.warp_size, kRegisterUnit);
  // A block's warps spread over all sub-partitions, and the launch check assumes evenly.
  if (per_warp * round_up(warps, kSubPartitions) > limits.regs_per_block) return 0;
  const auto warps_per_partition = limits.regs_per_sm / kSubPartitions / per_warp;
  return static_cast<int>(warps_per_partition * kSubPartitions / warps);
}

}  // namespace

std::optional<DeviceLimits> limits_of_arch(std::string_view arch) {
  for (const std::string_view prefix : {"sm_", "compute_"}) {
    if (arch.starts_with(prefix)) {
      arch.remove_prefix(prefix.size());
      break;
    }
  }
  int sm = 0;
  const char* const end = arch.data() + arch.size();
  const auto [suffix, error] = std::from_chars(arch.data(), end, sm);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view features(suffix, static_cast<std::size_t>(end - suffix));
  const bool known_suffix = features.empty() || (features == "a" && sm >= kFirstSpecific) ||
                            (features == "f" && sm >= kFirstFamily);
  const auto* const row =
      std::find_if(kArchs.begin(), kArchs.end(), [&](const ArchRow& r) { return r.sm == sm; });
  if (!known_suffix || row == kArchs.end()) return std::nullopt;

  DeviceLimits limits;
  limits.arch = "sm_" + std::string(arch);
  limits.sm = row->sm;
  limits.sm_count = row->sm_count;
  limits.l2_bytes = row->l2_mib * kMiB;
  limits.smem_reserved = row->sm >= 80 ? kDriverShareBytes : 0;
  limits.smem_per_sm = row->smem_per_sm_kib * 1024;
  limits.smem_optin = limits.smem_per_sm - limits.smem_reserved;
  limits.max_threads_per_sm = row->max_threads_per_sm;
  limits.max_blocks_per_sm = row->max_blocks_per_sm;
  return limits;
}

std::vector<std::string> known_archs() {
  std::vector<std::string> names;
  for (const auto& row : kArchs) {
    names.push_back("sm_" + std::to_string(row.sm));
    if (row.sm >= kFirstSpecific) names.push_back(names.back() + "a");
    if (row.sm >= kFirstFamily) names.push_back("sm_" + std::to_string(row.sm) + "f");
  }
  return names;
}

Occupancy occupancy(const DeviceLimits& limits, int threads, int registers,
                    std::int64_t smem_bytes) {
  if (threads < 1 || threads > limits.max_threads) return {0, 0.0, "threads"};
  const int warps = (threads + limits.warp_size - 1) / limits.warp_size;
  const int warps_per_sm = limits.max_threads_per_sm / limits.warp_size;

  int by_smem = 0;
  if (smem_bytes <= limits.smem_optin) {
    const auto per_block = round_up(smem_bytes + limits.smem_reserved, kSmemUnit);
    by_smem = per_block == 0 ? limits.max_blocks_per_sm
                             : static_cast<int>(limits.smem_per_sm / per_block);
  }
  // Ties name the limit that a kernel's author can change most easily.
  struct Bound {
    const char* name;
    int blocks;
  };
  const std::array<Bound, 4> bounds{{
      {"registers",
       registers > 0 ? blocks_by_registers(limits, warps, registers) : limits.max_blocks_per_sm},
      {"shared memory", by_smem},
      {"threads", warps_per_sm / warps},
      {"blocks", limits.max_blocks_per_sm},
  }};
  const auto least =
      std::min_element(bounds.begin(), bounds.end(),
                       [](const Bound& x, const Bound& y) { return x.blocks < y.blocks; });
  return {least->blocks, static_cast<double>(least->blocks * warps) / warps_per_sm, least->name};
}

double resident_blocks(const DeviceLimits& limits, int blocks_per_sm, std::int64_t cluster_blocks) {
  // Of clusters of 1, 2, 3 ... multiprocessors.
  constexpr double kOf = 132.0;
  constexpr std::array<double, 16> kFilled{132, 132, 117, 120, 110, 102, 105, 120,
                                           81,  70,  77,  84,  91,  98,  105, 112};
  const double slots = static_cast<double>(limits.sm_count) * blocks_per_sm;
  if (cluster_blocks <= 1) return slots;
  const auto sms = static_cast<std::size_t>((cluster_blocks + blocks_per_sm - 1) / blocks_per_sm);
  const double share = kFilled[std::min(sms, kFilled.size()) - 1] / kOf;
  const auto cluster = static_cast<double>(cluster_blocks);
  return std::max(1.0, std::floor(slots * share / cluster + 1e-9)) * cluster;
}

}  // namespace kiln
