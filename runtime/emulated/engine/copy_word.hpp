// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>

namespace kiln::emulated {

/// Copies what a lane holds or moves, mostly 1, 2, 4, 8 or 16 bytes. A memcpy() whose length the
/// compiler does not know becomes a string instruction, which took half of the time of loads.
inline void copy_word(void* to, const void* from, std::size_t bytes) {
  switch (bytes) {
    case 1:
      std::memcpy(to, from, 1);
      return;
    case 2:
      std::memcpy(to, from, 2);
      return;
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    case 16:
      std::memcpy(to, from, 16);
      return;
    default:
      std::memcpy(to, from, bytes);
  }
}

}  // namespace kiln::emulated
