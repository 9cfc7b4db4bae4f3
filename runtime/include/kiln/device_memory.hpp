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

/// Memory on the device of a Library, from Library::allocate(). The device may be a GPU or an
/// emulated device. The object frees its memory when destroyed, and keeps the device open until
/// then. Use DeviceMemory in programs that run on both kinds of device. Kernels on a GPU also
/// accept memory from cudaMalloc, but kernels on an emulated device accept only DeviceMemory.
///
/// Copies are synchronous. A copy waits for all earlier launches on the device, on every stream,
/// and has finished when the call returns. So do not copy while a stream is being captured. For a
/// pipeline of streams, prefer cudaMemcpyAsync with the address from get().
///
/// Several threads may copy to and from one object at the same time if they touch different bytes.
/// All other changes to an object (move, assignment, destruction) need exclusive access. A copy
/// beyond the end of the memory throws Error(usage). A copy throws Error(device) if the device
/// fails or an earlier kernel faulted.
class KILN_API DeviceMemory {
 public:
  /// No memory: get() is null and bytes() is 0.
  DeviceMemory() noexcept = default;
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  /// The address in device memory, aligned to 256 bytes. Pass the address as an operand. Host code
  /// must not dereference the address.
  [[nodiscard]] void* get() const noexcept { return address_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  /// Copies `count` bytes from `from` in host memory to this memory, `offset` bytes from its start.
  void copy_from_host(const void* from, std::size_t count, std::size_t offset = 0);
  /// Copies `count` bytes of this memory, `offset` bytes from its start, to `to` in host memory.
  void copy_to_host(void* to, std::size_t count, std::size_t offset = 0) const;

 private:
  friend class Library;
  DeviceMemory(std::shared_ptr<Device> device, std::size_t bytes, const std::string& name);

  std::shared_ptr<Device> device_;
  std::uint32_t process_ = 0;  ///< the process that allocated the memory
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace kiln
