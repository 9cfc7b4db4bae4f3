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

/// Memory of a library's device, real or emulated, from Library::allocate(). It frees itself, and
/// keeps the device alive while it exists. Use it in programs that run on either kind of device: a
/// CUDA device also takes memory from cudaMalloc, an emulated one takes only this.
///
/// Copies are synchronous. They wait for all earlier launches on the device, on every stream, and
/// have finished when they return. Therefore do not copy while a stream is being captured. For a
/// pipeline of streams, prefer cudaMemcpyAsync on get().
///
/// Several threads may copy with one object if they touch different bytes. Everything else that
/// changes an object needs exclusive access. A copy throws Error(usage) if it reaches outside the
/// memory, and Error(device) if the device fails or an earlier kernel faulted.
class KILN_API DeviceMemory {
 public:
  /// Empty: get() is null, bytes() is 0.
  DeviceMemory() noexcept = default;
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  /// The address in device memory, aligned to 256 bytes, to pass as an operand. Host code must not
  /// dereference it.
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
  std::uint32_t process_ = 0;  ///< the owning process; a child of fork() is another one
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace kiln
