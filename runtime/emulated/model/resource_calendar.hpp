// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kiln/error.hpp"

namespace kiln::emulated {

/// The calendar of one resource: time in bins of some clocks, each filled up to its capacity. Work
/// takes the first free time from its wish on, so that late wishes do not block earlier ones. The
/// calendar ends after kMostBins bins.
class ResourceCalendar {
 public:
  /// Takes `clocks` of the resource from `ready` on; returns when the last of it is done. Throws
  /// Error(device) when that is beyond the end.
  double take(double ready, double clocks) {
    if (clocks <= 0.0) return ready;
    // As numbers of any size, before they are taken for a place.
    if (!(ready + clocks < kBin * static_cast<double>(kMostBins))) fail();
    busy_ += clocks;
    std::size_t bin = free_from(static_cast<std::size_t>(std::max(0.0, ready) / kBin));
    double left = clocks;
    for (;;) {
      const double room = kBin - used_[bin];
      if (left <= room) {
        used_[bin] = static_cast<float>(used_[bin] + left);
        const double end = static_cast<double>(bin) * kBin + used_[bin];
        return std::max(end, ready + clocks);
      }
      left -= room;
      used_[bin] = static_cast<float>(kBin);
      bin = free_from(bin + 1);
    }
  }
  [[nodiscard]] double busy() const { return busy_; }

 private:
  static constexpr double kBin = 16.0;
  /// 0.075 s of an H200, and 64 MiB for each resource.
  static constexpr std::size_t kMostBins = std::size_t{1} << 23;

  [[noreturn]] static void fail() {
    throw Error(ErrorKind::device,
                fmt::format("Kiln cannot predict a time, because the blocks of one multiprocessor "
                            "take more than {:.0f} clocks. Next: use a smaller problem, and check "
                            "that the device profile is correct.",
                            kBin * static_cast<double>(kMostBins)));
  }

  /// The first bin from `bin` on that has room; full ones point past themselves.
  std::size_t free_from(std::size_t bin) {
    std::size_t at = bin;
    for (;;) {
      if (at >= kMostBins) fail();
      if (at >= used_.size()) {
        used_.resize(std::clamp(2 * used_.size(), at + 1, kMostBins), 0.0F);
        next_.resize(used_.size(), 0);
      }
      if (used_[at] < static_cast<float>(kBin) - 1e-3F) break;
      at = std::max<std::size_t>(at + 1, next_[at]);
    }
    for (std::size_t i = bin; i < at;) {
      const std::size_t after = std::max<std::size_t>(i + 1, next_[i]);
      next_[i] = static_cast<std::uint32_t>(at);
      i = after;
    }
    return at;
  }

  std::vector<float> used_;
  std::vector<std::uint32_t> next_;
  double busy_ = 0.0;
};

}  // namespace kiln::emulated
