// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

namespace kiln {

/// The context of a device that the CUDA runtime uses, kept alive as long as this object.
class PrimaryContext {
 public:
  /// Creates the context if there is none yet. Throws Error(device).
  explicit PrimaryContext(int ordinal);
  ~PrimaryContext();
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;

  [[nodiscard]] int ordinal() const { return ordinal_; }
  /// Makes it the calling thread's current context until pop(); false when CUDA refuses.
  [[nodiscard]] bool push() const noexcept;
  void pop() const noexcept;

 private:
  int ordinal_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  // The driver's functions are found at run time: a program must start where there is no driver.
  decltype(&cuCtxPushCurrent) push_ = nullptr;
  decltype(&cuCtxPopCurrent) pop_ = nullptr;
  decltype(&cuDevicePrimaryCtxRelease) release_ = nullptr;
};

/// Makes a device current for the calling thread and restores the former state. Which device is
/// current is the application's choice, so no call of ours may change it. Nor may it create a
/// context on the application's device, as cudaSetDevice would on the way back: a context takes
/// hundreds of megabytes, and the application may never use the device that is current by default.
class CurrentDevice {
 public:
  explicit CurrentDevice(const PrimaryContext& context) noexcept;
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  const PrimaryContext& context_;
  bool pushed_ = false;
};

}  // namespace kiln
