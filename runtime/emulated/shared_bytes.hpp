// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// \file
/// Emulated memory that several host threads touch at the same time because a kernel's blocks do,
/// as it is right with volatile and atomic accesses: each element is read and written as a whole
/// and in one order for all. Elements have 1, 2, 4, 8 or 16 bytes and lie at a multiple of that; 16
/// count as two.

namespace kiln::emulated {
namespace detail {

template <class T>
void read_element(std::byte* to, std::byte* from) {
  const T value = std::atomic_ref<T>(*reinterpret_cast<T*>(from)).load();
  std::memcpy(to, &value, sizeof value);
}

template <class T>
void write_element(std::byte* to, const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  std::atomic_ref<T>(*reinterpret_cast<T*>(to)).store(value);
}

}  // namespace detail

inline void read_shared(std::byte* to, std::byte* from, std::size_t bytes) {
  switch (bytes) {
    case 1:
      return detail::read_element<std::uint8_t>(to, from);
    case 2:
      return detail::read_element<std::uint16_t>(to, from);
    case 4:
      return detail::read_element<std::uint32_t>(to, from);
    default:
      for (std::size_t at = 0; at < bytes; at += 8) {
        detail::read_element<std::uint64_t>(to + at, from + at);
      }
  }
}

inline void write_shared(std::byte* to, const std::byte* from, std::size_t bytes) {
  switch (bytes) {
    case 1:
      return detail::write_element<std::uint8_t>(to, from);
    case 2:
      return detail::write_element<std::uint16_t>(to, from);
    case 4:
      return detail::write_element<std::uint32_t>(to, from);
    default:
      for (std::size_t at = 0; at < bytes; at += 8) {
        detail::write_element<std::uint64_t>(to + at, from + at);
      }
  }
}

}  // namespace kiln::emulated
