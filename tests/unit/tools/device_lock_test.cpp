// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/device_lock.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include "kiln/error.hpp"
#include "tests/support/fake_device.hpp"
#include "tools/stop_signal.hpp"

namespace kiln::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A GPU that no other test, in any process, has.
DeviceInfo own_device() {
  DeviceInfo info = testing::fake_device_info();
  info.spec = "cuda:0";
  info.uuid = "GPU-of-a-test-" + random_id();
  return info;
}

/// Another process that holds the lock until it is killed.
class Holder {
 public:
  explicit Holder(const std::string& uuid) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      DeviceLock lock;
      const char held = lock.try_lock(uuid) ? 'y' : 'n';
      (void)!::write(ends[1], &held, 1);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    char held = 'n';
    EXPECT_EQ(::read(ends[0], &held, 1), 1);
    EXPECT_EQ(held, 'y');
    ::close(ends[0]);
  }
  ~Holder() { end(); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

TEST(DeviceLocks, OneProcessHasADeviceUntilItIsGone) {
  const std::string uuid = own_device().uuid;
  Holder holder(uuid);
  DeviceLock lock;
  EXPECT_FALSE(lock.try_lock(uuid));
  EXPECT_FALSE(lock.holds());
  EXPECT_EQ(DeviceLock::holder(uuid),
            fmt::format("process {} of user {}", holder.pid(), ::geteuid()));
  DeviceLock other_device;
  EXPECT_TRUE(other_device.try_lock(own_device().uuid));
  holder.end();
  EXPECT_TRUE(lock.try_lock(uuid));
  {
    const DeviceLock moved = std::move(lock);
    EXPECT_TRUE(moved.holds());
    EXPECT_FALSE(DeviceLock().try_lock(uuid));
  }
  EXPECT_TRUE(DeviceLock().try_lock(uuid));
}

TEST(DeviceLocks, ASecondRunWaitsAndSaysForWhom) {
  const Context context;
  const DeviceInfo info = own_device();
  Holder holder(info.uuid);
  ::testing::internal::CaptureStderr();
  std::thread ends_soon([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    holder.end();
  });
  const auto start = std::chrono::steady_clock::now();
  const std::string name = fmt::format("process {}", holder.pid());
  const DeviceLock lock = lock_device(context, info, IfTaken::wait);
  const auto waited = std::chrono::steady_clock::now() - start;
  ends_soon.join();
  EXPECT_TRUE(lock.holds());
  EXPECT_GE(waited, std::chrono::milliseconds(250));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("cuda:0"), HasSubstr(name), HasSubstr("waiting"),
                    Not(HasSubstr("--no-wait"))))
      << "not every verb that waits has the flag";
}

TEST(DeviceLocks, ASecondRunThatMustNotWaitIsRefused) {
  const Context context;
  const DeviceInfo info = own_device();
  const Holder holder(info.uuid);
  try {
    (void)lock_device(context, info, IfTaken::refuse);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_THAT(error.what(), AllOf(HasSubstr(fmt::format("process {}", holder.pid())),
                                    HasSubstr("Next: "), HasSubstr("--no-wait")));
  }
}

TEST(DeviceLocks, CtrlCEndsTheWait) {
  const Context context;
  const DeviceInfo info = own_device();
  const Holder holder(info.uuid);
  const StopSignal signals;
  ::testing::internal::CaptureStderr();
  ::raise(SIGINT);
  EXPECT_FALSE(lock_device(context, info, IfTaken::wait).holds());
  (void)::testing::internal::GetCapturedStderr();
}

TEST(DeviceLocks, PredictionsNeedNone) {
  const Context context;
  DeviceInfo info = own_device();
  info.provenance = Provenance::modelled;
  const Holder holder(info.uuid);
  EXPECT_FALSE(lock_device(context, info, IfTaken::refuse).holds());
}

TEST(DeviceLocks, ABusyDeviceIsPointedOut) {
  const DeviceInfo info = own_device();
  EXPECT_EQ(busy_text(info, {}), "");
  EXPECT_EQ(busy_text(info, {5, 1}), "") << "a desktop's windows";
  EXPECT_THAT(busy_text(info, {87, 0}),
              AllOf(HasSubstr("cuda:0"), HasSubstr("87 %"), HasSubstr("Next: "),
                    HasSubstr("`kiln tune` also needs --again")));
  EXPECT_THAT(busy_text(info, {100, 1}), HasSubstr(": 1 other process kept the GPU busy"));
  EXPECT_THAT(busy_text(info, {100, 2}), HasSubstr(": 2 other processes kept the GPU busy"));
}

}  // namespace
}  // namespace kiln::tools
