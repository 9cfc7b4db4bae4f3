// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/stop_signal.hpp"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <ctime>

#include "tools/command_line/exit_code.hpp"

namespace kiln::tools {
namespace {

std::atomic<bool> stop_requested{false};
std::atomic<std::int64_t> first_signal_ms{0};
static_assert(std::atomic<bool>::is_always_lock_free &&
                  std::atomic<std::int64_t>::is_always_lock_free,
              "a signal handler may use only lock-free atomic variables");
/// `timeout` sends its signal to the process and then to its group: the same request, twice.
constexpr std::int64_t kSameRequestMs = 100;

std::int64_t now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // one of the functions that signal handlers may call
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, kSignals.size()> previous_actions;

void on_signal(int) {
  const std::int64_t now = now_ms();
  std::int64_t first = 0;
  if (first_signal_ms.compare_exchange_strong(first, now)) {
    stop_requested = true;
  } else if (now - first > kSameRequestMs) {
    _exit(kExitInterrupted);
  }
}

}  // namespace

StopSignal::StopSignal() {
  stop_requested = false;
  first_signal_ms = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  // Reads from the worker process must go on: the candidate in flight is finished, not lost.
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &previous_actions[i]);
    // `nohup` means that a run goes on when its terminal is closed.
    if (kSignals[i] == SIGHUP && previous_actions[i].sa_handler == SIG_IGN) continue;
    sigaction(kSignals[i], &action, nullptr);
  }
}

StopSignal::~StopSignal() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &previous_actions[i], nullptr);
  }
  stop_requested = false;
}

const std::atomic<bool>& StopSignal::requested() {
  return stop_requested;
}

}  // namespace kiln::tools
