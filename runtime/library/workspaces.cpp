// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/library/workspaces.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>

#include "kiln/error.hpp"

namespace kiln::detail {

/// Whether a thread still runs.
class ThreadLife {
 public:
  void end() { ended_.store(true, std::memory_order_release); }
  [[nodiscard]] bool has_ended() const { return ended_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> ended_{false};
};

namespace {

/// cudaStreamPerThread: one handle, but a different stream in every thread.
constexpr std::uintptr_t kPerThreadStream = 2;

/// The buffer that a thread's stream has in one library, so that a launch takes no lock. With more
/// libraries than places a launch takes one.
struct Remembered {
  std::uint64_t workspaces = 0;  ///< 0: none
  void* memory = nullptr;
  std::int64_t bytes = 0;
};
thread_local constinit std::array<Remembered, 16> remembered{};
thread_local constinit std::size_t next_remembered = 0;
/// Set when the thread's other objects are gone: an application may launch even after that, while
/// the process ends.
thread_local constinit bool is_ending = false;

/// Tells the end of its thread.
class ThreadMark {
 public:
  ThreadMark() : life_(std::make_shared<ThreadLife>()) {}
  ThreadMark(const ThreadMark&) = delete;
  ThreadMark& operator=(const ThreadMark&) = delete;
  ~ThreadMark() {
    remembered.fill({});
    is_ending = true;
    life_->end();
  }
  [[nodiscard]] const std::shared_ptr<ThreadLife>& life() const { return life_; }

 private:
  std::shared_ptr<ThreadLife> life_;
};

/// Of the calling thread; null while it ends.
std::shared_ptr<const ThreadLife> this_thread_life() {
  if (is_ending) return nullptr;
  thread_local const ThreadMark mark;
  return mark.life();
}

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

Workspaces::Workspaces(Device& device) : device_(device), number_(next_number()) {}

Workspaces::~Workspaces() {
  for (const DevicePtr memory : allocated_) device_.free(memory);
}

std::size_t Workspaces::Key::hash() const noexcept {
  const std::uint64_t mixed = stream * 0x9e3779b97f4a7c15ULL;
  return static_cast<std::size_t>(mixed ^ (mixed >> 32));
}

void* Workspaces::get(void* stream, std::int64_t bytes) {
  const Key key{reinterpret_cast<std::uintptr_t>(stream)};
  if (key.stream == kPerThreadStream) {
    for (const Remembered& each : remembered) {
      if (each.workspaces == number_ && each.bytes >= bytes) return each.memory;
    }
    return get_of_thread(bytes);
  }
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
  const Buffer buffer = allocate(std::max(bytes, present != nullptr ? 2 * present->bytes : bytes));
  return *table_.publish(std::make_unique<const Entry>(
      Entry{key, reinterpret_cast<void*>(buffer.memory), buffer.bytes}));
}

void* Workspaces::get_of_thread(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const Buffer buffer = buffer_of_thread(bytes);
  auto* const memory = reinterpret_cast<void*>(buffer.memory);
  if (is_ending) return memory;
  auto* const known = std::ranges::find(remembered, number_, &Remembered::workspaces);
  Remembered& place =
      known != remembered.end() ? *known : remembered[next_remembered++ % remembered.size()];
  place = {number_, memory, buffer.bytes};
  return memory;
}

Workspaces::Buffer Workspaces::buffer_of_thread(std::int64_t bytes) {
  const std::shared_ptr<const ThreadLife> thread = this_thread_life();
  if (!thread) return allocate(bytes);
  std::int64_t wanted = bytes;
  if (const auto owner = std::ranges::find(owners_, thread, &Owner::thread);
      owner != owners_.end()) {
    const Buffer& present = owner->buffers.back();
    if (present.bytes >= bytes) return present;
    wanted = std::max(bytes, 2 * present.bytes);
  }
  collect_ended();
  if (idle_.size() >= kMostIdle) reclaim_idle();
  Buffer buffer;
  const auto found =
      std::ranges::find_if(free_, [&](const Buffer& each) { return each.bytes >= wanted; });
  if (found != free_.end()) {
    buffer = *found;
    free_.erase(found);
  } else {
    buffer = allocate(wanted);
  }
  auto owner = std::ranges::find(owners_, thread, &Owner::thread);
  if (owner == owners_.end()) owner = owners_.insert(owners_.end(), Owner{thread, {}});
  return owner->buffers.emplace_back(buffer);
}

void Workspaces::collect_ended() {
  std::erase_if(owners_, [this](const Owner& owner) {
    if (!owner.thread || !owner.thread->has_ended()) return false;
    idle_.insert(idle_.end(), owner.buffers.begin(), owner.buffers.end());
    return true;
  });
}

void Workspaces::reclaim_idle() {
  // What cannot be waited for, as while a stream is captured, stays as it is.
  if (!device_.synchronize_all().ok()) return;
  free_.insert(free_.end(), idle_.begin(), idle_.end());
  idle_.clear();
  std::ranges::sort(free_, std::ranges::less(), &Buffer::bytes);  // the smallest that fits is taken
  while (free_.size() > kMostIdle) {
    release(free_.front());
    free_.erase(free_.begin());
  }
}

void Workspaces::release(const Buffer& buffer) {
  device_.free(buffer.memory);
  std::erase(allocated_, buffer.memory);
}

Workspaces::Buffer Workspaces::allocate(std::int64_t bytes) {
  allocated_.reserve(allocated_.size() + 1);
  DevicePtr memory = 0;
  try {
    memory = device_.allocate(bytes);
  } catch (const Error&) {
    // Memory is short: what ended threads had may be what is lacking.
    collect_ended();
    if (idle_.empty() && free_.empty()) throw;
    reclaim_idle();
    for (const Buffer& each : free_) release(each);
    free_.clear();
    memory = device_.allocate(bytes);
  }
  allocated_.push_back(memory);
  return {memory, bytes};
}

}  // namespace kiln::detail
