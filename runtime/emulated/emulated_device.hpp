// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "runtime/device.hpp"
#include "runtime/emulated/facts.hpp"
#include "runtime/emulated/global_memory.hpp"
#include "runtime/emulated/launch.hpp"
#include "runtime/emulated/report.hpp"

namespace kiln {

struct EmulationOptions {
  bool checks = false;      ///< looks for races, uninitialised reads and missing waits
  int host_threads = 0;     ///< 0: one per processor
  double timeout_s = 60.0;  ///< of one launch
  std::int64_t memory_bytes = std::int64_t{8} << 30;
};

/// A GPU that is emulated in this process: it executes the PTX of a kernel, and so shows whether
/// the kernel is right, on any machine. Everything happens inside the call: a launch has finished
/// when launch() returns. A fault ends that launch only; the device stays usable. Launches from
/// several threads run side by side.
class EmulatedDevice : public Device {
 public:
  /// `model` names the GPU: "h200". Throws Error(device) that lists those that there are.
  explicit EmulatedDevice(const std::string& model, const EmulationOptions& options = {});
  ~EmulatedDevice() override;
  EmulatedDevice(const EmulatedDevice&) = delete;
  EmulatedDevice& operator=(const EmulatedDevice&) = delete;

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] std::int64_t free_memory_bytes() override { return memory_.free_bytes(); }
  [[nodiscard]] DeviceTelemetry telemetry() override { return {}; }
  [[nodiscard]] void* own_stream() const noexcept override { return nullptr; }
  [[nodiscard]] DevicePtr allocate(std::int64_t bytes) override;
  void free(DevicePtr address) noexcept override;
  /// Copies and fills throw Error(device) where they reach outside an allocation.
  void copy_to_device(DevicePtr to, const void* from, std::int64_t bytes) override;
  void copy_to_host(void* to, DevicePtr from, std::int64_t bytes) override;
  void fill(DevicePtr to, std::uint8_t value, std::int64_t bytes) override;
  /// `code` is PTX text.
  [[nodiscard]] std::unique_ptr<LoadedModule> load(std::span<const std::byte> code,
                                                   const std::vector<std::string>& names,
                                                   DeviceStatus& status) override;
  [[nodiscard]] DeviceStatus prepare(const DeviceFunction& function,
                                     std::uint32_t smem_bytes) override;
  /// A finding of any kind makes the status `faulted`; its message is the first one's text.
  [[nodiscard]] DeviceStatus launch(const LaunchRequest& request, void* stream) noexcept override;
  [[nodiscard]] DeviceStatus synchronize() override { return {}; }
  /// Always fails: an emulated GPU has no time of its own.
  [[nodiscard]] std::unique_ptr<TimedBatch> record(
      const std::function<DeviceStatus(int run, void* stream)>& enqueue, int runs,
      DeviceStatus& status) override;

  /// Runs that many clusters of a launch, spread evenly over its grid (0: all of them), without
  /// checks, and counts what they do. Their results are written to memory as ever. A status that is
  /// not ok says why there are no facts.
  [[nodiscard]] emulated::FactSheet count(const LaunchRequest& request, int clusters,
                                          DeviceStatus& status);

  /// What the launches so far were found to do wrong, and forgets it.
  [[nodiscard]] std::vector<emulated::Report> take_reports();

 private:
  [[nodiscard]] const emulated::Allocation& piece(DevicePtr address, std::int64_t bytes,
                                                  const char* what) const;
  [[nodiscard]] DeviceStatus launch_or_throw(const LaunchRequest& request);
  [[nodiscard]] emulated::LaunchState state_of(const LaunchRequest& request);
  [[nodiscard]] DeviceStatus refusal_of(const emulated::LaunchState& state) const;

  EmulationOptions options_;
  DeviceInfo info_;
  emulated::GlobalMemory memory_;
  std::mutex reports_mutex_;
  std::vector<emulated::Report> reports_;
};

}  // namespace kiln
