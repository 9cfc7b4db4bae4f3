// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kiln/export.hpp"

namespace kiln {

class Device;
class Library;

/// A piece of memory of a library's device, real or emulated, from Library::allocate(). It frees
/// itself, and keeps the device alive as long as it needs it. For programs that shall run on either
/// kind of device: memory of cudaMalloc serves a CUDA device as well, an emulated one takes no
/// other memory than this.
///
/// Copies happen at once: they wait for everything that was launched on the device before, whatever
/// the stream, and have finished when they return. So none may be made while a stream is being
/// captured; and a pipeline of streams is better served by cudaMemcpyAsync on get().
///
/// Copies of one object from several threads are safe as long as they touch different bytes;
/// everything else that changes an object needs it alone. Copies throw Error(usage) when they reach
/// outside the memory, Error(device) when the device fails: also for a kernel that faulted before.
class KILN_API DeviceMemory {
 public:
  /// Holds nothing: get() is null, bytes() is 0.
  DeviceMemory() noexcept = default;
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  /// The device's address: an operand, aligned to 256 bytes. No host code may follow it.
  [[nodiscard]] void* get() const noexcept { return address_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  /// Writes `count` bytes from the host's `from` to this memory, `offset` bytes from its start.
  void copy_from_host(const void* from, std::size_t count, std::size_t offset = 0);
  /// Reads `count` bytes, `offset` bytes from the start, into the host's `to`.
  void copy_to_host(void* to, std::size_t count, std::size_t offset = 0) const;

 private:
  friend class Library;
  DeviceMemory(std::shared_ptr<Device> device, std::size_t bytes);

  std::shared_ptr<Device> device_;
  std::uint32_t process_ = 0;  ///< the process that it belongs to, which a fork() does not copy
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace kiln
