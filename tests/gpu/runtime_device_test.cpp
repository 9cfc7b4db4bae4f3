// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The CUDA device on a real GPU: properties, memory, loading, launching, timing, refusals.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>

#include <stdexcept>
#include <vector>

#include "runtime/compile/compiler.hpp"
#include "tests/gpu/runtime_gpu.hpp"

namespace kiln::testing {
namespace {

constexpr const char* kSource = R"(
struct Args { int* data; int count; int value; };
extern "C" __global__ void add(Args args) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < args.count) args.data[i] += args.value;
}
extern "C" __global__ void __launch_bounds__(64) small(Args args) {
  extern __shared__ int scratch[];
  scratch[threadIdx.x] = args.value;
  __syncthreads();
  if (threadIdx.x == 0) args.data[0] = scratch[blockDim.x - 1];
}
)";

struct Args {
  int* data;
  int count;
  int value;
};

class RuntimeDeviceTest : public GpuTest {
 protected:
  std::unique_ptr<LoadedModule> load() {
    CompileRequest request;
    request.source = kSource;
    request.plain_names = {"add", "small"};
    request.arch = device_->info().limits.arch;
    const CompileResult compiled = make_nvrtc_compiler()->compile(request);
    EXPECT_TRUE(compiled.ok) << compiled.log;
    DeviceStatus status;
    auto module = device_->load(compiled.cubin, compiled.lowered_names, status);
    EXPECT_TRUE(status.ok()) << status.message;
    return module;
  }
  static LaunchGeometry geometry(std::uint32_t blocks, std::uint32_t threads,
                                 std::uint32_t smem_bytes = 0) {
    return {{blocks, 1, 1}, {threads, 1, 1}, {1, 1, 1}, smem_bytes};
  }
};

TEST_F(RuntimeDeviceTest, InfoIsSane) {
  const DeviceInfo& info = device_->info();
  EXPECT_EQ(info.spec, "cuda:0");
  EXPECT_EQ(info.limits.arch.substr(0, 3), "sm_");
  EXPECT_GE(info.limits.sm, 75);
  EXPECT_GT(info.limits.sm_count, 0);
  EXPECT_GT(info.limits.l2_bytes, 1 << 20);
  EXPECT_GE(info.limits.smem_optin, info.limits.smem_static);
  EXPECT_GE(info.limits.smem_per_sm, info.limits.smem_optin);
  EXPECT_EQ(info.limits.warp_size, 32);
  EXPECT_EQ(info.device_class.arch, info.limits.arch);
  EXPECT_FALSE(info.device_class.name.empty());
  EXPECT_FALSE(info.driver.empty());
  EXPECT_GT(info.total_memory_bytes, 0);
  EXPECT_LE(device_->free_memory_bytes(), info.total_memory_bytes);
  const DeviceTelemetry telemetry = device_->telemetry();
  EXPECT_GE(telemetry.sm_clock_mhz, 0);
  RecordProperty("device", info.device_class.canonical());
  RecordProperty("driver", info.driver);
}

TEST_F(RuntimeDeviceTest, MissingDeviceSaysWhatIsThere) {
  try {
    static_cast<void>(open_device("cuda:99"));
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("cuda:99"));
  }
}

TEST_F(RuntimeDeviceTest, LaunchesAreOrderedWithCopies) {
  const auto module = load();
  ASSERT_NE(module, nullptr);
  std::vector<int> data(1000, 5);
  const DevicePtr memory = device_->allocate(4000);
  EXPECT_EQ(memory % 256, 0U);
  device_->copy_to_device(memory, data.data(), 4000);
  const Args args{reinterpret_cast<int*>(memory), 1000, 7};
  EXPECT_TRUE(
      device_->launch({module->functions()[0], geometry(4, 256), &args}, device_->own_stream())
          .ok());
  device_->copy_to_host(data.data(), memory, 4000);
  EXPECT_THAT(data, ::testing::Each(12));
  device_->fill(memory, 0, 4000);
  device_->copy_to_host(data.data(), memory, 4000);
  EXPECT_THAT(data, ::testing::Each(0));
  device_->free(memory);
}

TEST_F(RuntimeDeviceTest, SharedMemoryBeyondTheStaticLimitNeedsPreparation) {
  const auto module = load();
  ASSERT_NE(module, nullptr);
  const DeviceFunction& small = module->functions()[1];
  EXPECT_EQ(small.max_threads, 64);
  const DevicePtr memory = device_->allocate(64);
  const Args args{reinterpret_cast<int*>(memory), 1, 9};
  const auto bytes = static_cast<std::uint32_t>(device_->info().limits.smem_optin);
  EXPECT_FALSE(device_->launch({small, geometry(1, 64, bytes), &args}, device_->own_stream()).ok());
  EXPECT_TRUE(device_->prepare(small, bytes).ok());
  EXPECT_TRUE(device_->launch({small, geometry(1, 64, bytes), &args}, device_->own_stream()).ok());
  int value = 0;
  device_->copy_to_host(&value, memory, 4);
  EXPECT_EQ(value, 9);
  EXPECT_FALSE(device_->prepare(small, bytes + 1024).ok());
  device_->free(memory);
}

TEST_F(RuntimeDeviceTest, RefusedLaunchLeavesTheDeviceUsable) {
  const auto module = load();
  ASSERT_NE(module, nullptr);
  const Args args{nullptr, 0, 0};
  const DeviceStatus refused =
      device_->launch({module->functions()[1], geometry(1, 128), &args}, device_->own_stream());
  EXPECT_FALSE(refused.ok());
  EXPECT_FALSE(refused.sticky);
  EXPECT_TRUE(device_->synchronize().ok());
  EXPECT_TRUE(
      device_->launch({module->functions()[0], geometry(1, 32), &args}, device_->own_stream())
          .ok());
  EXPECT_TRUE(device_->synchronize().ok());
}

TEST_F(RuntimeDeviceTest, ReplaysARecordedBatch) {
  const auto module = load();
  ASSERT_NE(module, nullptr);
  const DevicePtr memory = device_->allocate(4);
  device_->fill(memory, 0, 4);
  DeviceStatus status;
  const auto batch = device_->record(
      [&](int run, void* stream) {
        const Args args{reinterpret_cast<int*>(memory), 1, run};
        return device_->launch({module->functions()[0], geometry(1, 32), &args}, stream);
      },
      5, status);
  ASSERT_NE(batch, nullptr) << status.message;
  double total_ns = 0.0;
  EXPECT_TRUE(batch->replay(total_ns).ok());
  EXPECT_GT(total_ns, 1000.0);
  EXPECT_LT(total_ns, 1e9);
  int value = 0;
  device_->copy_to_host(&value, memory, 4);
  EXPECT_EQ(value, 2 * (0 + 1 + 2 + 3 + 4)) << "one warm replay and the timed one";
  device_->free(memory);
}

TEST_F(RuntimeDeviceTest, FailedRecordingIsAValueAndLeavesTheStreamUsable) {
  const auto module = load();
  ASSERT_NE(module, nullptr);
  DeviceStatus status;
  const Args args{nullptr, 0, 0};
  const auto batch = device_->record(
      [&](int, void* stream) {
        return device_->launch({module->functions()[1], geometry(1, 128), &args}, stream);
      },
      2, status);
  EXPECT_EQ(batch, nullptr);
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(device_->synchronize().ok());
}

TEST_F(RuntimeDeviceTest, ARecordingThatThrowsLeavesTheStreamUsable) {
  const auto module = load();
  ASSERT_NE(module, nullptr);
  const DevicePtr memory = device_->allocate(4);
  const Args args{reinterpret_cast<int*>(memory), 1, 1};
  const auto launch = [&](void* stream) {
    return device_->launch({module->functions()[0], geometry(1, 32), &args}, stream);
  };
  DeviceStatus status;
  const auto throwing = [&](int run, void* stream) {
    if (run == 1) throw std::runtime_error("planted");
    return launch(stream);
  };
  EXPECT_THROW(static_cast<void>(device_->record(throwing, 2, status)), std::runtime_error);
  device_->fill(memory, 0, 4);
  EXPECT_TRUE(launch(device_->own_stream()).ok());
  EXPECT_TRUE(device_->synchronize().ok());
  int value = 0;
  device_->copy_to_host(&value, memory, 4);
  EXPECT_EQ(value, 1);
  device_->free(memory);
}

/// Whether the process has created the primary context of a device.
bool has_context(int ordinal) {
  void* get_state = nullptr;
  cudaDriverEntryPointQueryResult result{};
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &get_state, 12000,
                                             cudaEnableDefault, &result),
            cudaSuccess);
  unsigned flags = 0;
  int active = 0;
  const auto call = reinterpret_cast<decltype(&cuDevicePrimaryCtxGetState)>(get_state);
  EXPECT_EQ(call(ordinal, &flags, &active), CUDA_SUCCESS);
  return active != 0;
}

/// Not in the fixture, which opens the first device.
TEST(RuntimeSecondDeviceTest, LeavesTheCurrentDeviceAsItIsAndWithoutAContext) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count < 2) GTEST_SKIP() << "needs two GPUs";
  if (has_context(0)) GTEST_SKIP() << "another test of this process used the first device";
  const auto second = open_device("cuda:1");
  const DevicePtr memory = second->allocate(1 << 20);
  second->fill(memory, 7, 1 << 20);
  std::uint8_t value = 0;
  second->copy_to_host(&value, memory + 12345, 1);
  EXPECT_EQ(value, 7);
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, reinterpret_cast<void*>(memory)), cudaSuccess);
  EXPECT_EQ(attributes.device, 1);
  second->free(memory);
  int current = -1;
  EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
  EXPECT_EQ(current, 0);
  second->with_current([&] { EXPECT_EQ(cudaGetDevice(&current), cudaSuccess); });
  EXPECT_EQ(current, 1);
  EXPECT_FALSE(has_context(0));
}

TEST_F(RuntimeDeviceTest, BrokenCubinIsAValue) {
  DeviceStatus status;
  const std::vector<std::byte> garbage(256, std::byte{1});
  EXPECT_EQ(device_->load(garbage, {"add"}, status), nullptr);
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(status.sticky);
}

}  // namespace
}  // namespace kiln::testing
