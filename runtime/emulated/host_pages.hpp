// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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

  /// Throws std::bad_alloc.
  template <class Byte>
  [[nodiscard]] static Piece<Byte> make(std::size_t bytes) {
    static_assert(sizeof(Byte) == 1);
    return Piece<Byte>(static_cast<Byte*>(reserve(bytes)), Release{bytes});
  }

  /// Makes bytes of one piece zeros again. Whole pages are handed back, untouched ones not touched.
  static void clear(std::byte* start, std::size_t bytes) noexcept;

 private:
  [[nodiscard]] static void* reserve(std::size_t bytes);
};

}  // namespace kiln::emulated
