// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/damage.hpp"

#include <algorithm>
#include <cstddef>

namespace kiln::test {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kSector = 512;

}  // namespace

std::string damaged(std::string bytes, std::mt19937_64& random) {
  const auto anywhere = [&] { return random() % bytes.size(); };
  switch (random() % 7) {
    case 0:
    case 1: {  // one bit
      char& byte = bytes[anywhere()];
      byte = static_cast<char>(byte ^ (1 << (random() % 8)));
      break;
    }
    case 2:  // sixteen bytes of noise
      for (std::size_t i = 0, at = anywhere(); i < 16 && at + i < bytes.size(); ++i) {
        bytes[at + i] = static_cast<char>(random());
      }
      break;
    case 3: {  // a page header
      const std::size_t page = anywhere() / kPage * kPage;
      bytes[page + random() % 12] = static_cast<char>(random());
      break;
    }
    case 4:  // truncated
      bytes.resize(anywhere());
      break;
    case 5: {  // a write that went elsewhere
      const std::size_t from = anywhere() / kPage * kPage;
      const std::size_t to = anywhere() / kPage * kPage;
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), kPage,
                  bytes.begin() + static_cast<std::ptrdiff_t>(to));
      break;
    }
    default: {  // zeroed sectors
      const std::size_t sector = anywhere() / kSector * kSector;
      const std::size_t end = std::min(sector + 2 * kSector, bytes.size());
      for (std::size_t i = sector; i < end; ++i) bytes[i] = 0;
    }
  }
  return bytes;
}

}  // namespace kiln::test
