// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// A worker process whose device is the fake one with planted kernels. Its argument requests a start
// that fails: "no-device", "dies-at-start", "mute" or "babbles".
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "kiln/error.hpp"
#include "tests/unit/tuner/planted_kernels.hpp"
#include "tests/unit/tuner/planted_operations.hpp"
#include "tuner/evaluator.hpp"

int main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "";
  if (how == "dies-at-start") {
    std::fputs("no such luck\n", stderr);
    return 9;
  }
  if (how == "babbles") {
    std::puts("this is not a frame of the protocol, but it is longer than the header of one");
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
  return kiln::worker_main(STDIN_FILENO, STDOUT_FILENO, [&]() -> std::unique_ptr<kiln::Device> {
    if (how == "no-device") {
      throw kiln::Error(kiln::ErrorKind::device, "there is no device here; plug one in");
    }
    auto device = kiln::testing::make_planted_device();
    kiln::testing::register_planted_operations(*device);
    return device;
  });
}
