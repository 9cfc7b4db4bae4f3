// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/records.hpp"
#include "runtime/compile/code_kind.hpp"
#include "templates/device_limits.hpp"
#include "templates/launch/launch_plan.hpp"

namespace kiln {

/// A device's limits and fingerprint.
struct DeviceInfo {
  std::string spec;  ///< how it was requested: "cuda:0", "emulated:h200"
  DeviceLimits limits;
  DeviceClass device_class;
  std::string driver;  ///< driver version text, "580.159.04 (CUDA 13.0)" or only the CUDA part
  std::string uuid;    ///< for people; never in a key
  std::int64_t total_memory_bytes = 0;
  CodeKind code = CodeKind::cubin;               ///< what load() takes
  Provenance provenance = Provenance::measured;  ///< of the times that replay() returns
  /// Multiply-adds of a problem that can be checked here in full; 0: any number. Candidates for
  /// larger problems are checked only on smaller ones.
  std::int64_t most_products = 0;
};

/// An address in device memory.
using DevicePtr = std::uintptr_t;

/// One loaded kernel function. Valid while its LoadedModule lives.
struct DeviceFunction {
  void* handle = nullptr;
  int max_threads = 1024;
};

/// A variable of a module: `__constant__` or `__device__`.
struct DeviceVariable {
  DevicePtr address = 0;
  std::int64_t bytes = 0;
};

/// A loaded cubin with its functions, in the order of the names given to load().
class LoadedModule {
 public:
  virtual ~LoadedModule() = default;
  [[nodiscard]] virtual std::span<const DeviceFunction> functions() const = 0;
  /// A variable at global scope; nothing if the code has none of that name. Thread-safe.
  [[nodiscard]] virtual std::optional<DeviceVariable> variable(const std::string& name) const = 0;
};

/// A launch that did not happen or did not finish well, as a value: the verdict belongs to the
/// candidate, not to the program. `sticky` means that the context is lost (illegal address, launch
/// failure, time-out): no later call on this device object can succeed.
struct DeviceStatus {
  enum class Code : std::uint8_t { ok, launch_failed, out_of_resources, faulted };
  Code code = Code::ok;
  std::string message;
  bool sticky = false;
  /// The launch ran to its end; what it did wrong was found by the device's checks.
  bool found = false;
  [[nodiscard]] bool ok() const { return code == Code::ok; }
};

/// Clock, power and temperature at one moment; zeros when unknown.
struct DeviceTelemetry {
  int sm_clock_mhz = 0;
  double power_w = 0.0;
  int temperature_c = 0;
};

/// One launch: function, geometry, and what the kernel is given: one struct by value or, if
/// `parameters` says where they begin, several parameters. geometry.values, if any, and the tensor
/// maps that geometry.maps plans follow.
struct LaunchRequest {
  DeviceFunction function;
  LaunchGeometry geometry;
  const void* arguments = nullptr;
  /// Size of the argument; a device that knows the kernel's parameters refuses any other. 0: as
  /// many bytes as the parameters take.
  std::size_t argument_bytes = 0;
  /// False for Kiln's own kernels (data, references, comparisons): a device with checks skips
  /// them there.
  bool checked = true;
  /// Byte offset of each parameter in the argument; empty: it is one.
  std::span<const std::uint16_t> parameters = {};
};

/// A recorded batch of runs that can be replayed and timed by the device's clock.
class TimedBatch {
 public:
  virtual ~TimedBatch() = default;
  /// Replays the whole batch once and waits; `total_ns` is the time of all its runs together.
  [[nodiscard]] virtual DeviceStatus replay(double& total_ns) = 0;
};

/// Where kernels run. Implementations: a CUDA GPU (runtime/cuda), an emulated one
/// (runtime/emulated), and a fake for tests.
///
/// Streams: every device object has one stream of its own. Copies, fills and synchronize() are
/// ordered with that stream and have finished when they return; record() enqueues on it. launch()
/// uses exactly the stream that it is given, and null there means CUDA's legacy default stream, as
/// everywhere in CUDA: pass own_stream() for a launch that a copy or synchronize() must see.
///
/// Methods that return void or a value throw Error(device) when they fail; launches return a
/// DeviceStatus. Thread-safe only where stated.
class Device {
 public:
  virtual ~Device() = default;

  [[nodiscard]] virtual const DeviceInfo& info() const = 0;
  [[nodiscard]] virtual std::int64_t free_memory_bytes() = 0;
  [[nodiscard]] virtual DeviceTelemetry telemetry() = 0;
  /// Joules that the device has used since a moment of its own choice, by a counter that grows in
  /// steps, some tens of milliseconds apart. Nothing on a device without one, as on an emulated
  /// one.
  [[nodiscard]] virtual std::optional<double> energy_j() { return std::nullopt; }
  /// The stream that this object's synchronous calls are ordered with.
  [[nodiscard]] virtual void* own_stream() const noexcept = 0;

  /// 256-byte aligned. Throws Error(device) when memory is short.
  [[nodiscard]] virtual DevicePtr allocate(std::int64_t bytes) = 0;
  /// The same, and what a device finds of it names `purpose`: "operand x".
  [[nodiscard]] virtual DevicePtr allocate_named(std::int64_t bytes,
                                                 const std::string& /*purpose*/) {
    return allocate(bytes);
  }
  /// Memory with exact bounds: an access outside the `bytes` bytes is in no allocation,
  /// so that the device reports it, naming `purpose`. The address is a multiple of
  /// `alignment` (a power of two) and, below 256, of no larger one. 0 on a device that cannot do
  /// so, such as a GPU, whose pages are larger. Throws Error(device) when memory is short.
  [[nodiscard]] virtual DevicePtr allocate_exact(std::int64_t /*bytes*/, int /*alignment*/,
                                                 const std::string& /*purpose*/) {
    return 0;
  }
  /// The same for what only predictions need: addresses that nothing is filled into and no result
  /// is read from, which costs no memory but what a few blocks touch of it, and counts against no
  /// limit. 0 on a device that has none.
  [[nodiscard]] virtual DevicePtr allocate_unbacked(std::int64_t /*bytes*/, int /*alignment*/,
                                                    const std::string& /*purpose*/) {
    return 0;
  }
  virtual void free(DevicePtr address) noexcept = 0;
  virtual void copy_to_device(DevicePtr to, const void* from, std::int64_t bytes) = 0;
  virtual void copy_to_host(void* to, DevicePtr from, std::int64_t bytes) = 0;
  virtual void fill(DevicePtr to, std::uint8_t value, std::int64_t bytes) = 0;
  /// From now on these bytes count as unwritten: a device with checks reports reads of them. They
  /// keep their values.
  virtual void forget_writes(DevicePtr /*at*/, std::int64_t /*bytes*/) {}

  /// Kernels have no business in what lies between rows of `row_bytes`, `pitch_bytes` apart, of the
  /// memory that begins at the address: a device with checks reports accesses there.
  virtual void guard_gaps(DevicePtr /*at*/, std::int64_t /*row_bytes*/,
                          std::int64_t /*pitch_bytes*/) {}

  /// Turns checks of launches on or off, which find races, reads of unwritten memory, missing waits
  /// and the like whatever the results. False on a device that has none.
  virtual bool use_checks(bool /*on*/) { return false; }
  /// What is odd about the launches with checks so far but not wrong, and forgets it; "" if nothing
  /// is.
  [[nodiscard]] virtual std::string take_remark() { return ""; }

  /// Loads code of the kind that info() names and finds its functions. The status reports a
  /// candidate's fault (a cubin that does not fit the device); then the result is null.
  /// Thread-safe.
  [[nodiscard]] virtual std::unique_ptr<LoadedModule> load(std::span<const std::byte> cubin,
                                                           const std::vector<std::string>& names,
                                                           DeviceStatus& status) = 0;

  /// Raises the function's dynamic shared-memory limit to `smem_bytes`; once per loaded function.
  [[nodiscard]] virtual DeviceStatus prepare(const DeviceFunction& function,
                                             std::uint32_t smem_bytes) = 0;

  /// Whether all blocks of the launch find room at once, which a cooperative one needs; ok for any
  /// other. After prepare().
  [[nodiscard]] virtual DeviceStatus check_residency(const DeviceFunction& /*function*/,
                                                     const LaunchGeometry& /*geometry*/) {
    return {};
  }

  /// Enqueues one launch on exactly `stream`; neither locks nor allocates (unless it fails);
  /// thread-safe.
  [[nodiscard]] virtual DeviceStatus launch(const LaunchRequest& request,
                                            void* stream) noexcept = 0;

  /// Enqueues a copy within the device's memory on exactly `stream`, as launch() does a launch.
  /// Either side may be a module's variable. Thread-safe.
  [[nodiscard]] virtual DeviceStatus copy_on_device(DevicePtr to, DevicePtr from,
                                                    std::int64_t bytes, void* stream) noexcept = 0;

  /// Waits for everything enqueued on own_stream(); faults of its kernels appear here.
  [[nodiscard]] virtual DeviceStatus synchronize() = 0;

  /// Waits for everything that this process enqueued on the device, whatever the stream. Not while
  /// a stream is being captured. Thread-safe.
  [[nodiscard]] virtual DeviceStatus synchronize_all() { return synchronize(); }

  /// Runs `work` with this device current for the calling thread, for libraries that use the
  /// current device (cuBLASLt). Thread-safe.
  virtual void with_current(const std::function<void()>& work) { work(); }

  /// Records `runs` runs of an operation for repeated timing. `enqueue(run, stream)` must put run
  /// number `run` (0-based; it selects a rotated buffer set) on `stream`, and nothing else. For
  /// cuda: one captured graph. Arguments are copied while recording. Null and a status when the
  /// recording fails.
  [[nodiscard]] virtual std::unique_ptr<TimedBatch> record(
      const std::function<DeviceStatus(int run, void* stream)>& enqueue, int runs,
      DeviceStatus& status) = 0;
};

/// Opens "cuda:N", "N" or "emulated:MODEL", the latter without checks. Throws Error(device) that
/// says what is missing and how to get it or do without, Error(usage) for any other text.
[[nodiscard]] std::unique_ptr<Device> open_device(const std::string& spec);

/// Whether `spec` asks for an emulated GPU: "emulated:...".
[[nodiscard]] bool names_emulated_device(std::string_view spec);

}  // namespace kiln
