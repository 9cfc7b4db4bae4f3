// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device.hpp"

namespace kiln::testing {

/// What the first line of a fake cubin may request. Faults appear where a GPU shows them: refusals
/// at launch(), faults and hangs at the next call that waits.
inline constexpr std::string_view kBehaveOk = "ok";
inline constexpr std::string_view kBehaveLoadFailed = "load_failed";
inline constexpr std::string_view kBehaveLaunchFailed = "launch_failed";
inline constexpr std::string_view kBehaveOutOfResources = "out_of_resources";
inline constexpr std::string_view kBehaveIllegalAddress = "illegal_address";  ///< sticky fault
inline constexpr std::string_view kBehaveHang = "hang";    ///< the next wait sleeps hang_s
inline constexpr std::string_view kBehaveCrash = "crash";  ///< SIGKILLs its own process
// The following are left to the host kernels, which see them in FakeLaunch::behaviour.
inline constexpr std::string_view kBehaveWrongResult = "wrong_result";
inline constexpr std::string_view kBehaveUnstable = "unstable";             ///< differs run by run
inline constexpr std::string_view kBehaveWritesOutside = "writes_outside";  ///< past the last row

/// A compiled kernel of the fake device: text. FakeCompiler writes it, FakeDevice::load reads it.
struct FakeCubin {
  std::string behaviour{kBehaveOk};
  double time_ns = 0.0;  ///< simulated time of one launch; 0: ask FakeDeviceOptions::time_ns
  std::vector<std::string> names;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::vector<std::byte> bytes() const;
  /// Nothing if the bytes are not a fake cubin.
  [[nodiscard]] static std::optional<FakeCubin> parse(std::span<const std::byte> bytes);
};

/// One launch as a host kernel sees it.
struct FakeLaunch {
  std::string_view name;       ///< lowered name; for rendered templates the name expression
  std::string_view behaviour;  ///< of its cubin
  std::uint64_t index = 0;     ///< counts the launches of the device object
  LaunchGeometry geometry;
  const void* arguments = nullptr;
  std::span<const std::uint16_t> parameters;  ///< LaunchRequest::parameters
};
using FakeKernel = std::function<void(const FakeLaunch&)>;

/// What a host kernel is declared with: where its parameters begin, and what all of them take.
struct FakeParameters {
  std::vector<std::uint16_t> offsets;
  std::size_t bytes = 0;
};

/// A fault planted on the device rather than in a cubin.
struct FakeFault {
  DeviceStatus status;       ///< what launch() returns, unless ok
  bool fault_later = false;  ///< launch() succeeds; the next wait reports `status`
  double hang_s = 0.0;       ///< the next wait sleeps as long first
};

struct FakeDeviceOptions {
  DeviceInfo info;  ///< an empty arch: an "H200" of sm_90a
  std::int64_t memory_bytes = 1LL << 30;
  /// Simulated time of one launch whose cubin says none; default 1000 ns.
  std::function<double(const FakeLaunch&)> time_ns;
  double noise = 0.0;  ///< relative deviation of a replay's time, from the seed below
  std::uint64_t seed = 1;
  double hang_s = 3600.0;
  /// Called before every launch.
  std::function<std::optional<FakeFault>(const FakeLaunch&)> fault;
  double watts = 0.0;                 ///< while replays run; 0: there is no counter of energy
  double energy_step_ns = 50e6;       ///< of busy time, after which that counter grows
  double sensed_watts = 350.0;        ///< what telemetry() says
  bool with_standard_kernels = true;  ///< gemm of any template, and the verification kernels
};

/// A device in host memory: addresses are host addresses, kernels are functions that run inside
/// launch(). Replays return simulated time and run nothing. Launches are thread-safe.
class FakeDevice : public Device {
 public:
  explicit FakeDevice(FakeDeviceOptions options = {});
  ~FakeDevice() override;
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;

  /// `name` is a whole lowered name, or the function's name before '<' for all its instances. With
  /// `parameters` a launch that gives any others is refused, as by devices that know them.
  void register_kernel(std::string name, FakeKernel kernel,
                       std::optional<FakeParameters> parameters = std::nullopt);

  [[nodiscard]] std::uint64_t launches() const { return launches_.load(); }
  [[nodiscard]] std::uint64_t replays() const { return replays_; }
  [[nodiscard]] std::uint64_t loads() const { return loads_.load(); }
  [[nodiscard]] std::size_t live_allocations() const;
  /// The stream of the latest launch, to test what a caller passed.
  [[nodiscard]] void* last_stream() const { return last_stream_.load(); }

  [[nodiscard]] const DeviceInfo& info() const override { return options_.info; }
  [[nodiscard]] std::int64_t free_memory_bytes() override;
  [[nodiscard]] DeviceTelemetry telemetry() override { return {1755, options_.sensed_watts, 45}; }
  [[nodiscard]] std::optional<double> energy_j() override;
  [[nodiscard]] void* own_stream() const noexcept override;
  [[nodiscard]] DevicePtr allocate(std::int64_t bytes) override;
  void free(DevicePtr address) noexcept override;
  void copy_to_device(DevicePtr to, const void* from, std::int64_t bytes) override;
  void copy_to_host(void* to, DevicePtr from, std::int64_t bytes) override;
  void fill(DevicePtr to, std::uint8_t value, std::int64_t bytes) override;
  [[nodiscard]] std::unique_ptr<LoadedModule> load(std::span<const std::byte> cubin,
                                                   const std::vector<std::string>& names,
                                                   DeviceStatus& status) override;
  [[nodiscard]] DeviceStatus prepare(const DeviceFunction& function,
                                     std::uint32_t smem_bytes) override;
  [[nodiscard]] DeviceStatus launch(const LaunchRequest& request, void* stream) noexcept override;
  /// Refused: the kernels of this device are functions of the host, and have no arrays.
  [[nodiscard]] DeviceStatus copy_on_device(DevicePtr to, DevicePtr from, std::int64_t bytes,
                                            void* stream) noexcept override;
  [[nodiscard]] DeviceStatus synchronize() override;
  [[nodiscard]] std::unique_ptr<TimedBatch> record(
      const std::function<DeviceStatus(int run, void* stream)>& enqueue, int runs,
      DeviceStatus& status) override;

 private:
  struct Function;
  class Module;
  class Batch;

  void require_alive(const char* what);
  void require_inside(DevicePtr address, std::int64_t bytes, const char* what) const;
  [[nodiscard]] DeviceStatus wait();
  [[nodiscard]] DeviceStatus start(const Function& function, const FakeLaunch& launch);

  FakeDeviceOptions options_;
  struct Registered {
    FakeKernel kernel;
    std::optional<FakeParameters> parameters;
  };
  std::map<std::string, Registered, std::less<>> kernels_;
  mutable std::mutex memory_mutex_;
  std::map<DevicePtr, std::int64_t> allocations_;
  std::int64_t used_bytes_ = 0;
  std::atomic<std::uint64_t> launches_{0};
  std::atomic<std::uint64_t> loads_{0};
  std::uint64_t replays_ = 0;
  double busy_ns_ = 0.0;  ///< of all replays
  std::atomic<void*> last_stream_{nullptr};
  std::mt19937_64 random_;
  std::mutex fault_mutex_;
  DeviceStatus pending_;  ///< a fault that the next wait reports
  double pending_hang_s_ = 0.0;
  std::atomic<bool> lost_{false};   ///< after a sticky fault
  double* recording_ns_ = nullptr;  ///< set while record() runs; launches add to it
};

/// DeviceInfo of a make-believe H200, from the published limits of sm_90a.
[[nodiscard]] DeviceInfo fake_device_info();

}  // namespace kiln::testing
