// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/device.hpp"
#include "runtime/library/published_table.hpp"

namespace kiln::detail {

class ThreadLife;

/// Scratch memory for kernels that need some: one buffer per stream. Work on one stream runs in
/// order, so the launches on it can share a buffer; launches on two streams never do.
///
/// The first launch that needs more than its stream has allocates, with a lock; all others find
/// their buffer without one. So a kernel with a workspace must be launched once on a stream before
/// that stream is captured into a graph, and such a graph must be replayed on that stream.
/// Outgrown buffers live on with their stream, since work in flight may use them.
///
/// A handle that CUDA reuses finds the buffer of its former stream: so launches must have ended
/// before their stream is destroyed. The per-thread stream has no handle of its own and ends with
/// its thread, whose launches may still run then. Its buffers go to another thread only after the
/// device has been waited for, which is done for several at once: applications that start a thread
/// per request neither wait at each nor keep a buffer of every thread that ever was.
class Workspaces {
 public:
  explicit Workspaces(Device& device);
  ~Workspaces();
  Workspaces(const Workspaces&) = delete;
  Workspaces& operator=(const Workspaces&) = delete;

  /// Buffers of threads that ended, of which no more are kept before they are used again.
  static constexpr std::size_t kMostIdle = 8;

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
  struct Buffer {
    DevicePtr memory = 0;
    std::int64_t bytes = 0;
  };
  /// The buffers of one thread's stream, the last of which is in use.
  struct Owner {
    std::shared_ptr<const ThreadLife> thread;
    std::vector<Buffer> buffers;
  };

  [[nodiscard]] const Entry& grow(Key key, std::int64_t bytes);
  [[nodiscard]] void* get_of_thread(std::int64_t bytes);
  // All below are called with the lock.
  [[nodiscard]] Buffer buffer_of_thread(std::int64_t bytes);
  /// Moves what belongs to threads that ended to `idle_`.
  void collect_ended();
  /// Waits for the device, after which no launch of a thread that ended uses what is idle.
  void reclaim_idle();
  void release(const Buffer& buffer);
  [[nodiscard]] Buffer allocate(std::int64_t bytes);

  Device& device_;
  const std::uint64_t number_;  ///< no other one of the process has it, before or after
  PublishedTable<Entry> table_;
  std::mutex mutex_;
  std::vector<DevicePtr> allocated_;  ///< all memory, to be freed at the end
  std::vector<Owner> owners_;
  std::vector<Buffer> idle_;  ///< of threads that ended, whose launches may not have
  std::vector<Buffer> free_;
};

}  // namespace kiln::detail
