// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/workspaces.hpp"

#include <algorithm>

namespace kiln::detail {
namespace {

/// cudaStreamPerThread: one handle, but a different stream in every thread.
constexpr std::uintptr_t kPerThreadStream = 2;

}  // namespace

Workspaces::~Workspaces() {
  for (const DevicePtr buffer : buffers_) device_.free(buffer);
}

std::size_t Workspaces::Key::hash() const noexcept {
  const std::uint64_t mixed = stream * 0x9e3779b97f4a7c15ULL;
  return static_cast<std::size_t>(mixed ^ (mixed >> 32));
}

Workspaces::Key Workspaces::key_of(void* stream) noexcept {
  const auto handle = reinterpret_cast<std::uintptr_t>(stream);
  // An address unique to each thread, which cannot be a stream handle.
  static thread_local const char thread_mark = 0;
  return {handle == kPerThreadStream ? reinterpret_cast<std::uintptr_t>(&thread_mark) : handle};
}

void* Workspaces::get(void* stream, std::int64_t bytes) {
  const Key key = key_of(stream);
  const Entry* entry = table_.find(key);
  if (entry == nullptr || entry->bytes < bytes) [[unlikely]] {
    entry = &grow(key, bytes);
  }
  return entry->memory;
}

const Workspaces::Entry& Workspaces::grow(Key key, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const Entry* present = table_.find(key);
  if (present != nullptr && present->bytes >= bytes) return *present;
  // Doubling bounds the cost of outgrown buffers to that of the last one.
  const std::int64_t wanted = std::max(bytes, present != nullptr ? 2 * present->bytes : bytes);
  buffers_.reserve(buffers_.size() + 1);
  const DevicePtr memory = device_.allocate(wanted);
  buffers_.push_back(memory);
  return *table_.publish(
      std::make_unique<const Entry>(Entry{key, reinterpret_cast<void*>(memory), wanted}));
}

}  // namespace kiln::detail
