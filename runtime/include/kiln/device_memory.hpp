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

/// Memory that Library::allocate() allocated on the Library's device. The device may be a GPU or an
/// emulated device. The destructor frees the memory. Until then, the object keeps the device open.
/// Kernels on a GPU also accept memory from cudaMalloc. Kernels on an emulated device accept only
/// DeviceMemory. Therefore use DeviceMemory in programs that run on both kinds of device.
///
/// Copies are synchronous. A copy first waits for all earlier launches on all streams of the
/// device. CUDA forbids this wait while a stream is being captured into a graph, so do not copy
/// during a capture. The copy is complete when the call returns. To overlap copies with kernels,
/// use cudaMemcpyAsync with the address from get().
///
/// Several threads may copy to and from one object at the same time if they access different bytes.
/// While one thread moves, assigns or destroys an object, no other thread may use the object. A
/// copy beyond the end of the memory throws Error(usage). A copy throws Error(device) if the device
/// fails or an earlier kernel faulted.
class KILN_API DeviceMemory {
 public:
  /// An object without memory: get() is null and bytes() is 0.
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

  /// Copies `count` bytes from the host address `from` to this memory. The copy writes to the
  /// device address get() plus `offset` bytes.
  void copy_from_host(const void* from, std::size_t count, std::size_t offset = 0);
  /// Copies `count` bytes of this memory to the host address `to`. The copy reads from the device
  /// address get() plus `offset` bytes.
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
