// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace kiln::emulated {

/// Memory of this machine that starts as zeros. Larger pieces are given page by page where they are
/// touched, so that they cost what is used of them and not what they span.
class HostPages {
 public:
  /// Gives a piece back.
  struct Release {
    std::size_t bytes = 0;
    void operator()(void* start) const noexcept;
  };
  template <class Byte>
  using Piece = std::unique_ptr<Byte[], Release>;

  /// What this machine must have room for when a piece is made.
  enum class Room : std::uint8_t {
    whole,  ///< all of it, as far as the system can tell, for pieces that will be filled
    none,   ///< nothing: the piece may span more than the machine has
  };
  /// Throws std::bad_alloc, where Room::none and filling the piece would end the process.
  template <class Byte>
  [[nodiscard]] static Piece<Byte> make(std::size_t bytes, Room room) {
    static_assert(sizeof(Byte) == 1);
    return Piece<Byte>(static_cast<Byte*>(reserve(bytes, room)), Release{bytes});
  }

  /// Makes bytes of one piece zeros again. Whole pages are handed back, untouched ones not touched.
  static void clear(std::byte* start, std::size_t bytes) noexcept;

 private:
  [[nodiscard]] static void* reserve(std::size_t bytes, Room room);
};

}  // namespace kiln::emulated
