// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/library/published_table.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace kiln::detail {
namespace {

struct Key {
  std::size_t number = 0;
  /// Deliberately poor: chains of collisions.
  [[nodiscard]] std::size_t hash() const noexcept { return number / 8; }
  friend bool operator==(const Key&, const Key&) = default;
};
struct Entry {
  Key key;
  int value = 0;
};

TEST(PublishedTableTest, FindsWhatWasPublishedThroughGrowth) {
  PublishedTable<Entry> table;
  EXPECT_EQ(table.find(Key{0}), nullptr);
  for (int i = 0; i < 1000; ++i) {
    table.publish(std::make_unique<const Entry>(Entry{{static_cast<std::size_t>(i)}, i}));
  }
  for (int i = 0; i < 1000; ++i) {
    const Entry* entry = table.find(Key{static_cast<std::size_t>(i)});
    ASSERT_NE(entry, nullptr) << i;
    EXPECT_EQ(entry->value, i);
  }
  EXPECT_EQ(table.find(Key{1000}), nullptr);
}

TEST(PublishedTableTest, LatestEntryOfAKeyWinsAndTheFormerStays) {
  PublishedTable<Entry> table;
  const Entry* former = table.publish(std::make_unique<const Entry>(Entry{{7}, 1}));
  table.publish(std::make_unique<const Entry>(Entry{{7}, 2}));
  EXPECT_EQ(table.find(Key{7})->value, 2);
  EXPECT_EQ(former->value, 1);
  for (std::size_t i = 100; i < 300; ++i)
    table.publish(std::make_unique<const Entry>(Entry{{i}, 0}));
  EXPECT_EQ(table.find(Key{7})->value, 2) << "after growing";
}

TEST(PublishedTableTest, ReadersSeeWholeEntriesWhileAWriterAdds) {
  PublishedTable<Entry> table;
  constexpr std::size_t kEntries = 2000;
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    for (std::size_t i = 0; !done; i = (i + 1) % kEntries) {
      const Entry* entry = table.find(Key{i});
      if (entry != nullptr && entry->value != static_cast<int>(i)) ++wrong;
    }
  });
  for (std::size_t i = 0; i < kEntries; ++i) {
    table.publish(std::make_unique<const Entry>(Entry{{i}, static_cast<int>(i)}));
  }
  done = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace kiln::detail
