// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/emulated/decode/access.hpp"

namespace kiln::emulated {

/// Numbers of 32-byte pieces, none of them 0, in a hash table with open addresses.
class SectorSet {
 public:
  /// Whether it is new.
  bool insert(std::uint64_t sector) {
    if (2 * count_ >= places_.size()) grow();
    const bool fresh = put(sector);
    if (fresh) ++count_;
    return fresh;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  bool put(std::uint64_t sector) {
    // Fibonacci hashing: neighbours, which come together, go far apart.
    auto at = static_cast<std::size_t>((sector * 0x9e3779b97f4a7c15U) >> shift_);
    while (places_[at] != 0) {
      if (places_[at] == sector) return false;
      at = (at + 1) & (places_.size() - 1);
    }
    places_[at] = sector;
    return true;
  }
  void grow() {
    const std::vector<std::uint64_t> old = std::move(places_);
    shift_ -= 1;
    places_.assign(std::size_t{1} << (64 - shift_), 0);
    for (const std::uint64_t sector : old) {
      if (sector != 0) put(sector);
    }
  }

  int shift_ = 55;
  std::vector<std::uint64_t> places_;
  std::uint64_t count_ = 0;
};

/// Calls `visit` with the number of each 32-byte piece that a lane touches; pieces that lanes share
/// come once for each of them.
template <class Visit>
void for_each_sector(const WarpAccess& access, const Visit& visit) {
  const auto bytes = static_cast<std::uint64_t>(access.bytes);
  for (LaneMask left = access.lanes; left != 0; left &= left - 1) {
    const std::uint64_t address = access.address[std::countr_zero(left)];
    for (std::uint64_t at = address / 32; at <= (address + bytes - 1) / 32; ++at) visit(at);
  }
}

}  // namespace kiln::emulated
