// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "runtime/cuda/nvml.hpp"
#include "runtime/device.hpp"
#include "tools/context.hpp"

namespace kiln::tools {

/// The right to measure on one GPU, which one process of the machine has at a time, of whatever
/// user. It is a socket in Linux's abstract namespace, named after the GPU: there is no file that
/// could stay behind or that a folder's permissions could forbid, and it goes with its process. It
/// holds among the processes that share a network namespace, so not across containers with one
/// each.
class DeviceLock {
 public:
  DeviceLock() = default;  ///< holds nothing
  DeviceLock(DeviceLock&& other) noexcept;
  DeviceLock& operator=(DeviceLock&& other) noexcept;
  ~DeviceLock();

  /// False when another one holds it. Throws Error(device) when the system has no such sockets.
  [[nodiscard]] bool try_lock(const std::string& uuid);
  [[nodiscard]] bool holds() const { return socket_ >= 0; }
  /// What has it: "process 1234 of user 1000", or "another process".
  [[nodiscard]] static std::string holder(const std::string& uuid);

 private:
  int socket_ = -1;
};

enum class IfTaken : std::uint8_t { wait, refuse };

/// The lock of a device that is to be measured on. While another process has it this waits, and
/// says so once; with `refuse` (what --no-wait asks for) it throws Error(device). Holds nothing
/// when a signal asked to stop (see StopSignal), and for an emulated device: its predictions don't
/// depend on what else runs.
[[nodiscard]] DeviceLock lock_device(const Context& context, const DeviceInfo& info,
                                     IfTaken if_taken);

/// What is to be said when others use the device; "" when nothing is.
[[nodiscard]] std::string busy_text(const DeviceInfo& info, const DeviceLoad& others);
/// Warns when others keep a device busy that is about to be timed. This process, or its worker, has
/// it open and has launched nothing yet.
void warn_if_busy(const Context& context, const DeviceInfo& info);

}  // namespace kiln::tools
