// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "kiln/export.hpp"

namespace kiln {

class Device;
class Library;

/// A piece of memory of a library's device, real or emulated, from Library::allocate(). It frees
/// itself, and keeps the device alive as long as it needs it. For programs that should run on
/// either kind of device: memory from cudaMalloc works on a CUDA device as well, but an emulated
/// one takes only this.
///
/// Copies are synchronous: they wait for everything launched on the device before, whatever the
/// stream, and have finished when they return. So none may be made while a stream is being
/// captured; for a pipeline of streams, cudaMemcpyAsync on get() is the better choice.
///
/// Copies of one object from several threads are safe as long as they touch different bytes;
/// everything else that changes an object needs exclusive access. Copies throw Error(usage) if they
/// reach outside the memory, Error(device) if the device fails or an earlier kernel faulted.
class KILN_API DeviceMemory {
 public:
  /// Empty: get() is null, bytes() is 0.
  DeviceMemory() noexcept = default;
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  /// The device's address: an operand, aligned to 256 bytes. Host code must not dereference it.
  [[nodiscard]] void* get() const noexcept { return address_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  /// Writes `count` bytes from the host's `from` to this memory, `offset` bytes from its start.
  void copy_from_host(const void* from, std::size_t count, std::size_t offset = 0);
  /// Reads `count` bytes, `offset` bytes from the start, into the host's `to`.
  void copy_to_host(void* to, std::size_t count, std::size_t offset = 0) const;

 private:
  friend class Library;
  DeviceMemory(std::shared_ptr<Device> device, std::size_t bytes, const std::string& name);

  std::shared_ptr<Device> device_;
  std::uint32_t process_ = 0;  ///< the process that it belongs to; a fork()'s child is another
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace kiln
