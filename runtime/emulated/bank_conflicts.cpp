// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/bank_conflicts.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace kiln::emulated {
namespace {

constexpr int kBanks = 32;
constexpr std::uint64_t kWordBytes = 4;
constexpr std::uint64_t kSectorBytes = 32;
constexpr std::uint64_t kLineBytes = 128;

/// Words of the fullest bank, for the lanes of one part.
int fullest_bank(const std::uint64_t (&addresses)[kLanes], LaneMask lanes, int bytes) {
  // At most 32 lanes of one word, 16 of two or 8 of four; twice that when parts are merged.
  std::array<std::uint64_t, 64> words;
  std::size_t count = 0;
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const std::uint64_t address = addresses[std::countr_zero(left)];
    const std::uint64_t first = address / kWordBytes;
    const std::uint64_t last = (address + static_cast<std::uint64_t>(bytes) - 1) / kWordBytes;
    for (std::uint64_t word = first; word <= last; ++word) words[count++] = word;
  }
  std::sort(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
  const auto* const end =
      std::unique(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
  std::array<int, kBanks> used{};
  int fullest = 0;
  for (const auto* word = words.begin(); word != end; ++word) {
    fullest = std::max(fullest, ++used[*word % kBanks]);
  }
  return fullest;
}

/// Whether every lane has the address of the lane whose number differs in `bit`.
bool agree(const std::uint64_t (&addresses)[kLanes], LaneMask lanes, int bit) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const int other = lane ^ bit;
    const bool both = (lanes >> lane & 1U) != 0 && (lanes >> other & 1U) != 0;
    if (both && addresses[lane] != addresses[other]) return false;
  }
  return true;
}

LaneMask part_mask(int first, int size) {
  return size == kLanes ? kAllLanes : ((LaneMask{1} << size) - 1) << first;
}

int part_size(int bytes) {
  return bytes <= 4 ? kLanes : bytes <= 8 ? kLanes / 2 : kLanes / 4;
}

}  // namespace

int shared_wavefronts(const std::uint64_t (&addresses)[kLanes], LaneMask lanes, int bytes,
                      bool plain_load) {
  int size = part_size(bytes);
  if (plain_load && size < kLanes && (agree(addresses, lanes, 1) || agree(addresses, lanes, 2))) {
    size *= 2;
  }
  int total = 0;
  for (int first = 0; first < kLanes; first += size) {
    total += fullest_bank(addresses, lanes & part_mask(first, size), bytes);
  }
  return std::max(1, total);
}

int fewest_wavefronts(LaneMask lanes, int bytes) {
  const int size = part_size(bytes);
  int parts = 0;
  for (int first = 0; first < kLanes; first += size) {
    parts += (lanes & part_mask(first, size)) != 0 ? 1 : 0;
  }
  return std::max(1, parts);
}

namespace {

/// The distinct pieces of memory of some size that the lanes of an access touch.
struct Pieces {
  std::array<std::uint64_t, 2 * kLanes> number;
  std::size_t count = 0;

  Pieces(const std::uint64_t (&addresses)[kLanes], LaneMask lanes, int bytes, std::uint64_t size) {
    for (LaneMask left = lanes; left != 0; left &= left - 1) {
      const std::uint64_t address = addresses[std::countr_zero(left)];
      const std::uint64_t first = address / size;
      const std::uint64_t last = (address + static_cast<std::uint64_t>(bytes) - 1) / size;
      number[count++] = first;
      if (last != first) number[count++] = last;
    }
    const auto end = number.begin() + static_cast<std::ptrdiff_t>(count);
    std::sort(number.begin(), end);
    count = static_cast<std::size_t>(std::unique(number.begin(), end) - number.begin());
  }
};

}  // namespace

int sectors(const std::uint64_t (&addresses)[kLanes], LaneMask lanes, int bytes) {
  return static_cast<int>(Pieces(addresses, lanes, bytes, kSectorBytes).count);
}

int cache_lines(const std::uint64_t (&addresses)[kLanes], LaneMask lanes, int bytes) {
  return static_cast<int>(Pieces(addresses, lanes, bytes, kLineBytes).count);
}

int cache_lookups(const std::uint64_t (&addresses)[kLanes], LaneMask lanes, int bytes) {
  const Pieces lines(addresses, lanes, bytes, kLineBytes);
  const auto odd = std::count_if(lines.number.begin(),
                                 lines.number.begin() + static_cast<std::ptrdiff_t>(lines.count),
                                 [](std::uint64_t line) { return line % 2 == 1; });
  return std::max(static_cast<int>(odd), static_cast<int>(lines.count) - static_cast<int>(odd));
}

}  // namespace kiln::emulated
