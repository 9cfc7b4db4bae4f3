// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/records.hpp"
#include "runtime/model/units.hpp"
#include "templates/device_limits.hpp"

namespace kiln {

/// Multiply-adds per clock and multiprocessor of the matrix units, by the operands' type; s8 stands
/// for u8, f16 for bf16, e4m3 for e5m2. 0: the device has no such instruction.
struct TensorRates {
  double f16 = 0.0;
  double tf32 = 0.0;
  double f64 = 0.0;
  double s8 = 0.0;
  double e4m3 = 0.0;
  friend bool operator==(const TensorRates&, const TensorRates&) = default;
};

/// Clocks from an instruction's issue until the next that needs its result can be issued.
struct Latencies {
  double alu = 0.0;     ///< an fp32 multiply-add
  double mma = 0.0;     ///< an f16 mma.sync m16n8k16
  double shared = 0.0;  ///< a load from shared memory, as the next three from where they are served
  double l1 = 0.0;
  double l2 = 0.0;
  double dram = 0.0;
  double barrier = 0.0;  ///< one __syncthreads() of 256 threads that arrive together
  friend bool operator==(const Latencies&, const Latencies&) = default;
};

/// What a GPU can do at most, as the models of its time want to know it. A small TOML file holds
/// it (runtime/emulated/profiles reads one); `kiln doctor --save-profile` measures one.
struct DeviceProfile {
  std::string name;     ///< "h200", as in emulated:h200
  std::string figures;  ///< "measured" on such a GPU, or "published": taken from specifications
  DeviceLimits limits;
  DeviceClass device_class;      ///< arch, sm_count and l2_bytes as in `limits`
  double clock_ghz = 0.0;        ///< of the multiprocessors, under load
  double launch_ns = 0.0;        ///< what each further kernel of a CUDA graph costs at least
  double issue_per_clock = 0.0;  ///< warp instructions per multiprocessor, of all units together
  /// Lanes per clock and multiprocessor, by emulated::Unit. 0: no limit but issue, or one that
  /// another figure states.
  std::array<double, emulated::kUnits> lanes_per_clock{};
  TensorRates mma;                           ///< of mma.sync and wmma
  TensorRates wgmma;                         ///< of wgmma, both operands from shared memory
  double shared_wavefronts_per_clock = 0.0;  ///< per multiprocessor
  double l2_bytes_per_ns = 0.0;              ///< whole GPU, reads that hit
  double dram_bytes_per_ns = 0.0;            ///< whole GPU, reads
  Latencies latency;

  [[nodiscard]] double lanes(emulated::Unit unit) const {
    return lanes_per_clock[static_cast<std::size_t>(unit)];
  }
};

/// The names of the built-in profiles, in order.
[[nodiscard]] std::vector<std::string> built_in_profiles();

/// The built-in profile of that name; nothing if there is none. Thread-safe.
[[nodiscard]] std::optional<DeviceProfile> built_in_profile(std::string_view name);

/// Fills in what follows from the keys of a profile: the name and number of the architecture, and
/// the device class's copies. False, and nothing changes, for an architecture that is unknown.
[[nodiscard]] bool complete_profile(DeviceProfile& profile);

/// The rates to estimate with for a device: those of the built-in profile of its class, else the
/// H200's, which are in proportion on related GPUs; always with the device's own limits.
[[nodiscard]] DeviceProfile profile_for(const DeviceLimits& limits, const DeviceClass& device);

/// The profile as kernels meet it: they ask in bursts and from far halves of the second level,
/// which a loop that only reads does not. The two factors fit the catalog's kernels on an H200.
[[nodiscard]] DeviceProfile under_load(DeviceProfile profile);

}  // namespace kiln
