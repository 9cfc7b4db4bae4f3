// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "kiln/device_memory.hpp"
#include "kiln/library.hpp"
#include "runtime/device.hpp"
#include "runtime/library/library_state.hpp"
#include "templates/printable.hpp"

namespace kiln {
namespace {

void check_process(std::uint32_t process) {
  if (process != detail::this_process()) detail::refuse_parents_object();
}

void wait_for(Device& device) {
  const DeviceStatus status = device.synchronize_all();
  if (!status.ok()) {
    throw Error(ErrorKind::device, printable(fmt::format("an earlier launch on {} failed: {}",
                                                         device.info().spec, status.message)));
  }
}

void check_range(const char* what, std::size_t count, std::size_t offset, std::size_t bytes) {
  if (offset <= bytes && count <= bytes - offset) return;
  throw Error(
      ErrorKind::usage,
      fmt::format(
          "{}: cannot access {} bytes at byte offset {}, because this memory has only {} bytes",
          what, count, offset, bytes));
}

}  // namespace

DeviceMemory::DeviceMemory(std::shared_ptr<Device> device, std::size_t bytes,
                           const std::string& name)
    : device_(std::move(device)), process_(detail::this_process()), bytes_(bytes) {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())) {
    throw Error(ErrorKind::usage, fmt::format("allocate: no device has {} bytes of memory", bytes));
  }
  address_ =
      reinterpret_cast<void*>(device_->allocate_named(static_cast<std::int64_t>(bytes), name));
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : device_(std::move(other.device_)),
      process_(other.process_),
      address_(std::exchange(other.address_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(process_, other.process_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceMemory::~DeviceMemory() {
  if (process_ != detail::this_process()) {
    detail::abandon(std::move(device_));
  } else if (address_ != nullptr) {
    device_->free(reinterpret_cast<DevicePtr>(address_));
  }
}

void DeviceMemory::copy_from_host(const void* from, std::size_t count, std::size_t offset) {
  check_process(process_);
  check_range("copy_from_host", count, offset, bytes_);
  if (count == 0) return;
  wait_for(*device_);
  device_->copy_to_device(reinterpret_cast<DevicePtr>(address_) + offset, from,
                          static_cast<std::int64_t>(count));
}

void DeviceMemory::copy_to_host(void* to, std::size_t count, std::size_t offset) const {
  check_process(process_);
  check_range("copy_to_host", count, offset, bytes_);
  if (count == 0) return;
  wait_for(*device_);
  device_->copy_to_host(to, reinterpret_cast<DevicePtr>(address_) + offset,
                        static_cast<std::int64_t>(count));
}

DeviceMemory Library::allocate(std::size_t bytes) const {
  if (!state().is_of_this_process()) detail::refuse_parents_object();
  return {state().shared_device(), bytes, ""};
}

DeviceMemory Library::allocate(std::size_t bytes, const std::string& name) const {
  if (!state().is_of_this_process()) detail::refuse_parents_object();
  return {state().shared_device(), bytes, name};
}

void Library::synchronize() const {
  if (!state().is_of_this_process()) detail::refuse_parents_object();
  wait_for(*state().shared_device());
}

bool Library::is_emulated() const noexcept {
  return state_ && state_->device().info().provenance == Provenance::modelled;
}

}  // namespace kiln
