// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// fork() of a process that uses the library: the child is answered at once, whatever other threads
// were doing.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "kiln/library.hpp"
#include "runtime/compile/nvrtc_api.hpp"
#include "runtime/emulated/device/make_device.hpp"
#include "tests/fault/child_process.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::ChildProcess;

class ForkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    emulated::register_emulator();
    try {
      (void)NvrtcApi::load();
    } catch (const Error&) {
      GTEST_SKIP() << "no NVRTC here";
    }
  }
  [[nodiscard]] Library open() const {
    LibraryOptions options;
    options.database = folder_.file("tuning.db");
    options.cubin_store = folder_.file("cubins.db");
    options.device = "emulated:h200";
    return Library::open(options);
  }
  /// A child that hangs is ended by SIGALRM, which no check below accepts.
  static void limit_time() { ::alarm(20); }

  template <class Call>
  static void expect_refusal(const char* what, const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::usage) return;
      throw std::runtime_error(std::string(what) + ": " + error.what());
    }
    throw std::runtime_error(std::string(what) + " was no error");
  }

  const test::TempFolder folder_;
};

TEST_F(ForkTest, AChildMayNotUseTheParentsLibraryButOneOfItsOwn) {
  const Gemm problem = Gemm::of(DType::f16, 64, 64, 64);
  auto library = std::make_unique<Library>(open());
  const Kernel kernel = library->get(problem);
  auto memory = std::make_unique<DeviceMemory>(library->allocate(1024));
  ChildProcess child([&](int) {
    limit_time();
    char byte = 0;
    expect_refusal("get() of a known problem", [&] { (void)library->get(problem); });
    expect_refusal("get()", [&] { (void)library->get(Gemm::of(DType::f32, 32, 32, 32)); });
    expect_refusal("prepare()", [&] { library->prepare(std::vector<Gemm>()); });
    expect_refusal("launch()", [&] { kernel.launch(nullptr, {}); });
    expect_refusal("allocate()", [&] { (void)library->allocate(16); });
    expect_refusal("synchronize()", [&] { library->synchronize(); });
    expect_refusal("copy_from_host()", [&] { memory->copy_from_host(&byte, 1); });
    expect_refusal("copy_to_host()", [&] { memory->copy_to_host(&byte, 1); });
    memory.reset();
    library.reset();
    const Library own = open();
    if (own.get(problem).config() != kernel.config()) throw std::runtime_error("another kernel");
  });
  EXPECT_EQ(child.output(), "");
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(library->get(problem).config(), kernel.config());
  char byte = 1;
  memory->copy_from_host(&byte, 1);
}

TEST_F(ForkTest, WhileAnotherThreadGetsAKernelTheChildIsRefusedAtOnce) {
  const Library library = open();
  int refused = 0;
  for (const DType type : {DType::f16, DType::bf16, DType::f32}) {
    std::atomic<bool> begun{false};
    std::thread other([&] {
      begun = true;
      (void)library.get(Gemm::of(type, 64, 64, 64));
    });
    while (!begun) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ChildProcess child([&](int) {
      limit_time();
      expect_refusal("get()", [&] { (void)library.get(Gemm::of(DType::f64, 64, 64, 64)); });
      expect_refusal("open()", [&] { (void)open(); });
    });
    const std::string text = child.output();
    other.join();
    refused += child.wait() == 0 ? 1 : 0;
    // On a busy machine the fork may come too late.
    EXPECT_TRUE(child.wait() == 0 || text == "open() was no error") << child.wait() << text;
  }
  EXPECT_GT(refused, 0);
  ChildProcess child([&](int) {
    limit_time();
    (void)open().get(Gemm::of(DType::f16, 64, 64, 64));
  });
  EXPECT_EQ(child.output(), "");
  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace kiln
