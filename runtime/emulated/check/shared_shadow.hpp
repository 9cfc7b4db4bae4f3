// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/emulated/check/race_clocks.hpp"

namespace kiln::emulated {

/// What is known of a piece of shared memory: its last writer and who has read it since.
struct ShadowCell {
  std::uint32_t write_clock = 0;
  std::uint32_t write_instruction = 0;
  Readers readers;
  std::uint32_t owner = 0;    ///< token of the unfinished operation that writes it
  std::uint32_t sources = 0;  ///< how many unfinished operations read it
  std::uint16_t writer = 0;   ///< agent + 1; 0: nobody
  std::uint8_t write_lane = 0;
  bool write_synchronises : 1 = false;  ///< atomic, volatile or ordered
  bool write_async : 1 = false;         ///< by the asynchronous proxy
  bool write_lockstep : 1 = false;      ///< volatile, by several lanes of a warp at once
};

/// The cells of one block's shared memory. Nearly all accesses are whole words of 4 bytes, which
/// have one cell; a word that part of is accessed has one for each byte from then on.
class SharedShadow {
 public:
  explicit SharedShadow(std::size_t bytes) : words_((bytes + kWord - 1) / kWord) {}

  /// Calls visit(cell, offset) for the cells of these bytes, in order, until it returns false.
  template <class Visit>
  void visit(ReaderLists& lists, std::uint32_t offset, std::uint32_t bytes, Visit visit) {
    const std::uint32_t end = offset + bytes;
    while (offset < end) {
      const std::uint32_t word = offset / kWord;
      const std::uint32_t stop = std::min(end, (word + 1) * kWord);
      Word& at = words_[word];
      if (at.split == 0 && stop - offset == kWord) {
        if (!visit(at.cell, offset)) return;
        offset = stop;
        continue;
      }
      if (at.split == 0) split(lists, at);
      for (; offset < stop; ++offset) {
        if (!visit(splits_[at.split - 1][offset % kWord], offset)) return;
      }
    }
  }

 private:
  static constexpr std::uint32_t kWord = 4;
  struct Word {
    ShadowCell cell;
    std::uint32_t split = 0;  ///< index of its bytes' cells + 1
  };

  void split(ReaderLists& lists, Word& word) {
    std::array<ShadowCell, kWord> bytes;
    bytes.fill(word.cell);
    for (ShadowCell& cell : bytes) {
      cell.readers = {};
      for (const Reader& reader : lists.all(word.cell.readers)) lists.add(cell.readers, reader, 0);
    }
    lists.clear(word.cell.readers);
    splits_.push_back(bytes);
    word.split = static_cast<std::uint32_t>(splits_.size());
  }

  std::vector<Word> words_;
  std::vector<std::array<ShadowCell, kWord>> splits_;
};

}  // namespace kiln::emulated
