// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What an emulated GPU refuses, as a GPU does, and how.
#include "runtime/emulated/device/emulated_device.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <memory>
#include <span>
#include <string>

#include "runtime/compile/register_note.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"
#include "tests/unit/runtime/temporary_folder.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;

/// One kernel `k` without parameters, loaded.
struct Loaded {
  explicit Loaded(const std::string& text, const std::string& model = "h200") : device(model) {
    DeviceStatus status;
    module = device.load(std::as_bytes(std::span(text.data(), text.size())), {"k"}, status);
    EXPECT_TRUE(status.ok()) << status.message;
    request.function = module->functions().front();
    request.geometry.block = {32, 1, 1};
  }
  DeviceStatus launch() { return device.launch(request, nullptr); }

  EmulatedDevice device;
  std::unique_ptr<LoadedModule> module;
  LaunchRequest request;
};

constexpr auto kOutOfResources = DeviceStatus::Code::out_of_resources;

TEST(EmulatedDevice, ChecksCanBeTurnedOnForSomeLaunches) {
  Loaded kernel(emulated::test::kernel_text(
      ".shared .align 4 .b8 place[4]; .reg .b32 %r<2>; ld.shared.u32 %r1, [place]; ret;", 0));
  EXPECT_TRUE(kernel.launch().ok()) << "nobody looks";
  ASSERT_TRUE(kernel.device.use_checks(true));
  const DeviceStatus status = kernel.launch();
  EXPECT_EQ(status.code, DeviceStatus::Code::faulted);
  EXPECT_TRUE(status.found) << "the launch itself ran to its end";
  EXPECT_THAT(status.message, HasSubstr("uninitialised"));
  ASSERT_TRUE(kernel.device.use_checks(false));
  EXPECT_TRUE(kernel.launch().ok());

  EmulationOptions sparse;
  sparse.sparse_memory = true;
  EXPECT_FALSE(EmulatedDevice("h200", sparse).use_checks(true))
      << "it does not know what was written";
}

TEST(EmulatedDevice, StaticAndDynamicSharedMemoryTogetherMustFit) {
  const std::string text = emulated::test::kernel_text(".shared .align 4 .b8 place[4096]; ret;", 0);
  Loaded kernel(text);
  const auto most = static_cast<std::uint32_t>(kernel.device.info().limits.smem_optin);
  EXPECT_TRUE(kernel.device.prepare(kernel.request.function, most - 4096).ok());
  const DeviceStatus refused = kernel.device.prepare(kernel.request.function, most - 4095);
  EXPECT_EQ(refused.code, kOutOfResources);
  EXPECT_THAT(refused.message, HasSubstr("232449 bytes"));

  kernel.request.geometry.smem_bytes = most - 4095;
  EXPECT_EQ(kernel.launch().message, refused.message);
  kernel.request.geometry.smem_bytes = 0xfffff000U;  // 4096 more are 2^32
  EXPECT_EQ(kernel.launch().code, kOutOfResources);
  kernel.request.geometry.smem_bytes = most - 4096;
  EXPECT_TRUE(kernel.launch().ok());
}

TEST(EmulatedDevice, ABlockNeedsItsRegisters) {
  const std::string text = emulated::test::kernel_text("ret;", 0);
  Loaded kernel(text + register_note({{"k", 128}}));
  kernel.request.geometry.block = {512, 1, 1};
  EXPECT_TRUE(kernel.launch().ok());
  kernel.request.geometry.block = {1024, 1, 1};
  const DeviceStatus refused = kernel.launch();
  EXPECT_EQ(refused.code, kOutOfResources);
  EXPECT_THAT(refused.message, HasSubstr("1024 threads with 128 registers each"));
  EXPECT_THAT(
      refused.message,
      HasSubstr(
          "does not fit on a multiprocessor of this device; the limiting resource: registers"));
  DeviceStatus status;
  static_cast<void>(kernel.device.predict(kernel.request, status));
  EXPECT_EQ(status.message, refused.message);
}

TEST(EmulatedDevice, ABlockHasAsManyThreadsAsTheProfileAllows) {
  Loaded kernel(emulated::test::kernel_text("ret;", 0));
  kernel.request.geometry.block = {2048, 1, 1};
  const DeviceStatus refused = kernel.launch();
  EXPECT_EQ(refused.code, kOutOfResources);
  EXPECT_THAT(refused.message, HasSubstr("2048 threads exceed this device's limit for a block"));
}

TEST(EmulatedDevice, VariablesOfAModuleCanBeCopiedTo) {
  Loaded kernel(
      ".version 9.0\n.target sm_90a\n.address_size 64\n"
      ".const .align 4 .b8 weights[12];\n.global .align 4 .u32 counter = 7;\n"
      ".visible .entry k() { ret; }\n");
  EmulatedDevice& device = kernel.device;
  EXPECT_FALSE(kernel.module->variable("weight"));
  const auto weights = kernel.module->variable("weights");
  const auto counter = kernel.module->variable("counter");
  ASSERT_TRUE(weights && counter);
  EXPECT_EQ(weights->bytes, 12);
  EXPECT_EQ(counter->bytes, 4);
  ASSERT_TRUE(device.copy_on_device(weights->address + 4, counter->address, 4, nullptr).ok());
  std::array<std::uint32_t, 3> values{};
  device.copy_to_host(values.data(), weights->address, 12);
  EXPECT_EQ(values, (std::array<std::uint32_t, 3>{0, 7, 0}));
  const DeviceStatus refused =
      device.copy_on_device(weights->address, counter->address, 8, nullptr);
  EXPECT_THAT(refused.message, HasSubstr("not inside one allocation"));
}

constexpr const char* kPair =
    ".version 9.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k() .explicitcluster .reqnctapercluster 2, 1, 1 {\n"
    ".reg .pred %p<2>; .reg .b32 %r<2>;\n"
    "mov.u32 %r1, %cluster_nctarank; setp.ne.u32 %p1, %r1, 2; @%p1 trap; ret; }\n";

TEST(EmulatedDevice, AKernelThatStatesItsClusterGetsIt) {
  Loaded kernel(kPair);
  kernel.request.geometry.grid = {4, 1, 1};
  EXPECT_TRUE(kernel.launch().ok()) << kernel.launch().message;
  kernel.request.geometry.cluster = {2, 1, 1};
  EXPECT_TRUE(kernel.launch().ok()) << kernel.launch().message;
  kernel.request.geometry.cluster = {4, 1, 1};
  EXPECT_THAT(kernel.launch().message,
              HasSubstr("clusters of 4 x 1 x 1 blocks, but the kernel requires 2 x 1 x 1"));
  kernel.request.geometry.cluster = {1, 1, 1};
  kernel.request.geometry.grid = {3, 1, 1};
  EXPECT_THAT(kernel.launch().message, HasSubstr("not a multiple of the size of the cluster"));
}

TEST(EmulatedDevice, AShapeThatIsRefusedIsNotCountedEither) {
  std::string text = kPair;
  const std::string along_x = "2, 1, 1";
  text.replace(text.find(along_x), along_x.size(), "1, 2, 1");
  Loaded kernel(text);
  kernel.request.geometry.grid = {4, 1, 1};
  const std::string refused = kernel.launch().message;
  EXPECT_THAT(refused, HasSubstr("not a multiple"));
  DeviceStatus status;
  static_cast<void>(kernel.device.count(kernel.request, 1, status));
  EXPECT_EQ(status.message, refused);
  static_cast<void>(kernel.device.predict(kernel.request, status));
  EXPECT_EQ(status.message, refused);
}

TEST(EmulatedDevice, KernelsOfAModuleHaveTheirOwnRegisters) {
  const std::string text = emulated::test::kernel_text("ret;", 0) + ".entry large() { ret; }\n" +
                           register_note({{"k", 32}, {"large", 168}});
  Loaded kernel(text);
  kernel.request.geometry.block = {1024, 1, 1};
  EXPECT_TRUE(kernel.launch().ok()) << kernel.launch().message;
}

TEST(EmulatedDevice, AProfileThatIsNamedLikeItsFileIsStillOnesOwn) {
  std::string text = profile_text(profile_of("h200"));
  const std::string name = "name = \"h200\"";
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("mine.toml");
  text.replace(text.find(name), name.size(), "name = \"" + path + "\"");
  std::ofstream(path) << text;
  EXPECT_EQ(EmulatedDevice("h200").info().driver, "emulated");
  EXPECT_THAT(EmulatedDevice(path).info().driver, HasSubstr("emulated by profile "));
}

// The slowest that a profile may say, times a kernel that does it often: no time, and no crash.
TEST(EmulatedDevice, WhatTakesFarTooLongIsNoTime) {
  const std::string slow = [] {
    std::string text = profile_text(profile_of("h200"));
    const std::string key = "\nalu = ";
    return text.replace(text.find(key), key.size(), "\nalu = 1e6 # ");
  }();
  const testing::TemporaryFolder folder;
  std::ofstream(folder.file("slow.toml")) << slow;
  Loaded kernel(emulated::test::kernel_text(R"(
    .reg .pred %p<2>; .reg .b32 %r<3>;
    mov.u32 %r1, 0;
  again:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 1000;
    @%p1 bra again;
    ret;
  )",
                                            0),
                folder.file("slow.toml"));
  DeviceStatus status;
  static_cast<void>(kernel.device.predict(kernel.request, status));
  EXPECT_EQ(status.code, DeviceStatus::Code::launch_failed);
  EXPECT_THAT(status.message, HasSubstr("Kiln cannot predict a time"));
}

// The block that is traced ends at once, and so its others are worth a look, which has to end, too.
TEST(EmulatedDevice, BlocksThatNeverEndDoNotHoldUpThePredictionForOneThatDoes) {
  Loaded kernel(emulated::test::kernel_text(R"(
    .reg .pred %p<2>; .reg .b32 %r<3>;
    mov.u32 %r1, %ctaid.x;
    setp.eq.u32 %p1, %r1, 2112;
    @%p1 ret;
  again:
    bra again;
  )",
                                            0));
  kernel.request.geometry.grid = {4224, 1, 1};
  DeviceStatus status;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_GT(kernel.device.predict(kernel.request, status).time_ns, 0.0);
  EXPECT_TRUE(status.ok()) << status.message;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
}

/// `working` blocks copy a word as often as `times`, the others end at once.
std::string first_blocks_work(int working, int times) {
  return emulated::test::kernel_text(fmt::format(R"(
    .reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
    mov.u32 %r1, %ctaid.x;
    setp.ge.u32 %p1, %r1, {};
    @%p1 ret;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r2, 0;
  again:
    ld.volatile.global.u32 %r3, [%rd1];
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p2, %r2, {};
    @%p2 bra again;
    ret;
  )",
                                                 working, times),
                                     1);
}

TEST(EmulatedDevice, IdleBlocksOfAGridThatIsTooLargeAreNotAllThatIsSeen) {
  const auto launched = [](int grid) {
    Loaded kernel(first_blocks_work(4, 200));
    const DevicePtr memory = kernel.device.allocate(4);
    kernel.request.arguments = &memory;
    kernel.request.argument_bytes = sizeof(memory);
    kernel.request.geometry.grid = {static_cast<std::uint32_t>(grid), 1, 1};
    DeviceStatus status;
    const double time_ns = kernel.device.predict(kernel.request, status).time_ns;
    EXPECT_TRUE(status.ok()) << status.message;
    EXPECT_GT(kernel.device.count(kernel.request, 4, status).total().global_requests, 0U);
    return time_ns;
  };
  EXPECT_GE(launched(1000), 0.95 * launched(4));
}

TEST(EmulatedDevice, ChecksCountTheBlocksThatTouchNoMemory) {
  Loaded kernel(first_blocks_work(4, 1));
  const DevicePtr memory = kernel.device.allocate(4);
  kernel.device.fill(memory, 0, 4);
  kernel.request.arguments = &memory;
  kernel.request.argument_bytes = sizeof(memory);
  ASSERT_TRUE(kernel.device.use_checks(true));
  for (const std::uint32_t grid : {3U, 100U, 5U}) {
    kernel.request.geometry.grid = {grid, 1, 1};
    EXPECT_TRUE(kernel.launch().ok());
  }
  EXPECT_EQ(
      kernel.device.take_remark(),
      "96 of 100 blocks of k neither read nor write global memory; the grid may be too large");
  EXPECT_EQ(kernel.device.take_remark(), "");
}

TEST(EmulatedDevice, AFindingNamesTheMemoryThatHasAName) {
  Loaded kernel(
      emulated::test::kernel_text(".reg .b32 %r<2>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [p0]; "
                                  "ld.global.u32 %r1, [%rd1+4]; ret;",
                                  1));
  const DevicePtr memory = kernel.device.allocate_named(4, "operand x");
  kernel.request.arguments = &memory;
  kernel.request.argument_bytes = sizeof(memory);
  EXPECT_THAT(kernel.launch().message, HasSubstr("operand x (4 bytes)"));
}

/// Bytes of memory that this process has in use.
std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0;
  std::int64_t resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(EmulatedDevice, SparseMemoryCostsWhatIsTouched) {
  EmulationOptions options;
  options.sparse_memory = true;
  options.memory_bytes = std::int64_t{1} << 40;
  EmulatedDevice device("h200", options);
  const std::int64_t bytes = (std::int64_t{256} << 30) + 12345;
  const std::int64_t before = resident_bytes();
  const DevicePtr start = device.allocate(bytes);
  EXPECT_EQ(device.free_memory_bytes() / (1 << 20), (std::int64_t{768} << 10) - 1);
  const std::array<std::uint8_t, 4> mark{1, 2, 3, 4};
  const auto read = [&](std::int64_t offset) {
    std::array<std::uint8_t, 4> found{};
    device.copy_to_host(found.data(), start + static_cast<DevicePtr>(offset), 4);
    return found;
  };
  const std::int64_t middle = bytes / 2;
  for (const std::int64_t offset : {std::int64_t{0}, middle, bytes - 4}) {
    EXPECT_EQ(read(offset), (std::array<std::uint8_t, 4>{})) << "fresh memory is zeros";
    device.copy_to_device(start + static_cast<DevicePtr>(offset), mark.data(), 4);
    EXPECT_EQ(read(offset), mark);
  }
  // All but the first and the last byte.
  device.fill(start + 1, 0, bytes - 2);
  EXPECT_EQ(read(0), (std::array<std::uint8_t, 4>{1, 0, 0, 0}));
  EXPECT_EQ(read(middle), (std::array<std::uint8_t, 4>{}));
  EXPECT_EQ(read(bytes - 4), (std::array<std::uint8_t, 4>{0, 0, 0, 4}));
  EXPECT_LT(resident_bytes() - before, std::int64_t{64} << 20);
  device.free(start);
  EXPECT_EQ(device.free_memory_bytes(), options.memory_bytes);
}

TEST(EmulatedDevice, MemoryShowsWhatNobodyWroteUnlessItIsSparse) {
  for (const std::int64_t bytes : {std::int64_t{64}, std::int64_t{4} << 20}) {
    EmulatedDevice device("h200");
    const DevicePtr start = device.allocate(bytes);
    std::uint8_t last = 0;
    device.copy_to_host(&last, start + static_cast<DevicePtr>(bytes - 1), 1);
    EXPECT_EQ(last, 0xcd);
    device.fill(start, 0, bytes);
    device.copy_to_host(&last, start + static_cast<DevicePtr>(bytes - 1), 1);
    EXPECT_EQ(last, 0);
  }
}

// The checker compares a store with what memory holds. While another host thread has announced its
// store and not yet made it, that is the old value: equal stores would be reported now and then.
TEST(EmulatedDevice, StoresOfOneValueMayRaceHoweverManyHostThreadsThereAre) {
  EmulatedDevice device("h200", EmulationOptions{.checks = true, .host_threads = 8});
  // In turns half the blocks are slow, so that the others overtake them again and again.
  const std::string text = emulated::test::kernel_text(R"(
    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2;
    mov.u32 %r2, 0;
    mov.u32 %r3, 1;
  AGAIN:
    st.global.u32 [%rd1], %r3;
    shr.u32 %r4, %r2, 4;
    mov.u32 %r5, %ctaid.x;
    xor.b32 %r4, %r4, %r5;
    and.b32 %r4, %r4, 1;
    mul.lo.u32 %r4, %r4, 40;
  LATER:
    setp.eq.u32 %p1, %r4, 0;
    @%p1 bra NEXT;
    sub.u32 %r4, %r4, 1;
    bra LATER;
  NEXT:
    add.s64 %rd1, %rd1, 128;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 1024;
    @%p1 bra AGAIN;
    ret;)",
                                                       1);
  DeviceStatus status;
  const auto module = device.load(std::as_bytes(std::span(text)), {"k"}, status);
  ASSERT_TRUE(status.ok()) << status.message;
  const DevicePtr words = device.allocate(1024 * 128);
  LaunchRequest request;
  request.function = module->functions().front();
  request.arguments = &words;
  request.argument_bytes = sizeof(words);
  request.geometry.grid = {8, 1, 1};
  request.geometry.block = {32, 1, 1};
  request.geometry.allowed = static_cast<std::uint8_t>(Allowed::race_same_value);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int kLaunches = 2;  // sanitizers look at memory, and make each twenty times as long
#else
  constexpr int kLaunches = 40;
#endif
  for (int launch = 0; launch < kLaunches; ++launch) {
    device.fill(words, 0, 1024 * 128);
    status = device.launch(request, nullptr);
    ASSERT_TRUE(status.ok()) << launch << ": " << status.message;
  }
}

}  // namespace
}  // namespace kiln
