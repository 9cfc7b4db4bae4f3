// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace kiln::detail {

/// The levels of KILN_LOG, quietest first. Without one the first warning of each kind is printed.
inline constexpr std::array<std::string_view, 3> kLogLevels{"none", "warning", "info"};

/// What a warning is about. An application that asked for no warnings is shown one of each.
enum class WarningKind : std::uint8_t {
  setting,      ///< an option or a variable that means nothing
  database,     ///< a tuning database that cannot be used, or is not there
  rows,         ///< damaged rows of one
  unavailable,  ///< a better kernel, whose template is not there
  untuned,      ///< a problem that was never tuned
  candidate,    ///< a kernel that cannot be used, so that the next best is, or was found wrong
  cubin_store,
  compiler,
  tuning,  ///< that the tuner is at work, or that it failed
};

/// The kinds of which a warning has been printed without being asked for. Thread-safe.
class PrintedKinds {
 public:
  /// Of all libraries of the process.
  [[nodiscard]] static PrintedKinds& of_process();
  /// Whether it is the first call for that kind.
  [[nodiscard]] bool is_first(WarningKind kind) noexcept;

 private:
  std::atomic<std::uint32_t> seen_{0};
};

/// Where a library's diagnostics go: to the application's function, else to stderr as KILN_LOG
/// says. They are made printable by printable(), since they quote files. Thread-safe: the
/// application's function is called by one thread at a time.
class WarningSink {
 public:
  using Receiver = std::function<void(std::string_view)>;
  /// `level` is the value of KILN_LOG: one of kLogLevels; anything else, which is a warning of its
  /// own unless empty, prints the first warning of each kind that `printed` has not seen.
  WarningSink(Receiver receiver, std::string_view level,
              PrintedKinds& printed = PrintedKinds::of_process());

  /// Once per cause; `cause` identifies repetitions, `text` is what the reader sees.
  void warn(WarningKind kind, const std::string& cause, const std::string& text);
  /// Warnings of that kind go nowhere, as whoever asks says the same itself.
  void mute(WarningKind kind);
  /// Good news, only for stderr.
  void inform(const std::string& text);

 private:
  enum class Level : std::uint8_t { none, first_of_kind, warning, info };
  [[nodiscard]] static Level level_of(std::string_view text);

  Receiver receiver_;
  Level level_;
  PrintedKinds& printed_;
  std::mutex mutex_;
  std::set<std::string> causes_;
  std::set<WarningKind> muted_;
};

}  // namespace kiln::detail
