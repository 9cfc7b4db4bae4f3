// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/nvrtc_surroundings.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "runtime/process/import_table.hpp"

namespace kiln {
namespace {

using Handler = void (*)(int);

thread_local const char* temporary_folder = nullptr;

/// In place of sigaction(): reports, and changes nothing.
int keep_action(int number, const struct sigaction*, struct sigaction* current) {
  return current == nullptr ? 0 : ::sigaction(number, nullptr, current);
}

/// In place of signal().
Handler keep_handler(int number, Handler) {
  struct sigaction current {};
  if (::sigaction(number, nullptr, &current) != 0) return SIG_ERR;
  return (current.sa_flags & SA_SIGINFO) != 0 ? SIG_DFL : current.sa_handler;
}

/// In place of getenv().
char* setting(const char* name) {
  if (temporary_folder != nullptr && std::strcmp(name, "TMPDIR") == 0) {
    return const_cast<char*>(temporary_folder);
  }
  return std::getenv(name);
}

}  // namespace

std::string shield_process_from_nvrtc(void* handle, bool& sets_signals) {
  const std::array redirections{Redirection{"signal", reinterpret_cast<void*>(&keep_handler)},
                                Redirection{"sigaction", reinterpret_cast<void*>(&keep_action)},
                                Redirection{"getenv", reinterpret_cast<void*>(&setting)}};
  std::vector<std::string> found;
  std::string why = redirect_imports(handle, redirections, &found);
  sets_signals = std::ranges::any_of(
      found, [](const std::string& name) { return name == "signal" || name == "sigaction"; });
  return why;
}

/// The actions of the signals that are watched.
struct SignalWatch::Actions {
  struct Watched {
    int number;
    const char* name;
  };
  static constexpr std::array<Watched, 3> kWatched{
      {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGXFSZ, "SIGXFSZ"}}};

  std::array<struct sigaction, kWatched.size()> actions{};

  Actions() {
    for (std::size_t i = 0; i < kWatched.size(); ++i) {
      static_cast<void>(::sigaction(kWatched[i].number, nullptr, &actions[i]));
    }
  }
  [[nodiscard]] bool is_other(std::size_t i, const Actions& than) const {
    // The handler is in one union with that of signals with information.
    return actions[i].sa_handler != than.actions[i].sa_handler ||
           actions[i].sa_flags != than.actions[i].sa_flags;
  }
};

/// Looks again and again, in a thread of its own.
class SignalWatch::Watcher {
 public:
  explicit Watcher(const Actions& before)
      : before_(before), thread_([this](const std::stop_token& stop) { watch(stop); }) {}
  /// Which of the actions was another one.
  std::array<bool, Actions::kWatched.size()> end() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    return changed_;
  }

 private:
  void watch(const std::stop_token& stop) {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);  // the application's threads get its signals
    while (!stop.stop_requested()) {
      const Actions now;
      for (std::size_t i = 0; i < changed_.size(); ++i) {
        changed_[i] = changed_[i] || now.is_other(i, before_);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  const Actions& before_;
  std::array<bool, Actions::kWatched.size()> changed_{};
  std::jthread thread_;
};

SignalWatch::SignalWatch(bool closely) : before_(std::make_unique<Actions>()) {
  if (closely) watcher_ = std::make_unique<Watcher>(*before_);
}

SignalWatch::~SignalWatch() = default;

std::string SignalWatch::changed() {
  std::array<bool, Actions::kWatched.size()> meanwhile{};
  if (watcher_) meanwhile = watcher_->end();
  const Actions now;
  std::string names;
  for (std::size_t i = 0; i < meanwhile.size(); ++i) {
    if (!meanwhile[i] && !now.is_other(i, *before_)) continue;
    names += (names.empty() ? "" : ", ") + std::string(Actions::kWatched[i].name);
  }
  return names;
}

NvrtcTemporaries::NvrtcTemporaries(const char* folder) {
  temporary_folder = folder;
}

NvrtcTemporaries::~NvrtcTemporaries() {
  temporary_folder = nullptr;
}

}  // namespace kiln
