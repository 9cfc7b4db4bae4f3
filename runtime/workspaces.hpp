// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/device.hpp"
#include "runtime/published_table.hpp"

namespace kiln::detail {

/// Scratch memory for kernels that need some: one buffer per stream. Work on one stream runs in
/// order, so the launches on it can share a buffer; launches on two streams never do.
///
/// The first launch that needs more than its stream has allocates, with a lock; all others find
/// their buffer without one. So a kernel with a workspace must be launched once on a stream before
/// that stream is captured into a graph, and such a graph must be replayed on that stream.
/// Outgrown buffers live on with the library, since work in flight may use them.
///
/// A handle that CUDA reuses finds the buffer of its former stream, which is free by then:
/// CUDA releases what belongs to a destroyed stream when its work has completed. The per-thread
/// stream has no handle of its own and is identified by the thread; so a thread must wait for its
/// launches there before it ends, or a later thread in its place shares the buffer with them. A
/// buffer for every thread that ever was would be worse: some applications start one per request.
class Workspaces {
 public:
  explicit Workspaces(Device& device) : device_(device) {}
  ~Workspaces();
  Workspaces(const Workspaces&) = delete;
  Workspaces& operator=(const Workspaces&) = delete;

  /// At least `bytes` for work on `stream`. Throws Error(device) when memory is short.
  [[nodiscard]] void* get(void* stream, std::int64_t bytes);

 private:
  struct Key {
    std::uintptr_t stream = 0;
    [[nodiscard]] std::size_t hash() const noexcept;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Entry {
    Key key;
    void* memory = nullptr;
    std::int64_t bytes = 0;
  };
  [[nodiscard]] static Key key_of(void* stream) noexcept;
  [[nodiscard]] const Entry& grow(Key key, std::int64_t bytes);

  Device& device_;
  PublishedTable<Entry> table_;
  std::mutex mutex_;
  std::vector<DevicePtr> buffers_;
};

}  // namespace kiln::detail
