// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace kiln::detail {

/// A hash table for many readers that take no lock, and writers made mutually exclusive by other
/// means. Entry has a member `key`; Key has == and `hash()`. Entries never change once published
/// and live as long as the table. So do outgrown arrays, which a reader may still be walking: each
/// is half as large as its successor, so together they cost as much as the last one.
template <class Entry>
class PublishedTable {
 public:
  PublishedTable() { grow(kFirstSlots); }
  PublishedTable(const PublishedTable&) = delete;
  PublishedTable& operator=(const PublishedTable&) = delete;

  /// Neither locks nor allocates.
  template <class Key>
  [[nodiscard]] const Entry* find(const Key& key) const noexcept {
    const Array& array = *current_.load(std::memory_order_acquire);
    for (std::size_t at = key.hash() & array.mask;; at = (at + 1) & array.mask) {
      const Entry* entry = array.slots[at].load(std::memory_order_acquire);
      if (entry == nullptr || entry->key == key) return entry;
    }
  }

  /// Writers only. An entry of the same key is replaced for readers to come.
  const Entry* publish(std::unique_ptr<const Entry> entry) {
    const Entry* published = entry.get();
    entries_.push_back(std::move(entry));
    // At most half full, so that probing ends soon.
    const std::size_t slots = arrays_.back()->mask + 1;
    if (2 * entries_.size() > slots) {
      grow(2 * slots);
    } else {
      insert(*arrays_.back(), published);
    }
    return published;
  }

 private:
  static constexpr std::size_t kFirstSlots = 64;

  struct Array {
    explicit Array(std::size_t slot_count)
        : mask(slot_count - 1), slots(std::make_unique<std::atomic<const Entry*>[]>(slot_count)) {}
    std::size_t mask;
    std::unique_ptr<std::atomic<const Entry*>[]> slots;
  };

  static void insert(Array& array, const Entry* entry) {
    std::size_t at = entry->key.hash() & array.mask;
    for (;; at = (at + 1) & array.mask) {
      const Entry* there = array.slots[at].load(std::memory_order_relaxed);
      if (there == nullptr || there->key == entry->key) break;
    }
    array.slots[at].store(entry, std::memory_order_release);
  }

  void grow(std::size_t slot_count) {
    arrays_.push_back(std::make_unique<Array>(slot_count));
    // In the order of publication, so that the latest entry of a key wins here, too.
    for (const auto& entry : entries_) insert(*arrays_.back(), entry.get());
    current_.store(arrays_.back().get(), std::memory_order_release);
  }

  std::atomic<const Array*> current_{nullptr};
  std::vector<std::unique_ptr<Array>> arrays_;
  std::vector<std::unique_ptr<const Entry>> entries_;
};

}  // namespace kiln::detail
