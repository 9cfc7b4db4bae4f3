// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>

/// \file
/// Emulated memory that several host threads touch at the same time because a kernel's blocks do,
/// as it is right with volatile and atomic accesses: each element is read and written as a whole
/// and in one order for all. Elements have 1, 2, 4, 8 or 16 bytes and lie at a multiple of that.

namespace kiln::emulated {

/// Keeps accesses to the 16 bytes around an address apart that no instruction of the host does at
/// once: those of 16 bytes. One lock serves many places.
inline std::mutex& lock_of(const std::byte* memory) {
  static std::array<std::mutex, 256> locks;
  return locks[reinterpret_cast<std::uintptr_t>(memory) / 16 % locks.size()];
}

namespace detail {

template <class T>
void load_element(std::byte* to, std::byte* from) {
  const T value = std::atomic_ref<T>(*reinterpret_cast<T*>(from)).load();
  std::memcpy(to, &value, sizeof value);
}

template <class T>
void store_element(std::byte* to, const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  std::atomic_ref<T>(*reinterpret_cast<T*>(to)).store(value);
}

}  // namespace detail

/// Two halves of 8 bytes each; lock_of() keeps them together.
inline void load_pair(std::byte* to, std::byte* from) {
  detail::load_element<std::uint64_t>(to, from);
  detail::load_element<std::uint64_t>(to + 8, from + 8);
}
inline void store_pair(std::byte* to, const std::byte* from) {
  detail::store_element<std::uint64_t>(to, from);
  detail::store_element<std::uint64_t>(to + 8, from + 8);
}

inline void load_atomically(std::byte* to, std::byte* from, std::size_t bytes) {
  switch (bytes) {
    case 1:
      return detail::load_element<std::uint8_t>(to, from);
    case 2:
      return detail::load_element<std::uint16_t>(to, from);
    case 4:
      return detail::load_element<std::uint32_t>(to, from);
    case 8:
      return detail::load_element<std::uint64_t>(to, from);
    default: {
      const std::scoped_lock lock(lock_of(from));
      load_pair(to, from);
    }
  }
}

inline void store_atomically(std::byte* to, const std::byte* from, std::size_t bytes) {
  switch (bytes) {
    case 1:
      return detail::store_element<std::uint8_t>(to, from);
    case 2:
      return detail::store_element<std::uint16_t>(to, from);
    case 4:
      return detail::store_element<std::uint32_t>(to, from);
    case 8:
      return detail::store_element<std::uint64_t>(to, from);
    default: {
      const std::scoped_lock lock(lock_of(to));
      store_pair(to, from);
    }
  }
}

}  // namespace kiln::emulated
