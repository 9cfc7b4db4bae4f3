// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "kiln/error.hpp"
#include "tests/support/host_kernels.hpp"

namespace kiln::testing {
namespace {

using Code = DeviceStatus::Code;

DeviceStatus lost_context() {
  return {Code::faulted, "the fake device is lost after a fault", true};
}

}  // namespace

struct FakeDevice::Function {
  std::string name;
  std::string behaviour;
  double time_ns = 0.0;
  Registered registered;

  /// Why the launch does not give what the kernel takes; "" if it does.
  [[nodiscard]] std::string why_wrong_arguments(const LaunchRequest& request) const {
    if (!registered.parameters) return "";
    const auto& [offsets, bytes] = *registered.parameters;
    if (request.argument_bytes != bytes) {
      return fmt::format("{} takes {} bytes of parameters, and the launch gives {}", name, bytes,
                         request.argument_bytes);
    }
    if (!std::ranges::equal(request.parameters, offsets)) {
      return fmt::format("{} has {} parameters, and the launch gives {}, or at other places", name,
                         offsets.size(), request.parameters.size());
    }
    return "";
  }
};

class FakeDevice::Module : public LoadedModule {
 public:
  void add(Function function) {
    owned_.push_back(std::make_unique<Function>(std::move(function)));
    functions_.push_back({owned_.back().get(), 1024});
  }
  [[nodiscard]] std::span<const DeviceFunction> functions() const override { return functions_; }
  [[nodiscard]] std::optional<DeviceVariable> variable(const std::string&) const override {
    return std::nullopt;
  }

 private:
  std::vector<std::unique_ptr<Function>> owned_;
  std::vector<DeviceFunction> functions_;
};

class FakeDevice::Batch : public TimedBatch {
 public:
  Batch(FakeDevice& device, double total_ns) : device_(device), total_ns_(total_ns) {}
  [[nodiscard]] DeviceStatus replay(double& total_ns) override {
    DeviceStatus status = device_.wait();
    if (!status.ok()) return status;
    ++device_.replays_;
    double factor = 1.0;
    if (device_.options_.noise > 0.0) {
      std::normal_distribution<double> deviation(0.0, device_.options_.noise);
      factor = std::max(0.1, 1.0 + deviation(device_.random_));
    }
    total_ns = total_ns_ * factor;
    device_.busy_ns_ += total_ns;
    return status;
  }

 private:
  FakeDevice& device_;
  double total_ns_;
};

FakeDevice::FakeDevice(FakeDeviceOptions options)
    : options_(std::move(options)), random_(options_.seed) {
  if (options_.info.limits.arch.empty()) options_.info = fake_device_info();
  options_.info.total_memory_bytes = options_.memory_bytes;
  if (!options_.time_ns) options_.time_ns = [](const FakeLaunch&) { return 1000.0; };
  if (options_.with_standard_kernels) register_verification_kernels(*this);
}

FakeDevice::~FakeDevice() {
  for (const auto& [address, bytes] : allocations_) std::free(reinterpret_cast<void*>(address));
}

void FakeDevice::register_kernel(std::string name, FakeKernel kernel,
                                 std::optional<FakeParameters> parameters) {
  kernels_[std::move(name)] = {std::move(kernel), std::move(parameters)};
}

std::size_t FakeDevice::live_allocations() const {
  const std::lock_guard lock(memory_mutex_);
  return allocations_.size();
}

std::int64_t FakeDevice::free_memory_bytes() {
  const std::lock_guard lock(memory_mutex_);
  return options_.memory_bytes - used_bytes_;
}

std::optional<double> FakeDevice::energy_j() {
  if (options_.watts <= 0.0) return std::nullopt;
  const double steps = std::floor(busy_ns_ / options_.energy_step_ns);
  return options_.watts * steps * options_.energy_step_ns / 1e9;
}

void* FakeDevice::own_stream() const noexcept {
  // Any address that is neither null nor another device's works.
  return const_cast<FakeDevice*>(this);
}

DevicePtr FakeDevice::allocate(std::int64_t bytes) {
  require_alive("allocate");
  const std::lock_guard lock(memory_mutex_);
  if (bytes > options_.memory_bytes - used_bytes_) {
    throw Error(ErrorKind::device,
                fmt::format("out of fake device memory: {} bytes wanted, {} free", bytes,
                            options_.memory_bytes - used_bytes_));
  }
  const std::size_t rounded = (static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)) + 255) &
                              ~static_cast<std::size_t>(255);
  void* memory = std::aligned_alloc(256, rounded);
  if (memory == nullptr) throw Error(ErrorKind::device, "the host is out of memory");
  // Reads of unwritten memory get an odd value.
  std::memset(memory, 0xA5, rounded);
  const auto address = reinterpret_cast<DevicePtr>(memory);
  allocations_[address] = bytes;
  used_bytes_ += bytes;
  return address;
}

void FakeDevice::free(DevicePtr address) noexcept {
  const std::lock_guard lock(memory_mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return;
  used_bytes_ -= found->second;
  allocations_.erase(found);
  std::free(reinterpret_cast<void*>(address));
}

void FakeDevice::require_alive(const char* what) {
  if (lost_) throw Error(ErrorKind::device, fmt::format("{}: {}", what, lost_context().message));
}

void FakeDevice::require_inside(DevicePtr address, std::int64_t bytes, const char* what) const {
  const std::lock_guard lock(memory_mutex_);
  auto next = allocations_.upper_bound(address);
  if (next != allocations_.begin()) {
    const auto& [start, size] = *std::prev(next);
    if (static_cast<std::int64_t>(address - start) + bytes <= size) return;
  }
  throw Error(ErrorKind::device, fmt::format("{}: {} bytes outside every allocation", what, bytes));
}

void FakeDevice::copy_to_device(DevicePtr to, const void* from, std::int64_t bytes) {
  if (const DeviceStatus status = wait(); !status.ok())
    throw Error(ErrorKind::device, status.message);
  require_inside(to, bytes, "copy_to_device");
  std::memcpy(reinterpret_cast<void*>(to), from, static_cast<std::size_t>(bytes));
}

DeviceStatus FakeDevice::copy_on_device(DevicePtr to, DevicePtr from, std::int64_t bytes,
                                        void*) noexcept {
  try {
    if (const DeviceStatus status = wait(); !status.ok()) return status;
    require_inside(to, bytes, "copy_on_device");
    require_inside(from, bytes, "copy_on_device");
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from),
                static_cast<std::size_t>(bytes));
    return {};
  } catch (const std::exception& error) {
    return {DeviceStatus::Code::launch_failed, error.what(), false};
  }
}

void FakeDevice::copy_to_host(void* to, DevicePtr from, std::int64_t bytes) {
  if (const DeviceStatus status = wait(); !status.ok())
    throw Error(ErrorKind::device, status.message);
  require_inside(from, bytes, "copy_to_host");
  std::memcpy(to, reinterpret_cast<const void*>(from), static_cast<std::size_t>(bytes));
}

void FakeDevice::fill(DevicePtr to, std::uint8_t value, std::int64_t bytes) {
  if (const DeviceStatus status = wait(); !status.ok())
    throw Error(ErrorKind::device, status.message);
  require_inside(to, bytes, "fill");
  std::memset(reinterpret_cast<void*>(to), value, static_cast<std::size_t>(bytes));
}

std::unique_ptr<LoadedModule> FakeDevice::load(std::span<const std::byte> cubin,
                                               const std::vector<std::string>& names,
                                               DeviceStatus& status) {
  if (lost_) {
    status = lost_context();
    return nullptr;
  }
  const std::optional<FakeCubin> content = FakeCubin::parse(cubin);
  if (!content || content->behaviour == kBehaveLoadFailed) {
    status = {Code::launch_failed, "the fake device cannot load this cubin", false};
    return nullptr;
  }
  auto module = std::make_unique<Module>();
  for (const std::string& name : names) {
    if (std::find(content->names.begin(), content->names.end(), name) == content->names.end()) {
      status = {Code::launch_failed, fmt::format("no kernel '{}' in the cubin", name), false};
      return nullptr;
    }
    auto kernel = kernels_.find(name);
    if (kernel == kernels_.end()) kernel = kernels_.find(name.substr(0, name.find('<')));
    Registered function;
    if (kernel != kernels_.end()) {
      function = kernel->second;
    } else if (options_.with_standard_kernels && name.find('<') != std::string::npos) {
      function.kernel = host_gemm;
    } else {
      status = {Code::launch_failed, fmt::format("no host kernel registered for '{}'", name),
                false};
      return nullptr;
    }
    module->add({name, content->behaviour, content->time_ns, std::move(function)});
  }
  ++loads_;
  status = {};
  return module;
}

DeviceStatus FakeDevice::prepare(const DeviceFunction& function, std::uint32_t smem_bytes) {
  if (lost_) return lost_context();
  if (function.handle == nullptr) return {Code::launch_failed, "no function", false};
  if (smem_bytes > static_cast<std::uint32_t>(options_.info.limits.smem_optin)) {
    return {Code::out_of_resources, fmt::format("{} bytes of shared memory", smem_bytes), false};
  }
  return {};
}

DeviceStatus FakeDevice::launch(const LaunchRequest& request, void* stream) noexcept {
  if (lost_) return lost_context();
  const auto& function = *static_cast<const Function*>(request.function.handle);
  const FakeLaunch launch{function.name,    function.behaviour, launches_++,
                          request.geometry, request.arguments,  request.parameters};
  last_stream_ = stream;
  const auto& block = request.geometry.block;
  if (block[0] * block[1] * block[2] > 1024U) {
    return {Code::launch_failed, "more than 1024 threads in a block", false};
  }
  if (std::string why = function.why_wrong_arguments(request); !why.empty()) {
    return {Code::launch_failed, std::move(why), false};
  }
  return start(function, launch);
}

DeviceStatus FakeDevice::start(const Function& function, const FakeLaunch& launch) {
  if (options_.fault) {
    if (const auto fault = options_.fault(launch)) {
      if (!fault->fault_later && !fault->status.ok()) return fault->status;
      const std::lock_guard lock(fault_mutex_);
      if (fault->fault_later) pending_ = fault->status;
      pending_hang_s_ = fault->hang_s;
    }
  }
  const std::string_view behaviour = function.behaviour;
  if (behaviour == kBehaveLaunchFailed)
    return {Code::launch_failed, "invalid configuration", false};
  if (behaviour == kBehaveOutOfResources) {
    return {Code::out_of_resources, "too many resources requested for launch", false};
  }
  if (behaviour == kBehaveCrash) std::raise(SIGKILL);
  if (behaviour == kBehaveIllegalAddress || behaviour == kBehaveHang) {
    const std::lock_guard lock(fault_mutex_);
    pending_ = {Code::faulted, "an illegal memory access was encountered", true};
    if (behaviour == kBehaveHang) pending_hang_s_ = options_.hang_s;
    return {};
  }
  if (recording_ns_ != nullptr) {
    *recording_ns_ += function.time_ns > 0.0 ? function.time_ns : options_.time_ns(launch);
  } else {
    function.registered.kernel(launch);
  }
  return {};
}

DeviceStatus FakeDevice::wait() {
  DeviceStatus status;
  double hang_s = 0.0;
  {
    const std::lock_guard lock(fault_mutex_);
    std::swap(status, pending_);
    std::swap(hang_s, pending_hang_s_);
  }
  if (hang_s > 0.0) std::this_thread::sleep_for(std::chrono::duration<double>(hang_s));
  if (status.sticky) lost_ = true;
  if (status.ok() && lost_) return lost_context();
  return status;
}

DeviceStatus FakeDevice::synchronize() {
  return wait();
}

std::unique_ptr<TimedBatch> FakeDevice::record(
    const std::function<DeviceStatus(int run, void* stream)>& enqueue, int runs,
    DeviceStatus& status) {
  double total_ns = 0.0;
  recording_ns_ = &total_ns;
  try {
    for (int run = 0; run < runs; ++run) {
      status = lost_ ? lost_context() : enqueue(run, own_stream());
      if (!status.ok()) break;
    }
  } catch (...) {
    recording_ns_ = nullptr;
    throw;
  }
  recording_ns_ = nullptr;
  if (!status.ok()) return nullptr;
  return std::make_unique<Batch>(*this, total_ns);
}

DeviceInfo fake_device_info() {
  DeviceInfo info;
  info.spec = "fake:0";
  if (const auto limits = limits_of_arch("sm_90a")) info.limits = *limits;
  info.device_class = {"Fake H200", info.limits.arch, info.limits.sm_count, info.limits.l2_bytes,
                       ""};
  info.driver = "99.0";
  info.uuid = "fake";
  return info;
}

}  // namespace kiln::testing
