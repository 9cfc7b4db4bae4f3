// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/model/bank_conflicts.hpp"

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

namespace {

/// What a copy past the first-level cache moves from one sector to another.
struct Transfer {
  std::uint64_t from, to;  ///< sectors
  bool changes_half;       ///< a first half becomes a second one, or the other way round
  unsigned halves;         ///< of the source: bit 0 the first, bit 1 the second
};

struct Transfers {
  std::array<Transfer, kLanes> all;
  std::size_t count = 0;

  Transfers(const std::uint64_t (&from)[kLanes], const std::uint64_t (&to)[kLanes],
            LaneMask lanes) {
    constexpr std::uint64_t kHalfBytes = kSectorBytes / 2;
    for (LaneMask left = lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const bool second = from[lane] / kHalfBytes % 2 == 1;
      const Transfer wanted{from[lane] / kSectorBytes, to[lane] / kSectorBytes,
                            second != (to[lane] / kHalfBytes % 2 == 1), second ? 2U : 1U};
      auto* const end = all.data() + count;
      auto* const found = std::find_if(all.data(), end, [&](const Transfer& transfer) {
        return transfer.from == wanted.from && transfer.to == wanted.to &&
               transfer.changes_half == wanted.changes_half;
      });
      if (found == end) {
        all[count++] = wanted;
      } else {
        found->halves |= wanted.halves;
      }
    }
  }
};

/// Transfers that move together.
struct CopyWavefront {
  Transfer first;
  unsigned from_sectors = 0;  ///< of its line, one bit for each
  unsigned to_sectors = 0;

  [[nodiscard]] bool takes(const Transfer& transfer) const {
    const auto crosses = [](const Transfer& of) { return (of.from ^ of.to) % 2; };
    return transfer.from / kLineSectors == first.from / kLineSectors &&
           transfer.to / kLineSectors == first.to / kLineSectors &&
           transfer.changes_half == first.changes_half && transfer.halves == first.halves &&
           crosses(transfer) == crosses(first) && (from_sectors & bit(transfer.from)) == 0 &&
           (to_sectors & bit(transfer.to)) == 0;
  }
  void add(const Transfer& transfer) {
    from_sectors |= bit(transfer.from);
    to_sectors |= bit(transfer.to);
  }

 private:
  static constexpr std::uint64_t kLineSectors = kLineBytes / kSectorBytes;
  static unsigned bit(std::uint64_t sector) { return 1U << sector % kLineSectors; }
};

int transfer_wavefronts(const Transfers& transfers) {
  std::array<CopyWavefront, kLanes> wavefronts;
  std::size_t count = 0;
  for (std::size_t i = 0; i < transfers.count; ++i) {
    const Transfer& transfer = transfers.all[i];
    auto* const end = wavefronts.data() + count;
    auto* const found = std::find_if(wavefronts.data(), end, [&](const CopyWavefront& wavefront) {
      return wavefront.takes(transfer);
    });
    if (found == end) wavefronts[count++] = {transfer};
    found->add(transfer);
  }
  return static_cast<int>(count);
}

/// Of lanes of one part that copy `bytes` each through the first-level cache.
int cached_part_wavefronts(const AsyncCopy& copy, LaneMask lanes, int bytes) {
  const auto width = static_cast<std::uint64_t>(bytes);
  const std::uint64_t places = kLineBytes / width;                // side by side, of all banks
  std::array<std::array<std::uint64_t, kLanes>, kBanks> written;  // words of each place
  std::array<std::size_t, kBanks> words{};
  std::array<std::array<int, kBanks>, kLanes> read{};  // by each turn, from each place
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t word = copy.to[lane] / width;
    auto& place = written[word % places];
    std::size_t& count = words[word % places];
    std::uint64_t* const end = place.data() + count;
    const auto turn = static_cast<std::size_t>(std::find(place.data(), end, word) - place.data());
    if (turn == count) place[count++] = word;
    ++read[turn][copy.from[lane] / width % places];
  }
  int total = 0;
  for (const auto& turn : read) total += *std::max_element(turn.begin(), turn.end());
  return total;
}

int cached_copy_wavefronts(const AsyncCopy& copy, LaneMask lanes, int bytes) {
  const int size = part_size(bytes);
  int total = 0;
  for (int first = 0; first < kLanes; first += size) {
    total += cached_part_wavefronts(copy, lanes & part_mask(first, size), bytes);
  }
  return total;
}

int copy_wavefronts(const AsyncCopy& copy, LaneMask lanes, int bytes) {
  if (!copy.bypasses) return cached_copy_wavefronts(copy, lanes, bytes);
  const LaneMask reading = lanes & ~copy.zeros;
  int total = 0;
  if (reading != 0) {
    total += transfer_wavefronts(Transfers(copy.from, copy.to, reading));
    if (copy.sized) total += cached_copy_wavefronts(copy, reading, bytes);
  }
  if (copy.zeros != 0) total += shared_wavefronts(copy.to, copy.zeros, bytes, false);
  return total;
}

}  // namespace

int shared_wavefronts(const WarpAccess& access) {
  if (access.copy == nullptr) return shared_clocks(access);
  return std::max(1, copy_wavefronts(*access.copy, access.lanes, access.bytes));
}

int shared_clocks(const WarpAccess& access) {
  const bool plain_load = access.kind == AccessKind::load && !access.matrix_rows;
  return shared_wavefronts(access.address, access.lanes, access.bytes, plain_load);
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

int sectors(const WarpAccess& access) {
  if (access.copy != nullptr && access.copy->bypasses) {
    return static_cast<int>(Transfers(access.copy->from, access.copy->to, access.lanes).count);
  }
  return sectors(access.address, access.lanes, access.bytes);
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
