// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// An application with handlers of its own for the signals that end programs. Prints "ready" when
/// they are in place, gets a kernel from libkiln, and waits for the one signal that it is sent.
/// usage: signal_application DATABASE CUBIN_STORE
/// Exit codes: 0 the handler ran once and there is a kernel, 1 no kernel, 3 the handler did not
/// run, 4 (which is NVRTC's) never.

#include <signal.h>
#include <unistd.h>
#include <kiln/kiln.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace {

std::atomic<int> handled{0};
std::atomic<pid_t> sender{0};

void on_signal(int, siginfo_t* info, void*) {
  sender = info->si_pid;
  ++handled;
}

bool wait_for_signal() {
  for (int i = 0; i < 3000 && handled == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return handled == 1 && sender == getppid();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int number : std::array{SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
  // A signal goes to any thread that does not block it: one that compiles, or one like this.
  std::jthread other([](const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  if (write(STDOUT_FILENO, "ready\n", 6) != 6) return 2;
  try {
    kiln::LibraryOptions options;
    options.database = argv[1];
    options.cubin_store = argv[2];
    options.device = "emulated:h200";
    const kiln::Library library = kiln::Library::open(options);
    const kiln::Kernel kernel = library.get(kiln::Gemm::of(kiln::DType::f16, 96, 96, 64));
    if (kernel.config().empty() || library.counters().compiles == 0) return 1;
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
  return wait_for_signal() ? 0 : 3;
}
